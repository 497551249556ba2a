"""FMI-LS-WASM, a draft of a layered standard of FMI 3.0: an FMU holds a WebAssembly component beside its libraries.

https://modelica.github.io/fmi-ls-wasm: the component runs in a sandbox on any processor. The same FMU runs natively
where an importer does not know of it.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from lxml import etree

from mbfmu.errors import BuildError
from mbfmu.runtime.component import component_of
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: The folder of binaries.
PLATFORM = "wasm32-wasip2"

NAME = "org.modelica.fmi-ls-wasm"
#: Version of the draft that the component follows.
VERSION = "0.1.0"

#: The manifest by the name that the draft gives it, and by that of FMI 3.0 (3.0.2, section 2.5.2).
MANIFESTS = (f"extra/{NAME}/manifest.xml", f"extra/{NAME}/fmi-ls-manifest.xml")

_NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"


def write_component(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    model_identifier: str,
    token: str,
    lengths: Sequence[int],
    folder: pathlib.Path,
) -> pathlib.Path:
    """Write the component of a model, and the manifest, into the unpacked FMU; returns the component's path.

    Args:
        equations, variables, token, lengths: As `descriptor` takes them, for FMI 3.0.
        model_identifier: Name of the component, without extension.
        folder: Root of the unpacked FMU.

    Raises:
        BuildError: There is no ready component and none can be made, or the folder cannot be written.
    """
    path = folder / "binaries" / PLATFORM / f"{model_identifier}.wasm"
    content = component_of(descriptor(equations, variables, token, lengths=lengths))
    try:
        for file, data in {path: content, **{folder / name: manifest() for name in MANIFESTS}}.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    except OSError as error:
        raise BuildError(
            f"cannot write {error.filename}: {error.strerror}; choose a folder that can be written"
        ) from error
    return path


def manifest() -> bytes:
    """The manifest of the layered standard (fmi3LayeredStandardManifest.xsd)."""
    root = etree.Element(f"{{{_NAMESPACE}}}fmiLayeredStandardManifest", nsmap={"fmi-ls": _NAMESPACE})
    root.set(f"{{{_NAMESPACE}}}fmi-ls-name", NAME)
    root.set(f"{{{_NAMESPACE}}}fmi-ls-version", VERSION)
    root.set(f"{{{_NAMESPACE}}}fmi-ls-description", "FMI Layered Standard for WebAssembly")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
