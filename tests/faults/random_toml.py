"""Assembly files at random: from the grammar, and mutated ones. `python tests/faults/random_toml.py 20000 [SEED]`.

Each file is read and, where it can be, made into a System; anything but an MbfmuError, or more than 5 s, is a finding.
"""

from __future__ import annotations

import json
import pathlib
import random
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

#: Longest time for one file, s.
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
    text = from_grammar(chance)
    if seed % 2:
        text = mutated(text, chance)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    started = time.monotonic()
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
    took = time.monotonic() - started
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
