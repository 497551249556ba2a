"""The bill of materials of a wheel, as CycloneDX: `python -m distribution.sbom WHEEL PYTHON FILE`.

cyclonedx-py lists what PYTHON, an environment with the wheel and nothing else, has installed. What is bundled into the
wheel itself is added: three.js in the program of animation pages, and what ziglang links into libraries.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import pathlib
import subprocess
import sys
from typing import Any

#: Bundled packages of npm, with their licences; their versions stand in this file.
VIEWER = pathlib.Path("templates/scene/package.json")
LICENSES = {"gifenc": "MIT", "three": "MIT", "uplot": "MIT"}


def bundled() -> list[dict[str, Any]]:
    """Components that are in the wheel's own files."""
    dependencies: dict[str, str] = json.loads(VIEWER.read_text(encoding="utf-8"))["dependencies"]
    found = [
        {"type": "library", "name": name, "version": version, "purl": f"pkg:npm/{name}@{version}",
         "bom-ref": f"{name}=={version}", "licenses": [{"license": {"id": LICENSES[name]}}]}
        for name, version in sorted(dependencies.items())
    ]  # fmt: skip
    try:
        version = importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError:
        return found
    about = "compiler of the libraries; parts of its compiler-rt, of mingw-w64 and of wasi-libc are linked into them"
    zig = {
        "type": "application",
        "name": "ziglang",
        "version": version,
        "purl": f"pkg:pypi/ziglang@{version}",
        "bom-ref": f"ziglang=={version}",
        "description": about,
        "licenses": [{"license": {"id": "MIT"}}],
    }
    return [*found, zig]


def bill_of_materials(wheel: pathlib.Path, python: str) -> str:
    """The bill as JSON, the same for the same wheel and packages, and valid by CycloneDX's own schema.

    Raises:
        SystemExit: cyclonedx-py fails, or the bill is not valid.
    """
    command = [sys.executable, "-m", "cyclonedx_py", "environment", python, "--pyproject", "pyproject.toml",
               "--mc-type", "library", "--output-reproducible", "--of", "JSON", "-o", "-"]  # fmt: skip
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise SystemExit(f"cyclonedx-py failed: {made.stderr.strip()}")
    text = json.dumps(completed(json.loads(made.stdout), wheel), indent=2, sort_keys=True) + "\n"
    check(text)
    return text


def completed(bill: dict[str, Any], wheel: pathlib.Path) -> dict[str, Any]:
    """A bill of an environment with the wheel as that of the wheel: its hash, what is bundled, and no tools."""
    main = bill["metadata"]["component"]
    main["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]
    tools = ("pip", "setuptools", main["name"])  # of the environment, and the wheel itself
    bill["components"] = [c for c in bill.get("components", []) if c["name"] not in tools]
    known = {c["bom-ref"] for c in bill["components"]}
    more = [c for c in bundled() if c["bom-ref"] not in known]
    bill["components"] += more
    kept = {c["bom-ref"] for c in bill["components"]} | {main["bom-ref"]}
    bill["dependencies"] = [d for d in bill.get("dependencies", []) if d["ref"] in kept]
    bill["dependencies"] += [{"ref": c["bom-ref"]} for c in more]
    for each in bill["dependencies"]:
        each["dependsOn"] = sorted(ref for ref in each.get("dependsOn", []) if ref in kept)
        if each["ref"] == main["bom-ref"]:
            each["dependsOn"] = sorted({*each["dependsOn"], *(c["bom-ref"] for c in more)})
    return bill


def check(text: str) -> None:
    """Raise `SystemExit` where a bill is not valid."""
    from cyclonedx.schema import OutputFormat, SchemaVersion
    from cyclonedx.validation import make_schemabased_validator

    version = SchemaVersion.from_version(json.loads(text)["specVersion"])
    problem = make_schemabased_validator(OutputFormat.JSON, version).validate_str(text)
    if problem is not None:
        raise SystemExit(f"the bill of materials is not valid: {problem}")


if __name__ == "__main__":
    wheel_file, interpreter, target = sys.argv[1:]
    pathlib.Path(target).write_text(bill_of_materials(pathlib.Path(wheel_file), interpreter), encoding="utf-8")
