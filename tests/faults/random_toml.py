"""Assembly files at random: from the grammar, and mutated ones. `python tests/faults/random_toml.py 20000 [SEED]`.

Each file is read and, where it can be, made into a System; anything but an MbfmuError, or more than 5 s, is a finding.
"""

from __future__ import annotations

import json
import pathlib
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter

from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.modeling import RealInput, required
from mbfmu.modeling.assembly_file import load_assembly
from mbfmu.modeling.registry import component_classes

#: Longest time of the processor for one file, s.
PATIENCE = 5.0
ODD = ["0", "-1", "1e400", "nan", "inf", "true", "[]", "{}", "''", "'x'", "[1, 2, 3]", "[[0, 1], [1, 2]]", "1979-05-27",
       "07:32:00", "9" * 400, "9223372036854775808", "{start = 1, fixed = true}", "{fixed = 'false'}", "{start = nan}",
       "[true, false]", '"\\u0001"', "1e-320", "[1, [2, 3]]", "{a = {b = {c = 1}}}"]  # fmt: skip
KEYS = ["name", "class", "dim", "parameters", "a", "b", "variable", "start", "stop", "tolerance", "assembly", "world"]
PIECES = [*"[]{}=\"'\n.,#", "[[", "]]", "[[connect]]\n", "[[input]]\n", "= ", "'''", "\0", "\x7f", "ß", "\ud7ff"]


def from_grammar(chance: random.Random) -> str:
    """Return a file with components, connections and interface, most of it right."""
    classes = component_classes()
    lines = ["[world]"] if chance.random() < 0.8 else []
    places, signals = ["world.frame_b"], []
    for i in range(chance.randint(1, 4)):
        full, cls = chance.choice(sorted(classes.items()))
        name = chance.choice([f"c{i}"] * 40 + [f"c{i}.d", "c0", "a b", f"c{i}[1]"])
        lines += ["[[component]]", f"name = {json.dumps(name)}", f'class = "{full}"']
        if chance.random() < 0.15:
            lines.append(f"dim = {chance.choice(['[2]', '[3]', '[0]', '[1e9]', '2', '[100000]'])}")
        lines.append("[component.parameters]")
        declared = [*cls.declarations]
        for key, declaration in cls.declarations.items():
            if getattr(declaration, "default", None) is required:
                lines.append(f"{key} = 1.5")
        declared = [key for key in declared if getattr(cls.declarations[key], "default", None) is not required]
        for key in dict.fromkeys(chance.sample(declared, min(len(declared), chance.randint(0, 4)))):
            value = chance.choice(ODD) if chance.random() < 0.2 else repr(round(chance.uniform(-1, 5), 3))
            lines.append(f"{key} = {value}")
        places += [f"{name}.{key}" for key in cls.declarations]
        signals += [f"{name}.{key}" for key, d in cls.declarations.items() if isinstance(d, RealInput)]
    for signal in signals if chance.random() < 0.9 else []:
        lines += ["[[input]]", f"variable = {json.dumps(signal)}"]
    for _ in range(chance.choice([0, 0, 0, 1, 2, 4])):
        a, b = chance.choice(places), chance.choice(places)
        lines += ["[[connect]]", f"a = {json.dumps(a)}", f"b = {json.dumps(b)}"]
    for _ in range(chance.randint(0, 2)):
        lines += [chance.choice(["[[input]]", "[[output]]"]), f"variable = {json.dumps(chance.choice(places))}"]
        if chance.random() < 0.5:
            lines.append(f"name = {json.dumps(chance.choice(['o', 'time', 'a b', *places]))}")
    if chance.random() < 0.3:
        lines += ["[experiment]", f"{chance.choice(['start', 'stop', 'tolerance', 'solver'])} = {chance.choice(ODD)}"]
    return "\n".join(lines) + "\n"


_JOINTS = ("Revolute", "Prismatic", "Spherical", "Universal", "Planar", "Cylindrical", "FreeMotion")
_SOURCES = ("Constant\nk", "Sine\nf", "Ramp\nduration", "Step\nstartTime", "Pulse\nperiod", "SawTooth\nperiod")
_BLOCKS = (
    *(f"Math.{name}" for name in ("Gain\nk", "Abs", "Sin", "Tanh", "Sign", "Exp")),
    *(f"Continuous.{name}" for name in ("FirstOrder\nT", "Integrator\nk", "Derivative\nT", "PI\nT", "Der")),
    *(f"Nonlinear.{name}" for name in ("Limiter\nuMax", "DeadZone\nuMax")),
)


def _component(name: str, cls: str, **parameters: object) -> list[str]:
    """Lines of one component; what stands behind a line break of the class is a parameter."""
    cls, _, key = cls.partition("\n")
    given = parameters | ({key: 1.5} if key else {})
    values = ", ".join(f"{k} = {json.dumps(v)}" for k, v in given.items())
    return ["[[component]]", f"name = '{name}'", f"class = '{cls}'", f"parameters = {{{values}}}"]


def _connected(*pairs: tuple[str, str]) -> list[str]:
    return [line for a, b in pairs for line in ("[[connect]]", f"a = '{a}'", f"b = '{b}'")]


def from_patterns(chance: random.Random) -> str:
    """Return a file that is nearly right: a tree of joints and bodies, a shaft, or a chain of signals."""
    lines, count = ["[world]"], chance.randint(1, 3)
    kind = chance.choice(["tree", "shaft", "signals"])
    if kind == "tree":
        for i in range(count):
            joint = f"MultiBody.Joints.{chance.choice(_JOINTS)}"
            vector = [round(chance.uniform(-1, 1), 2) for _ in range(3)]
            lines += _component(f"j{i}", joint)
            lines += _component(f"b{i}", "MultiBody.Parts.BodyShape", r=vector, r_CM=vector, m=1.5, I_11=0.1, I_22=0.2)
            at = chance.choice(["world.frame_b", *(f"b{k}.frame_b" for k in range(i))])
            lines += _connected((at, f"j{i}.frame_a"), (f"j{i}.frame_b", f"b{i}.frame_a"))
            lines += ["[[output]]", f"variable = 'b{i}.r_0'"] if chance.random() < 0.5 else []
    elif kind == "shaft":
        lines += _component("s", f"Blocks.Sources.{chance.choice(_SOURCES)}")
        drive = chance.choice(["Torque", "Position", "Speed"])
        references = {"Torque": "tau", "Position": "phi_ref", "Speed": "w_ref"}
        lines += _component("drive", f"Rotational.Sources.{drive}")
        lines += _connected(("s.y", f"drive.{references[drive]}"))
        end = "drive.flange"
        for i in range(count):
            link = chance.choice(["SpringDamper", "IdealGear", "BearingFriction", "Clutch", "Damper", "ElastoBacklash"])
            given: dict[str, dict[str, object]] = {"SpringDamper": {"c": 10.0, "d": 0.5}, "Damper": {"d": 1.0}}
            given |= {"IdealGear": {"ratio": 2.0}, "Clutch": {"fn_max": 20.0}}
            given["ElastoBacklash"] = {"c": 100.0, "d": 1.0, "b": 0.1}
            lines += _component(f"i{i}", "Rotational.Components.Inertia", J=chance.choice([0.0, 1.0, 1.0, 1.0, 1.0]))
            lines += _connected((end, f"i{i}.flange_a"))
            end = f"i{i}.flange_b"
            if i + 1 < count:
                lines += _component(f"l{i}", f"Rotational.Components.{link}", **given.get(link, {}))
                lines += _connected((end, f"l{i}.flange_a"))
                end = f"l{i}.flange_b"
                lines += ["[[input]]", f"variable = 'l{i}.f_normalized'"] if link == "Clutch" else []
    else:
        lines += _component("s", f"Blocks.Sources.{chance.choice(_SOURCES)}")
        end = "s.y"
        for i in range(count):
            lines += _component(f"k{i}", f"Blocks.{chance.choice(_BLOCKS)}")
            lines += _connected((end, f"k{i}.u"))
            end = f"k{i}.y"
        lines += ["[[output]]", f"variable = '{end}'"]
    if chance.random() < 0.3:  # one line is doubled, or lost
        at = chance.randrange(len(lines))
        lines[at : at + 1] = chance.choice([[], [lines[at]] * 2])
    if chance.random() < 0.3:  # one value is another one
        at = chance.randrange(len(lines))
        odd = f"= {chance.choice(ODD)}"
        lines[at] = re.sub(r"= (?=[^']*$)[^,}]*", lambda found: odd, lines[at], count=1)
    return "\n".join(lines) + "\n"


def mutated(text: str, chance: random.Random) -> str:
    """Return a text with a few changes: pieces put in, cut, doubled and moved."""
    for _ in range(chance.randint(1, 6)):
        a, b = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + 30)
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:a] + chance.choice(PIECES) + text[a:]
        elif kind == 1:
            text = text[:a] + text[b:]
        elif kind == 2:
            text = text[:b] + text[a:b] * chance.choice([1, 2, 500]) + text[b:]
        elif kind == 3:
            text = text[:a] + chance.choice(ODD) + text[b:]
        else:
            text = text[:a] + f"\n{chance.choice(KEYS)} = {chance.choice(ODD)}\n" + text[a:]
    return text


def one(seed: int, file: pathlib.Path) -> tuple[str, str]:
    """Try the file of a number; return `refused`, `accepted` or `finding`, and what was found."""
    chance = random.Random(seed)
    text = from_patterns(chance) if seed % 4 == 0 else from_grammar(chance)
    if seed % 2:
        text = mutated(text, chance)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            System.of(load_assembly(file))
        outcome, found = "accepted", ""
    except MbfmuError as error:
        outcome, found = "refused", str(error)
        if not found.strip():
            return "finding", "an error without a message"
    except Exception:
        return "finding", traceback.format_exc()
    took = time.process_time() - started
    return ("finding", f"took {took:.1f} s") if took > PATIENCE else (outcome, found)


def main(count: int, first: int = 0) -> int:
    """Try `count` files; print counts and findings."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            outcome, found = one(seed, pathlib.Path(folder) / "model.toml")
            counts[outcome] += 1
            if outcome == "finding":
                print(f"-- {seed}: {found.strip().splitlines()[-1]}\n   {found.strip().splitlines()[-3:-1]}")
    print(dict(counts))
    return counts["finding"]


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
