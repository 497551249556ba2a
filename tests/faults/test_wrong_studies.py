"""Wrong arguments of runs and studies, wrong tables of inputs and data: each is refused with name and remedy."""

from __future__ import annotations

import math
import pathlib
import re
import sys
from typing import Any

import numpy as np
import pytest
from refusals import MODEL, P, Refused

import mbfmu
from mbfmu import Start, System
from mbfmu.errors import MbfmuError
from mbfmu.sources import apply_setting


@pytest.fixture(scope="module")
def system() -> System:
    return System.of(P())


DATA = {"time": [0.0, 0.1, 0.2, 0.3], "j.phi": [0.1, 0.05, -0.1, -0.4]}

#: A study and its arguments behind the assembly -> words of the message.
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any], list[str]]] = [
    # times, steps, tolerances
    ("simulate", ("3",), {}, ["stop_time = '3'", "a finite number"]),
    ("simulate", (np.array([1.0]),), {}, ["stop_time = array", "a finite number"]),
    ("simulate", (True,), {}, ["stop_time = True"]),
    ("simulate", (), {"start_time": [0]}, ["start_time = [0]"]),
    ("simulate", (), {"interval": "a"}, ["interval = 'a'"]),
    ("simulate", (), {"tolerance": "x"}, ["tolerance = 'x'"]),
    ("simulate", (), {"tolerance": [1e-6]}, ["tolerance = [1e-06]"]),
    ("simulate", (), {"tolerance": 2.0}, ["tolerance 2", "between 0 and 1"]),
    ("simulate", (), {"interpolation": "cubic"}, ["cubic", "linear, held"]),
    ("simulate", (), {"tolerance": 1e-300}, ["tolerance 1e-300", "below 1e-14", "1e-10"]),
    ("linearize", (), {"at": 0.1, "tolerance": 1e-15}, ["tolerance 1e-15", "below 1e-14"]),
    ("simulate", (), {"progress": 3}, ["progress = 3", "a function"]),
    ("build", ("x.fmu",), {"progress": 3}, ["progress = 3", "a function"]),
    ("animate", ("x.html",), {"progress": "print"}, ["progress = 'print'", "a function"]),
    ("animate", ("x.html",), {"live": 1}, ["live = 1", "True or False"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"progress": 3}, ["progress = 3", "a function"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"each": "yes"}, ["each = 'yes'", "True or False"]),
    ("sweep", ({"b.m": "1_000,2"}, ["j.phi:max"]), {}, ["b.m=1_000,2", "write values as"]),
    ("sweep", ({"b.m": "uniform:\u0661:2"}, ["j.phi:max"]), {"samples": 2}, ["write values as"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"path": "none/x.zarr"}, ["none/x.zarr", "none does not exist"]),
    ("equilibrium", (), {"stable": "yes"}, ["stable = 'yes'", "True or False"]),
    # start values
    ("simulate", (), {"start_values": "b.m=1"}, ["start_values = 'b.m=1'", "a mapping"]),
    ("simulate", (), {"start_values": [("b.m", 1)]}, ["start_values", "a mapping"]),
    ("simulate", (), {"start_values": {3: 1.0}}, ["3 is no name"]),
    ("simulate", (), {"start_values": {"b.m": "2"}}, ["'b.m' cannot be set to '2'", "a number"]),
    ("simulate", (), {"start_values": {"b.m": True}}, ["'b.m' cannot be set to True"]),
    ("simulate", (), {"start_values": {"b.m": 10**400}}, ["'b.m' cannot be set", "a number"]),
    ("simulate", (), {"start_values": {"b.r_CM": [1, 0, 0]}}, ["'b.r_CM' is a vector", "'b.r_CM[1]'"]),
    ("simulate", (), {"start_values": {"drive.phi": 1.0}}, ["'drive.phi' cannot be set", "calculated"]),
    # outputs
    ("simulate", (), {"outputs": "j.phi"}, ["outputs = 'j.phi'", "as ['j.phi']"]),
    ("simulate", (), {"outputs": 5}, ["outputs = 5", "a list of names"]),
    ("simulate", (), {"outputs": [3]}, ["3 is no name"]),
    # inputs
    ("simulate", (), {"inputs": {"u": "x"}}, ["'u'", "no numbers"]),
    ("simulate", (), {"inputs": {"u": 1j}}, ["'u'", "no numbers"]),
    ("simulate", (), {"inputs": {"u": Start(1.0)}}, ["'u'", "no numbers"]),
    ("simulate", (), {"inputs": {"u": ["a", "b"], "time": [0, 1]}}, ["'u'", "no numbers"]),
    ("simulate", (), {"inputs": {"u": [1, 2], "time": ["a", "b"]}}, ["'time'", "no numbers"]),
    ("simulate", (), {"inputs": {"u": [1, 2], "time": [[0, 1]]}}, ["'time'", "list of instants"]),
    ("simulate", (), {"inputs": {"u": [1], "time": 0.0}}, ["'time'", "list of instants"]),
    ("simulate", (), {"inputs": {"u": ([0, 1], ["a", 2])}}, ["'u'", "no numbers"]),
    ("simulate", (), {"inputs": {"u": (["a", 1], [1, 2])}}, ["'u'", "instants", "no numbers"]),
    ("simulate", (), {"inputs": {"u": lambda t: "a"}}, ["'u'", "no numbers"]),
    ("simulate", (), {"inputs": {"u": lambda t: 1 / t}}, ["'u' fails", "ZeroDivisionError"]),
    ("simulate", (), {"inputs": {"u": [1, 2], "time": [0, 1], "time [ms]": [0, 9]}}, ["given twice", "time [ms]"]),
    ("simulate", (), {"inputs": {"u": lambda t: sys.exit(3)}}, ["'u' fails", "ends the program"]),
    ("simulate", (), {"inputs": {"u": np.ma.array([1, 2], mask=[0, 1]), "time": [0, 1]}}, ["'u' has 1 gap", "row 2"]),
    ("simulate", (), {"inputs": {"u": [1, 2], "time": np.ma.array([0, 1], mask=[0, 1])}}, ["'u' has 1 gap"]),
    ("simulate", (), {"inputs": {"u": [1, np.ma.masked], "time": [0, 1]}}, ["'u' has 1 gap"]),
    ("simulate", (), {"inputs": "none.csv"}, ["none.csv", "No such file"]),
    ("simulate", (), {"inputs": {"u": 1.0, "u [N.m]": 2.0}}, ["the input 'u' is given twice"]),
    ("simulate", (), {"inputs": {"u": 1.0}, "start_values": {"u": 2.0}}, ["'u' is among the inputs and the start"]),
    ("simulate", (), {"inputs": {"u": ([0, 1, 2], [1, 2])}}, ["'u' has 2 values at 3 instants"]),
    ("simulate", (), {"inputs": {"a/b[": 1.0}}, ["no input 'a/b['"]),
    (
        "animate",
        ("x.html",),
        {"live": True, "start_values": {"b.m": 1.0}},
        ["x.html", "takes no start values", "set them"],
    ),
    ("animate", ("x.html",), {"live": True, "inputs": {"u": 1.0}}, ["x.html", "takes no inputs over time", "sliders"]),
    ("animate", ("x.glb",), {"live": True}, ["x.glb", "a live animation is a page", "x.html"]),
    # many runs
    ("simulate_many", ({"b.m": [1, 2]},), {}, ["runs", "a list of mappings"]),
    ("simulate_many", (5,), {}, ["runs = 5"]),
    ("simulate_many", ([5],), {}, ["a run = 5", "a mapping"]),
    ("simulate_many", ([{"b.m": "x"}],), {}, ["'b.m'", "no numbers"]),
    ("simulate_many", ([{"b.m": [1, 2]}],), {}, ["elements of a vector"]),
    ("simulate_many", ([{"b.m": 1.0}],), {"threads": 0}, ["threads = 0", "at least 1"]),
    ("simulate_many", ([{"b.m": 1.0}],), {"threads": -1}, ["threads = -1"]),
    ("simulate_many", ([{"b.m": 1.0}],), {"tolerance": 0}, ["tolerance 0"]),
    ("simulate_many", ([{"b.m": 1.0}],), {"outputs": "j.phi"}, ["outputs = 'j.phi'"]),
    ("simulate_many", ([{"b.m": 1.0}, {"j.phi": 1.0}],), {}, ["set the same variables", "the first sets b.m"]),
    # sweeps
    ("sweep", ({"b.m": [1, 2]}, []), {}, ["needs outputs", "revolute1.phi:final"]),
    ("sweep", ({"b.r_CM": [1, 2]}, ["j.phi:max"]), {}, ["'b.r_CM' is a vector", "such as 'b.r_CM[1]'"]),
    ("sweep", ({"b.m": [1, 2]}, ["b.r_0:max"]), {}, ["'b.r_0' is a vector", "such as 'b.r_0[1]'"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.n[3]:max"]), {}, ["'j.n[3]' is a constant, 1.0", "leave it out"]),
    ("sweep", ({"j.n[3]": [1, 2]}, ["j.phi:max"]), {}, ["'j.n[3]' shapes the equations", "give the class"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"start_values": {"j.n[3]": 1}}, ["'j.n[3]' shapes the equations"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"start_values": {"b.m": 1}}, ["'b.m' is given twice"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi"]), {"path": "x.csv"}, ["x.csv: CSV has no room", ".parquet"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"path": "x.txt"}, ["x.txt: sweeps are written as", "x.parquet"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"samples": 3}, ["samples are drawn from distributions", "uniform:"]),
    ("sweep", ({"b.m": []}, ["j.phi:max"]), {}, ["'b.m' has no values"]),
    ("sweep", ({"b.m": [1, 2], "b.I_33": [1]}, ["j.phi:max"]), {"each": True}, ["table of runs differ in length"]),
    ("sweep", ([1], ["j.phi:max"]), {}, ["parameters = [1]", "a mapping"]),
    ("sweep", ({"b.m": ["x"]}, ["j.phi:max"]), {}, ["'b.m'", "no numbers"]),
    ("sweep", ({"b.m": [1, math.nan]}, ["j.phi:max"]), {}, ["'b.m' has the value nan"]),
    ("sweep", ({"b.m": np.ones((2, 2))}, ["j.phi:max"]), {}, ["'b.m'", "shape (2, 2)"]),
    ("sweep", ({"b.m": [1, 2]}, "j.phi:max"), {}, ["outputs = 'j.phi:max'"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max", "j.phi:max"]), {}, ["'j.phi:max' is kept twice"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"sampling": "dice"}, ["dice", "sobol"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"seed": "x"}, ["seed = 'x'"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"threads": 0}, ["threads = 0"]),
    ("sweep", ({"b.m": "uniform:2:1"}, ["j.phi:max"]), {"samples": 4}, ["uniform:2:1", "LEAST:MOST"]),
    ("sweep", ({"b.m": "normal:1:-2"}, ["j.phi:max"]), {"samples": 4}, ["normal:1:-2"]),
    ("sweep", ({"b.m": "triangular:1:5:2"}, ["j.phi:max"]), {"samples": 4}, ["triangular:1:5:2"]),
    ("sweep", ({"b.m": "uniform:1:2"}, ["j.phi:max"]), {"samples": 10**9}, ["samples = 1000000000", "draw fewer"]),
    ("sweep", ({"b.m": "linspace:1:2:0"}, ["j.phi:max"]), {}, ["linspace:1:2:0"]),
    ("sweep", ({"b.m": "linspace:1:2:2.5"}, ["j.phi:max"]), {}, ["linspace:1:2:2.5"]),
    ("sweep", ({"b.m": "linspace:1:2:1e12"}, ["j.phi:max"]), {}, ["more values than memory"]),
    ("sweep", ({"b.m": "logspace:-1:2:3"}, ["j.phi:max"]), {}, ["logspace:-1:2:3"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"scheduler": 3}, ["scheduler = 3", "tcp://host:8786"]),
    ("sweep", ({"b.m": [1, 2]}, ["j.phi:max"]), {"path": 3}, ["path = 3", "a path"]),
    # fits
    ("fit", (DATA, {"b.m": 3}), {}, ["bounds of 'b.m' = 3", "least and the most"]),
    ("fit", (DATA, {"b.m": ("a", "b")}), {}, ["bounds of 'b.m'", "no numbers"]),
    ("fit", (DATA, {"b.m": (math.nan, 1)}), {}, ["bounds of 'b.m'"]),
    ("fit", (DATA, "b.m"), {}, ["parameters = 'b.m'", "as ['b.m']"]),
    ("fit", (DATA, ["b.m"]), {"confidence": 2}, ["confidence = 2", "between 0 and 1"]),
    ("fit", ([], ["b.m"]), {}, ["there are no data"]),
    ("fit", ({"time": [0, 1], "j.phi": ["a", "b"]}, ["b.m"]), {}, ["'j.phi'", "no numbers"]),
    ("fit", ({**DATA, "b.I_33": [1, 1, 1, 1]}, ["b.m"]), {}, ["'b.I_33'", "does not follow from the motion"]),
    ("fit", (DATA, []), {}, ["at least one parameter"]),
    ("fit", ({"time": [0, 1, 2], "j.phi": [0, 1]}, ["b.m"]), {}, ["'j.phi' has 2 values at 3 instants"]),
    ("fit", ({"time": [0, 2, 1], "j.phi": [0, 1, 2]}, ["b.m"]), {}, ["'j.phi' goes back in time", "sort its rows"]),
    ("fit", ({"time": [0, 1], "j.phi [kg]": [0, 1]}, ["b.m"]), {}, ["'j.phi' has the unit rad", "in kg"]),
    ("fit", (DATA, ["b.r_CM"]), {}, ["'b.r_CM' is a vector", "such as 'b.r_CM[1]'"]),
    ("fit", (DATA, ["j.n[3]"]), {}, ["'j.n[3]' shapes the equations", "cannot be fitted"]),
    ("fit", ({"time": [0.0], "j.phi": [0.1]}, ["b.m"]), {}, ["one instant only"]),
    (
        "fit",
        ({**DATA, "u": [0.0] * 4}, ["b.m"]),
        {"inputs": {"u": 1.0}},
        ["inputs are among the data", "give them once"],
    ),
    (
        "fit",
        (DATA, ["b.r_CM[1]"]),
        {"start_values": {"b.m": 0.0, "b.I_33": 0.0}},
        ["no run with the values", "begins: "],
    ),
    # linear models and rests
    ("linearize", (-1.0,), {}, ["the time -1 s lies before the start at 0 s"]),
    ("linearize", (), {"start_values": {"b.r_CM": 1.0}}, ["'b.r_CM' is a vector", "set its elements", "'b.r_CM[1]'"]),
    ("equilibrium", (), {"hold": ["u"]}, ["'u' is not among its coordinates: j.phi"]),
    ("animate_mode", ("x.glb", 3), {}, ["P: this System has no scene", "scene=True"]),
    ("linearize", ("x",), {}, ["at = 'x'", "'start', 'equilibrium'"]),
    ("linearize", ([1],), {}, ["at = [1]"]),
    ("linearize", (), {"inputs": "u"}, ["inputs = 'u'", "as ['u']"]),
    ("linearize", ("equilibrium",), {"drive": {"u": 1.0}}, ["no place at a rest", "start_values"]),
    ("equilibrium", (), {"hold": "j.phi"}, ["hold = 'j.phi'", "as ['j.phi']"]),
    ("equilibrium", (), {"speeds": ["j.w"]}, ["speeds = ['j.w']", "a mapping"]),
    ("equilibrium", (), {"speeds": {"j.w": "x"}}, ["speed 'j.w' = 'x'"]),
    ("equilibrium", (), {"starts": 0}, ["starts = 0"]),
    ("equilibrium", (), {"seed": -1}, ["seed = -1", "at least 0"]),
    ("equilibrium", (), {"seed": "x"}, ["seed = 'x'"]),
    # FMUs
    ("build", (), {"fixed_step": 5.0}, ["fixed step 5 s", "longer than the whole experiment"]),
    ("build", (), {"fixed_step": "1e-3"}, ["fixed step = '1e-3'"]),
    ("build", (), {"variables": [None]}, ["variables: None is no name"]),
    ("simulate", (), {"start_values": {None: 1.0}}, ["None is no name"]),
    ("build", (), {"variables": [3]}, ["variables: 3 is no name"]),
    ("build", (), {"fmi": "3"}, ["FMI '3'", "2, 3"]),
    ("build", (), {"energy": "no"}, ["energy = 'no'", "True or False"]),
    ("build", (), {"sources": "no"}, ["sources = 'no'"]),
    ("animate", (3,), {}, ["path = 3", "a path"]),
    ("build", (3,), {}, ["path = 3", "a path"]),
    ("build", (b"x.fmu",), {}, ["path = b'x.fmu'", "a path"]),
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.filterwarnings("ignore:Warning. converting a masked element:UserWarning")  # NumPy's
def test_a_wrong_argument(number: int, system: System, folder: pathlib.Path) -> None:
    study, arguments, options, words = CALLS[number]
    call = getattr(mbfmu, study)
    with pytest.raises(MbfmuError) as caught:
        list(call(system, *arguments, **options))
    for word in words:
        assert word in str(caught.value)
    assert not list(folder.iterdir())


#: A table of inputs -> words of the message.
TABLES: dict[bytes, list[str]] = {
    b"": ["no input is given"],
    b"time,u\n": ["'u' has no values"],
    b"t,u\n0,1\n": ["no series 'time'"],
    b"time,u\n0,1\n0.5,\n1,2\n": ["1 gap", "time 0.5 s"],
    b"time,u\n0,1\n1,2\n0.5,1\n": ["goes back in time"],
    b"time,u,u\n0,1,2\n": ["two columns have one name"],
    b"time,time [ms],u\n0,0,2\n1,1000,2\n": ["given twice, again as 'time [ms]'"],
    b"time,uu\n0,1\n": ["no input 'uu'", "'u'"],
    b"time,u\n0,a\n": ["line 2", "'a' under 'u'"],
    b"time,u\n0,1_000\n": ["line 2", "'1_000'"],
    "time,u\n0,\u0661\n".encode(): ["line 2", "'\u0661' under 'u'"],
    b'time,u\n0,"1\n': ["i.csv", "a quotation is never closed"],
    b'time,"u\n0,1\n': ["i.csv", "a quotation is never closed"],
    b'time,u\n0,"1"2\n': ["i.csv", "no CSV file"],
    b"time;u\n0,0;1,5\n": ["line 2", "'0,0' under 'time'"],
    b"time,u [rad]\n0,1\n": ["unit N.m", "rad"],
    b"time,u\n0\n": ["line 2", "1 cells, but 2 headers"],
    b"time,u\n0.5,1\n1,2\n": ["begins at 0.5 s"],
    b"time,\xfc\n0,1\n": ["no CSV file in UTF-8"],
    b"time,u\n0,1\0\n": ["line 2"],
    bytes(range(256)): ["no CSV file in UTF-8"],
    b"time,u\n0," + b"1" * 200_000: ["no CSV file"],
}


@pytest.mark.slow
@pytest.mark.parametrize("content", TABLES, ids=range(len(TABLES)))
def test_a_wrong_table_of_inputs(content: bytes, folder: pathlib.Path, refused: Refused) -> None:
    (folder / "p.py").write_text(MODEL)
    (folder / "i.csv").write_bytes(content)
    refused(["simulate", "p.py", "--input", "i.csv"], TABLES[content])


#: Arguments behind `mbfmu` -> words of the message.
COMMANDS: dict[str, list[str]] = {
    "simulate p.py --held": ["--held", "add --input"],
    "simulate p.py -p b.m=1 -p b.m=2": ["-p b.m", "twice"],
    "simulate p.py --csv p.py": ["p.py", "written over"],
    "simulate p.py --csv x.csv --plot x.csv": ["x.csv"],
    "simulate p.py --input d.csv --csv d.csv": ["d.csv", "written over"],
    "convert p.py -o p.py": ["p.py", "written over"],
    "build p.py -p b.m=1 -p b.m=1": ["-p b.m", "twice"],
    "build p.py --fixed-step 5": ["fixed step 5 s", "experiment"],
    "sweep p.py -p b.m=1,2 -p b.m=3 -y j.phi:max": ["-p b.m", "twice"],
    "sweep p.py -p b.m=1,2 -y j.phi:max -y j.phi:max": ["'j.phi:max'", "twice"],
    "sweep p.py -p b.m=linspace:1:2:0 -y j.phi:max -o o.csv": ["linspace:1:2:0"],
    "sweep p.py -p b.m=linspace:1:2:1e7 -p b.I_33=linspace:1:2:1e7 -y j.phi:max": ["1e+14 runs", "fewer values"],
    "sweep p.py --table d.csv -y j.phi:max -o d.csv": ["d.csv", "written over"],
    "sweep p.py -p b.m=1,2 -y j.phi:max -o none/x.csv": ["none/x.csv", "none does not exist"],
    "sweep p.py -p b.m=1_000,2 -y j.phi:max": ["b.m=1_000,2"],
    "linearize p.py --at 1_0": ["--at 1_0"],
    "fit p.py d.csv -p b.m=1_0:20": ["-p b.m=1_0:20"],
    "simulate p.py --stop 1_0": ["--stop", "'1_0'"],
    "simulate p.py --interval \u0661": ["--interval"],
    "equilibrium p.py --speed j.w=1_0": ["--speed j.w=1_0"],
    "sweep p.py --table empty.csv -y j.phi:max": ["table of runs is empty"],
    "sweep p.py --table gaps.csv -y j.phi:max": ["'b.m' has the value nan"],
    "fit p.py d.csv -p b.m -p b.m=1:2": ["-p b.m", "twice"],
    "fit p.py d.csv -p b.m --plot x.abc": ["--plot x.abc", "x.png"],
    "fit p.py d.csv -p b.m=nan:1": ["bounds of 'b.m'"],
    "linearize p.py --mode 2": ["--mode", "--animation"],
    "linearize p.py --at equilibrium --input d.csv": ["no place at a rest"],
    "info Text.mo": ["q", "start value 'a'", "text"],
    "info Fixed.mo": ["q", "fixed = 1", "true nor false"],
    "info Further.mo": ["q", "differentiate", "further"],
    "info r.urdf --bandwidth 0": ["bandwidth = 0.0", "positive"],
    "info r.urdf --bandwidth 3": ["bandwidth = 3.0", "drive=position"],
    "info Twice.mo": ["line 2", "c.k is modified twice"],
    "info Unknown.mo": ["line 4", "q: nothing of this name"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
def test_a_wrong_command(command: str, folder: pathlib.Path, refused: Refused) -> None:
    constant = "Modelica.Blocks.Sources.Constant c"
    for name, content in {
        "p.py": MODEL,
        "d.csv": "time,u,j.phi\n0,0,0.1\n0.1,0,0.05\n0.2,0,-0.1\n",
        "empty.csv": "",
        "gaps.csv": "b.m,b.I_33\n,1\n2,3\n",
        "r.urdf": '<robot name="r"><link name="a"/></robot>',
        "Twice.mo": f"model Twice\n  M c(c(k=1), c.k=2);\n  model M\n    {constant}(k=3);\n  end M;\nend Twice;\n",
        "Text.mo": 'model Text\n  Real q(start="a");\nequation\n  q = time;\nend Text;\n',
        "Fixed.mo": "model Fixed\n  Real q(fixed=1);\nequation\n  der(q) = 1;\nend Fixed;\n",
        "Further.mo": "model Further\n  Real q, r;\nequation\n  der(q) = -q;\n  r = der(der(der(q)));\nend Further;\n",
        "Unknown.mo": f"model Unknown\n  {constant}(k=1);\nequation\n  c.y = q;\nend Unknown;\n",
    }.items():
        (folder / name).write_text(content)
    refused(command.split(), COMMANDS[command])


@pytest.mark.slow
def test_names_that_nothing_has_are_errors_of_both_kinds(system: System, tmp_path: pathlib.Path) -> None:
    """`except MbfmuError` and `except KeyError` may each be what a user wrote."""
    result = mbfmu.simulate(system, 0.1)
    swept = mbfmu.sweep(system, {"b.m": [1.0]}, ["j.phi:max"], 0.1, path=tmp_path / "sweep.csv")
    fitted = mbfmu.fit(system, DATA, ["b.m"])
    rest = mbfmu.equilibrium(system)
    for ask in (
        lambda: result["nope"],
        lambda: result.select("nope"),
        lambda: result.plot("nope"),
        lambda: result.to_csv(tmp_path / "x.csv", ["nope"]),
        lambda: swept["nope"],
        lambda: swept.columns["nope"],
        lambda: fitted["nope"],
        lambda: rest["nope"],
    ):
        with pytest.raises(MbfmuError, match=r"^there is no variable 'nope'") as caught:
            ask()
        assert isinstance(caught.value, KeyError)
    assert "nope" not in result
    assert result.get("nope") is None
    for wrong in (lambda: result.select(3), lambda: result.plot(3), lambda: result.plot([3]), lambda: result.save(3)):
        with pytest.raises(MbfmuError):
            wrong()
    with pytest.raises(MbfmuError, match=r"cannot be written \(No such file or directory\)"):
        result.to_csv(tmp_path / "none" / "x.csv")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".zarr"])
def test_what_is_no_sweep_is_refused(suffix: str, tmp_path: pathlib.Path) -> None:
    if suffix != ".csv":
        pytest.importorskip("pyarrow" if suffix == ".parquet" else "zarr")
    with pytest.raises(MbfmuError, match="no such file"):
        mbfmu.Sweep.load(tmp_path / f"none{suffix}")
    (tmp_path / f"empty{suffix}").write_bytes(b"")
    with pytest.raises(MbfmuError, match="has no sweep in it"):
        mbfmu.Sweep.load(tmp_path / f"empty{suffix}")


def test_a_folder_of_other_files_is_no_place_of_a_sweep(system: System, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("zarr")
    target = tmp_path / "mine.zarr"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(MbfmuError, match=r"mine\.zarr: is a folder of other files.*choose another name"):
        mbfmu.sweep(system, {"b.m": [1.0]}, ["j.phi:final"], 0.1, path=target)
    assert [(file.name, file.read_text()) for file in target.iterdir()] == [("mine.txt", "mine")]
    for mass in (1.0, 2.0):  # that of a sweep before is written over
        mbfmu.sweep(system, {"b.m": [mass]}, ["j.phi:final"], 0.1, path=tmp_path / "ours.zarr")
    assert mbfmu.Sweep.load(tmp_path / "ours.zarr")["b.m"].tolist() == [2.0]


def test_options_of_a_system_are_checked() -> None:
    for options, words in (({"cuts": 3}, "cuts = 3"), ({"energy": "no"}, "energy = 'no'"), ({"scene": 1}, "scene = 1")):
        with pytest.raises(MbfmuError, match=words):
            System.of(P(), **options)


@pytest.mark.parametrize("element", ["b.r_CM[4]", "j.n[9]", "b.m[1]"])
def test_settings_of_elements_that_there_are_not_are_refused(element: str) -> None:
    model = P()
    with pytest.raises(MbfmuError, match=re.escape(f"-p {element}: there is no such element") + r".*has the shape \("):
        apply_setting(model, element, 1.0)
    apply_setting(model, "b.r_CM[3]", 0.25)
    assert list(model.b.value("r_CM")) == [0.5, 0, 0.25]


def test_settings_are_a_list(folder: pathlib.Path) -> None:
    for settings in (3, "b.m=1"):
        with pytest.raises(MbfmuError, match=r"^settings = .*a list of names"):
            mbfmu.load("pendulum", settings)  # type: ignore[arg-type]


def test_a_function_that_raises_gives_failed_runs() -> None:
    def made(mass: float = 0.0) -> P:
        if mass < 1.0:  # the default among them
            raise ValueError("too light")
        model = P()
        model.b.m = mass
        return model

    found = mbfmu.sweep(made, {"mass": [0.5, 2.0]}, ["j.phi:final"], 0.1)
    assert np.isnan(found["j.phi:final"]).tolist() == [True, False]
    assert list(found.messages) == [0]
    assert "made: the function fails, test_wrong_studies.py" in found.messages[0]
    assert found.messages[0].endswith("ValueError: too light")
    with pytest.raises(MbfmuError, match="ValueError: too light"):
        mbfmu.sweep(made, {"mass": [0.1, 0.2]}, ["j.phi:final"], 0.1)
