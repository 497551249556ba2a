"""Every call of one run, right and wrong ones, in every phase of an instance, and what is answered to them.

It imports the standard library and its neighbour only, so that it also runs in a bare Python on any system:
`python calls.py FOLDER` prints all answers, log lines, values and states of the FMU unpacked there as JSON.
"""

from __future__ import annotations

import ctypes
import json
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from importer import ERROR, OK, Importer, Unit

REAL, INTEGER, STRING = ctypes.c_double, ctypes.c_int, ctypes.c_char_p

#: What is done, and the call; both targets must answer alike, values and log lines included.
ALL_PHASES: list[tuple[str, Callable[[Unit], Any]]] = [
    ("get of an output", lambda u: u.get_references("Real", [u.importer.variables["flange.s"][1]])),
    ("get of an acceleration", lambda u: u.get_references("Real", [u.importer.variables["mass.a"][1]])),
    ("get of all reals", lambda u: u.get_references("Real", range(8))),
    ("get of integers", lambda u: u.get_references("Integer", [0, 1])),
    ("get of a boolean", lambda u: u.get_references("Boolean", [0])),
    ("get of a string", lambda u: u.get_references("String", [0])),
    ("get of nothing", lambda u: u.get_references("Real", [])),
    ("get of an unknown real", lambda u: u.get_references("Real", [1, 4711])),
    ("get of a huge reference", lambda u: u.get_references("Real", [2**32 - 1, 1])),
    ("get of an unknown integer", lambda u: u.get_references("Integer", [0, 99])),
    ("get of an unknown boolean", lambda u: u.get_references("Boolean", [99])),
    ("get of an unknown string", lambda u: u.get_references("String", [0, 99])),
    *[
        (f"{verb} of {kind}s, {what}", lambda u, f=verb + kind, a=arrays: u.call(f, a[0], ctypes.c_size_t(1), a[1]))
        for verb in ("Get", "Set")
        for kind, item in (("Real", REAL), ("Integer", INTEGER), ("Boolean", INTEGER), ("String", STRING))
        for what, arrays in (
            ("no references", (None, (item * 1)())),
            ("no values", ((ctypes.c_uint * 1)(), None)),
            ("neither", (None, None)),
        )
    ],
    ("set of an input", lambda u: u.set("flange.f", 0.25)),
    ("set of a parameter", lambda u: u.set("mass.m", 2.5)),
    ("set of a parameter to what it may not be", lambda u: u.set("mass.m", -1.0)),
    ("set of a parameter to infinity", lambda u: u.set("mass.m", float("inf"))),
    ("set of an input to no number", lambda u: u.set("flange.f", float("nan"))),
    ("set of an output", lambda u: u.set("energy", 1.0)),
    (
        "set of two, one refused",
        lambda u: u.set_references("Real", [u.importer.variables["flange.f"][1], 4711], [9, 1]),
    ),
    ("get of that input", lambda u: u.get_references("Real", [u.importer.variables["flange.f"][1]])),
    ("set of a structural integer", lambda u: u.set("mass.n[1]", 2)),
    ("set of a structural boolean", lambda u: u.set("mass.animation", 0)),
    ("set of a structural string", lambda u: u.set("mass.label", b"b")),
    ("set of a string to NULL", lambda u: u.set("mass.label", None)),
    ("set of a string that is not UTF-8", lambda u: u.set("mass.label", b"\xff\xc0\x80")),
    ("set of an unknown string", lambda u: u.set_references("String", [99], [b"x"])),
    ("log of unknown category", lambda u: u.call("SetDebugLogging", 1, ctypes.c_size_t(1), (STRING * 1)(b"nothing"))),
    ("log of category NULL", lambda u: u.call("SetDebugLogging", 1, ctypes.c_size_t(1), (STRING * 1)(None))),
    ("log of no array", lambda u: u.call("SetDebugLogging", 1, ctypes.c_size_t(1), None)),
    ("step of no length", lambda u: u.step(0.0, 0.0)),
    ("step of no number", lambda u: u.step(0.0, float("nan"))),
    ("step from elsewhere", lambda u: u.step(7.0, 0.1)),
    ("no place for a state", lambda u: u.call("GetFMUstate", None)),
    ("set of no state", lambda u: u.call("SetFMUstate", None)),
    ("free of no state", lambda u: u.call("FreeFMUstate", None)),
    ("free of state NULL", lambda u: u.call("FreeFMUstate", ctypes.byref(ctypes.c_void_p()))),
    ("size of no state", lambda u: u.call("SerializedFMUstateSize", None, ctypes.byref(ctypes.c_size_t()))),
    ("serialize no state", lambda u: u.call("SerializeFMUstate", None, (ctypes.c_char * 9)(), ctypes.c_size_t(9))),
    ("deserialize nothing", lambda u: u.call("DeSerializeFMUstate", None, ctypes.c_size_t(0), None)),
    ("deserialize short", lambda u: u.deserialize(b"short")[0]),
    ("deserialize foreign", lambda u: u.deserialize(b"\x00\xff nothing" * 500)[0]),
    ("cancel", lambda u: u.call("CancelStep")),
    *[
        (f"{name} of kind {kind}", lambda u, n=name, k=kind, i=item: u.call(n, k, ctypes.byref(i())))
        for name, item in (
            ("GetStatus", INTEGER),
            ("GetRealStatus", REAL),
            ("GetIntegerStatus", INTEGER),
            ("GetBooleanStatus", INTEGER),
            ("GetStringStatus", STRING),
        )
        for kind in range(4)
    ],
]

CHANGES: list[tuple[str, Callable[[Unit], Any]]] = [
    ("exit too early", lambda u: u.call("ExitInitializationMode")),
    ("terminate too early", lambda u: u.call("Terminate")),
    ("set up with a wrong tolerance", lambda u: u.call("SetupExperiment", 1, -1.0, 0.0, 0, 0.0)),
    ("set up with a stop in the past", lambda u: u.call("SetupExperiment", 1, 1e-8, 1.0, 1, 0.0)),
    ("set up with no number", lambda u: u.call("SetupExperiment", 1, float("nan"), float("nan"), 1, float("nan"))),
    ("set up", lambda u: u.call("SetupExperiment", 1, 1e-8, 0.0, 1, 3.0)),
    ("set of the start", lambda u: u.set("mass.s", 0.2)),
    ("initialization", lambda u: u.call("EnterInitializationMode")),
    ("again", lambda u: u.call("EnterInitializationMode")),
    ("set up too late", lambda u: u.call("SetupExperiment", 0, 0.0, 0.0, 0, 0.0)),
    ("initialised", lambda u: u.call("ExitInitializationMode")),
    ("again", lambda u: u.call("ExitInitializationMode")),
    ("step", lambda u: u.step(0.0, 0.5)),
    ("step", lambda u: u.step(0.5, 0.5)),
    ("step beyond the stop time", lambda u: u.step(1.0, 5.0)),
    ("terminate", lambda u: u.call("Terminate")),
    ("terminate again", lambda u: u.call("Terminate")),
    ("reset", lambda u: u.call("Reset")),
    ("initialization", lambda u: u.call("EnterInitializationMode")),
    ("impossible mass", lambda u: (u.set("mass.m", 0.0), u.set("spring.c", 0.0))),
    ("initialise", lambda u: u.call("ExitInitializationMode")),
    ("possible mass", lambda u: (u.set("mass.m", 1.0), u.set("spring.c", 1.0))),
    ("initialise", lambda u: u.call("ExitInitializationMode")),
    ("a force that tears the spring", lambda u: u.set("flange.f", 1e3)),
    ("step that is discarded", lambda u: u.step(0.0, 1.0)),
    ("step after that", lambda u: u.step(0.0, 1.0)),
    ("last successful time", lambda u: (lambda t: (u.call("GetRealStatus", 2, ctypes.byref(t)), t.value))(REAL())),
    ("reset", lambda u: u.call("Reset")),
]


def answers(importer: Importer, logging: bool) -> Iterator[tuple[str, Any, list[Any]]]:
    """What each call of the table gives, in each phase of an instance, with its log lines."""
    importer.lines.clear()
    unit = importer.instantiate(b"one", logging=logging)
    assert unit is not None, importer.lines
    for step, change in [("nothing", lambda u: None), *CHANGES]:
        for name, call in [(step, change), *ALL_PHASES]:
            importer.lines.clear()
            answer = call(unit)
            yield f"after {step}: {name}", answer, list(importer.lines)
    unit.free()
    assert importer.blocks == 0


#: Arguments of fmi2Instantiate that are wrong, but for a name that is only unusual.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "no name": {"name": None},
    "an empty name": {"name": b""},
    "a name that is not UTF-8": {"name": b"caf\xe9"},
    "no GUID": {"guid": None},
    "another GUID": {"guid": b"{another}"},
    "no resources": {"resources": None},
    "empty resources": {"resources": b""},
    "no callbacks": {"callbacks": None},
    "an unknown type": {"kind": 2},
}


def wrong_arguments(importer: Importer) -> dict[str, Any]:
    """What is logged where no instance is made."""
    found: dict[str, Any] = {}
    for what, arguments in ARGUMENTS.items():
        importer.lines.clear()
        unit = importer.instantiate(**arguments)
        found[what] = [unit is not None, list(importer.lines)]
        if unit is not None:
            unit.free()
    return found


def motion(importer: Importer) -> list[float]:
    """Position, speed and acceleration over a second, with an input that changes."""
    unit = importer.instantiate()
    assert unit is not None, importer.lines
    unit.start()
    values = []
    for i in range(100):
        unit.set("flange.f", 0.01 * i)
        assert unit.step(i / 100, 0.01) == OK, importer.lines
        values += [unit.get(name) for name in ("flange.s", "mass.v", "mass.a")]
    unit.free()
    return values


def flipped_bits(importer: Importer) -> dict[str, int]:
    """How many of the states with one wrong bit are refused, and whether the right one brings the motion back."""
    unit = importer.instantiate()
    assert unit is not None, importer.lines
    unit.start()
    unit.step(0.0, 0.3)
    saved = unit.save()
    data = bytearray(unit.serialize(saved))
    unit.call("FreeFMUstate", ctypes.byref(saved))
    unit.step(0.3, 0.2)
    end = unit.get("flange.s")
    refused = 0
    for i in range(8 * len(data)):
        data[i // 8] ^= 1 << i % 8
        status, state = unit.deserialize(bytes(data))
        refused += status == ERROR and state.value is None
        data[i // 8] ^= 1 << i % 8
    status, state = unit.deserialize(bytes(data))
    assert status == OK
    assert unit.call("SetFMUstate", state) == OK
    assert unit.step(0.3, 0.2) == OK
    back = unit.get("flange.s") == end
    unit.call("FreeFMUstate", ctypes.byref(state))
    unit.free()
    return {"bits": 8 * len(data), "refused": refused, "back": int(back)}


def main() -> None:
    """Print everything as JSON."""
    importer = Importer(pathlib.Path(sys.argv[1]))
    found = {
        "platform": sys.platform,
        "arguments": wrong_arguments(importer),
        "motion": motion(importer),
        "answers": list(answers(importer, True)),
        "states": flipped_bits(importer),
        "blocks": importer.blocks,
    }
    print(json.dumps(found, default=lambda value: value.decode("latin-1")))


if __name__ == "__main__":
    main()
