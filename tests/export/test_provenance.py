"""Meta-data by SSP Traceability: valid, and true of what is in the file."""

from __future__ import annotations

import hashlib
import io
import json
import pathlib
import zipfile

import numpy as np
import pytest
import xmlschema
from lxml import etree

from mbfmu import Uncertainty, build, fit, load, simulate, sweep, validate
from mbfmu.cosimulation.ssp import build_ssp
from mbfmu.errors import BuildError
from mbfmu.export.provenance import intervals_of, read_uncertainty
from mbfmu.modeling.registry import assemblies
from mbfmu.version import __version__

HERE = pathlib.Path(__file__).resolve().parent
FILE = "extra/org.ssp-standard.ssp-traceability.srmd/resourceMetaData.srmd"
STC = "{http://ssp-standard.org/SSPTraceability1/SSPTraceabilityCommon}"


@pytest.fixture(scope="module")
def schema():
    """The schemas of the draft and of SSP 2.0, in schemas/ with their licence."""
    locations = [
        ("http://ssp-standard.org/SSP1/SystemStructureCommon", str(HERE / "schemas" / "SystemStructureCommon.xsd")),
        ("http://ssp-standard.org/SSPTraceability1/SSPTraceabilityCommon", str(HERE / "schemas" / "STC.xsd")),
    ]
    return xmlschema.XMLSchema11(str(HERE / "schemas" / "SRMD.xsd"), locations=locations, allow="local")


def entries(path: pathlib.Path) -> tuple[bytes, dict[str, dict[str, str]]]:
    """The file, and its classifications by the last word of their types."""
    with zipfile.ZipFile(path) as archive:
        data = archive.read(FILE)
    found = {
        kind.get("type").rpartition(".")[2]: {entry.get("keyword"): entry.text for entry in kind}
        for kind in etree.fromstring(data).iter(f"{STC}Classification")
    }
    return data, found


def check_files(path: pathlib.Path, told: dict[str, str]) -> None:
    with zipfile.ZipFile(path) as archive:
        sums = {n: hashlib.sha3_256(archive.read(n)).hexdigest() for n in archive.namelist() if n != FILE}
    assert told == sums
    assert list(told) == sorted(told)


@pytest.mark.slow
@pytest.mark.parametrize(("fmi", "target"), [(2, "python"), (3, "native")])
def test_an_fmu_says_what_it_was_made_of(tmp_path, schema, fmi, target):
    source = tmp_path / "swing.toml"
    source.write_text('assembly = "pendulum"\n', encoding="utf-8")
    equations = "interpreted" if target == "native" else "auto"
    path = build(load(source), tmp_path, fmi=fmi, target=target, equations=equations, experiment=True)
    assert validate(path, run=False) == []
    data, found = entries(path)
    schema.validate(io.BytesIO(data))
    assert found["build"]["tool.version"] == __version__
    assert f"FMI {fmi}.0, {target}" in found["build"]["kind"]
    assert found["sources"] == {"swing.toml": hashlib.sha3_256(source.read_bytes()).hexdigest()}
    assert found["licenses"] == {"mbfmu": "BSD-3-Clause"} | ({"pythonfmu": "MIT"} if target == "python" else {})
    check_files(path, found["files"])
    assert str(tmp_path).encode() not in data


@pytest.mark.slow
def test_other_parameters_have_another_checksum(tmp_path):
    sums = [
        entries(build(load("pendulum", settings), tmp_path, equations="interpreted"))[1]["build"]["parameters.sha3-256"]
        for settings in ((), ("damper.d=0.2",), ("damper.d=0.1",))
    ]
    assert sums[0] == sums[2] != sums[1]


@pytest.mark.slow
def test_whoever_has_an_fmu_can_check_its_parameters(tmp_path, schema, monkeypatch):
    """By the rule of the documentation; the date is that of the build where one is asked for."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = build(load("furuta_pendulum", ()), tmp_path, equations="interpreted", variables="*")
    with zipfile.ZipFile(path) as archive:
        description = etree.fromstring(archive.read("modelDescription.xml"))
    shown = {"Real": float, "Integer": int, "Boolean": "true".__eq__, "String": str, "Enumeration": int}
    lines = []
    for variable in description.iter("ScalarVariable"):
        (kind,) = (child for child in variable if child.tag != "Annotations")
        if kind.get("start") is not None and variable.get("causality") != "input":
            lines.append(f"{variable.get('name')}={shown[kind.tag](kind.get('start'))!r}\n")
    data, found = entries(path)
    assert found["build"]["parameters.sha3-256"] == hashlib.sha3_256("".join(sorted(lines)).encode()).hexdigest()
    schema.validate(io.BytesIO(data))
    assert etree.fromstring(data).get("generationDateAndTime") == "2023-11-14T22:13:20Z"


@pytest.mark.slow
def test_a_package_says_what_is_in_it(tmp_path, schema):
    fmu = build(assemblies()["pendulum"](), tmp_path, equations="interpreted")
    path, _ = build_ssp({"one": fmu}, tmp_path / "system.ssp", connect=())
    data, found = entries(path)
    schema.validate(io.BytesIO(data))
    assert set(found["files"]) == {"SystemStructure.ssd", "resources/one.fmu"}
    check_files(path, found["files"])


@pytest.mark.slow
def test_the_schema_notices_what_is_wrong(tmp_path, schema):
    path = build(assemblies()["pendulum"](), tmp_path, equations="interpreted")
    with pytest.raises(xmlschema.XMLSchemaException):
        schema.validate(io.BytesIO(entries(path)[0].replace(b"keyword=", b"key=", 1)))


@pytest.mark.slow
def test_intervals_of_fits_and_sweeps_travel_with_an_fmu(tmp_path, schema):
    motion = simulate(assemblies()["pendulum"](), 1.0, interval=0.01, outputs=["rev.phi"])
    measured = motion["rev.phi"] + 1e-3 * np.random.default_rng(1).standard_normal(motion.time.size)
    found = fit(assemblies()["pendulum"](), {"time": motion.time, "rev.phi": measured}, ["damper.d"])
    spread = sweep(assemblies()["pendulum"](), {"damper.d": [0.08, 0.1, 0.12]}, ["rev.phi:final"], stop_time=1.0)
    told = found.uncertainty() | spread.uncertainty()
    path = build(assemblies()["pendulum"](), tmp_path, equations="interpreted", uncertainty=told)
    data, _ = entries(path)
    schema.validate(io.BytesIO(data))
    read = {entry.get("keyword"): entry[0].attrib for entry in etree.fromstring(data).iter() if len(entry) == 1}
    (interval,) = found.intervals
    assert (float(read["damper.d"]["lower"]), float(read["damper.d"]["upper"])) == tuple(interval)
    assert read["damper.d"]["source"] == "Calibrated"
    assert float(read["damper.d"]["lower"]) < 0.1 < float(read["damper.d"]["upper"])
    finals = np.sort(spread["rev.phi:final"])
    # 95 % of three runs leave out a twentieth of the way from either end to the middle
    ends = finals[[0, 2]] + 0.05 * (finals[1] - finals[[0, 2]])
    told = [float(read["rev.phi:final"][key]) for key in ("lower", "nominal", "upper")]
    np.testing.assert_allclose(told, [ends[0], finals[1], ends[1]], rtol=1e-12)
    printed = tmp_path / "fit.json"
    printed.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    assert read_uncertainty(printed) == found.uncertainty()
    assert read["damper.d"]["info"] == "confidence interval of a fit to measurements, 95%"
    printed.write_text(json.dumps({**found.to_dict(), "confidence": 0.8}), encoding="utf-8")
    assert read_uncertainty(printed)["damper.d"].info.endswith(", 80%")


def test_parameters_that_data_do_not_determine_have_no_interval():
    found = intervals_of(
        {"a": (1.0, 0.5, 1.5), "b": (1.0, -np.inf, 2.0), "c": (1.0, 0.0, np.inf), "d": (1.0, None, None)}, 0.9
    )
    assert list(found) == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"fit\.json: cannot be read \(No such file.*\); give what `mbfmu fit --json` prints"),
        ("{", r"fit\.json: is not what `mbfmu fit --json` prints"),
        ("[]", "is not what"),
        ('{"parameters": {}}', "is not what"),
        ('{"parameters": [], "confidence": 0.9}', "is not what"),
        ('{"parameters": {"a": {"value": 1.0}}, "confidence": 0.9}', "is not what"),
        ('{"parameters": {"a": {"value": 1.0, "interval": [1.0]}}, "confidence": 0.9}', "is not what"),
        ('{"parameters": {"a": {"value": 1.0, "interval": ["0", "2"]}}, "confidence": 0.9}', "is not what"),
    ],
    ids=["missing", "no JSON", "list", "no confidence", "no names", "no interval", "one end", "texts"],
)
def test_files_that_are_no_fit_are_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "fit.json").write_text(text)
    with pytest.raises(BuildError, match=message):
        read_uncertainty(tmp_path / "fit.json")


def test_intervals_of_a_file_have_its_confidence(tmp_path):
    told = {"a": {"value": 1.5, "interval": [1.0, 3.0]}, "b": {"value": 2.0, "interval": [None, None]}}
    (tmp_path / "fit.json").write_text(json.dumps({"parameters": told, "confidence": 0.9}))
    info = "confidence interval of a fit to measurements, 90%"
    assert read_uncertainty(tmp_path / "fit.json") == {"a": Uncertainty(1.0, 3.0, 1.5, "Calibrated", info)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "expected"),
    [({"damper.e": Uncertainty(1.0, 2.0)}, "no variable 'damper.e'"), ({"damper.d": (1.0, 2.0)}, "mbfmu.Uncertainty")],
)
def test_what_is_no_uncertainty_is_refused(tmp_path, given, expected):
    with pytest.raises(BuildError, match=expected):
        build(assemblies()["pendulum"](), tmp_path, equations="interpreted", uncertainty=given)
    with pytest.raises(BuildError, match="the lower one first"):
        Uncertainty(2.0, 1.0)
    for lower, upper in ((-np.inf, 1.0), (1.0, np.inf), (np.nan, 1.0)):
        with pytest.raises(BuildError, match="give two numbers"):
            Uncertainty(lower, upper)
    with pytest.raises(BuildError, match="one of Unknown"):
        Uncertainty(1.0, 2.0, source="guessed")
