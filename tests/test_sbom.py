"""The bill of materials of the wheel."""

from __future__ import annotations

import hashlib
import json
import pathlib

import pytest

from distribution import sbom

pytestmark = pytest.mark.slow  # what its tests share takes seconds

#: What cyclonedx-py writes, of an environment with two packages.
BILL = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "metadata": {"component": {"bom-ref": "root", "name": "mbfmu", "type": "library", "version": "1.0"}},
    "components": [
        {"bom-ref": f"{name}==1", "name": name, "type": "library", "version": "1"} for name in ("mbfmu", "numpy", "pip")
    ],
    "dependencies": [
        {"ref": "root", "dependsOn": ["numpy==1"]},
        {"ref": "numpy==1"},
        {"ref": "pip==1"},
        {"ref": "mbfmu==1", "dependsOn": ["numpy==1"]},
    ],
}


@pytest.mark.campaign
def test_the_bill_names_what_is_needed_and_what_is_bundled(tmp_path: pathlib.Path, monkeypatch) -> None:
    monkeypatch.chdir(pathlib.Path(sbom.__file__).resolve().parents[1])
    wheel = tmp_path / "mbfmu.whl"
    wheel.write_bytes(b"a wheel")
    bill = sbom.completed(json.loads(json.dumps(BILL)), wheel)
    sbom.check(json.dumps(bill))
    names = {component["name"]: component for component in bill["components"]}
    assert set(names) - {"ziglang"} == {"numpy", "gifenc", "three", "uplot"}
    viewer = json.loads(sbom.VIEWER.read_text(encoding="utf-8"))
    assert names["three"]["version"] == viewer["dependencies"]["three"]
    assert bill["metadata"]["component"]["hashes"][0]["content"] == hashlib.sha256(b"a wheel").hexdigest()
    needed = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    assert {"numpy==1", names["three"]["bom-ref"]} <= set(needed["root"])
    assert not {"pip==1", "mbfmu==1"} & set(needed)


def test_a_bill_that_is_not_valid_is_refused() -> None:
    with pytest.raises(SystemExit, match="not valid"):
        sbom.check('{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"name": "no type"}]}')
