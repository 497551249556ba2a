"""System Structure packages: FMUs with their connections in one file, which SSP tools open as a model.

An archive with SystemStructure.ssd and, in resources/, the FMUs. It is of SSP 1.0, which more tools open, and of SSP
2.0 only where FMUs of FMI 3.0 have arrays, or types that SSP 1.0 has no equal of. By default the system has no
connectors of its own: libcosim and ecos refuse connections to them, and OMSimulator extrapolates no input behind one.
Where they are wanted, inputs and outputs that are not connected become connectors `element_variable`, without dots,
which OMSimulator refuses.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import math
import pathlib
import re
import shutil
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lxml import etree

from mbfmu.cosimulation.flanges import wires
from mbfmu.cosimulation.loops import links_on_loops
from mbfmu.cosimulation.structure import Connection, SystemStructure, check_elements
from mbfmu.dynamics.system import System
from mbfmu.errors import BuildError
from mbfmu.export.archive import build_date, replacing, temporary_folder, write_archive
from mbfmu.export.build import build
from mbfmu.export.provenance import write_provenance
from mbfmu.fmi.variables import KINDS, is_variable, unit_of
from mbfmu.modeling import Assembly
from mbfmu.runtime import arguments
from mbfmu.version import __version__

DESCRIPTION = "http://ssp-standard.org/SSP1/SystemStructureDescription"
COMMON = "http://ssp-standard.org/SSP1/SystemStructureCommon"

#: Namespace of OMSimulator's annotations, without which it opens no system.
OMSIMULATOR = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"

#: Namespace and type of libcosim's annotations.
LIBCOSIM, COSIM = "http://opensimulationplatform.com/SSP/OSPAnnotations", "com.opensimulationplatform"

#: Types of connectors in SSP 1.0 and 2.0, by those of FMI; enumerations and clocks need more information, and get none.
_TYPES = {
    "1.0": {"Real": "Real", "Float64": "Real", "Integer": "Integer", "Int32": "Integer"}
    | {type_: type_ for type_ in ("Boolean", "String")},
    "2.0": {type_: type_ for type_ in KINDS if type_ != "Enumeration"},
}
_BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")

#: Width of an element in a diagram, height of one of its connectors, and the space between elements.
_WIDTH, _ROW, _GAP = 30.0, 5.0, 30.0


def build_ssp(
    elements: Mapping[str, Assembly | System | pathlib.Path | str],
    path: str | pathlib.Path,
    *,
    connect: Iterable[tuple[str, str]] | None = None,
    name: str | None = None,
    stop_time: float | None = None,
    step: float | None = None,
    steps: Mapping[str, float] | None = None,
    connectors: bool = False,
    fmi: int = 2,
    target: str = "auto",
    platforms: str | Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[pathlib.Path, tuple[Connection, ...]]:
    """Build the FMUs of a system and pack them with their connections.

    Args:
        elements: By name: an Assembly (or System), of which an FMU is built, or the path of an FMU.
        path: File to write. It is there when it is complete, and not before.
        connect: Pairs of flanges or variables, `element.axis1` each; None connects flanges of equal name.
        name: Name of the system; that of the file where None.
        stop_time: s; that of the longest default experiment where None.
        step, steps: Length of all communication steps, s, and own ones of some elements, for those who read the
            annotations of libcosim and OMSimulator; that of the shortest default experiment, for the latter, where
            None.
        connectors: Give the system connectors for inputs and outputs that are not connected.
        fmi, target, platforms, progress: As `mbfmu.build` takes them, for what is built.

    Returns:
        tuple: The file, and the connections of variables.

    Raises:
        ModelError: An assembly is wrong, or a connection is not possible.
        BuildError: An FMU cannot be built, or the file cannot be written.
        ValidationError: A file is not an FMU.
    """
    file = arguments.path(path, "path")
    connectors = arguments.flag(connectors, "connectors")
    arguments.check_callback(progress, "progress")
    check_elements(elements)
    with replacing(file) as part, temporary_folder() as folder:
        files = {}
        for element, source in elements.items():
            if isinstance(source, Assembly | System):
                files[element] = folder / f"{element}.fmu"
                told = (lambda text, element=element: progress(f"{element}: {text}")) if progress else None
                build(source, files[element], fmi=fmi, target=target, platforms=platforms, progress=told)
            else:
                files[element] = pathlib.Path(source)
        structure = SystemStructure.of(files, connect, name or file.stem)
        _pack(structure, part, stop_time, connectors, step, steps)
    return file, structure.connections


def write_ssp(
    structure: SystemStructure, path: str | pathlib.Path, stop_time: float | None = None, *,
    step: float | None = None, steps: Mapping[str, float] | None = None, connectors: bool = False,
) -> pathlib.Path:  # fmt: skip
    """Pack FMUs that are built already; arguments (times in s) and errors as those of `build_ssp`."""
    file = pathlib.Path(path)
    with replacing(file) as part:
        _pack(structure, part, stop_time, connectors, step, steps)
    return file


def _pack(
    structure: SystemStructure, file: pathlib.Path, stop_time: float | None, connectors: bool, step: float | None,
    steps: Mapping[str, float] | None,
) -> None:  # fmt: skip
    date, own = build_date(), structure.own_steps(step, steps)
    for shaft in structure.shafts:
        wires(shaft.a_flange, shaft.b_flange, shaft.name)  # refuses them: packages have connections of variables only
    looped = links_on_loops(structure)
    if looped:
        warnings.warn(
            f"{structure.name}: {', '.join(looped)} depend on themselves at once, as in a rigid coupling. Tools that "
            "hold inputs over a step, most of those for SSP, begin with values that do not agree, and stay off by what "
            "that inserts, however short their steps are. End the moved side in a spring and damper, make one FMU of "
            "both, or run it by mbfmu.cosimulation.cosimulate, which begins with values that agree.",
            UserWarning,
            stacklevel=3,
        )
    with temporary_folder() as folder:
        (folder / "resources").mkdir()
        for element, path in structure.files.items():
            with contextlib.suppress(shutil.SameFileError):
                shutil.copyfile(path, folder / "resources" / f"{element}.fmu")
        (folder / "SystemStructure.ssd").write_bytes(system_structure(structure, date, stop_time, connectors, own))
        write_provenance(folder, structure.name, date, {"kind": "SSP"}, {}, {})
        write_archive(folder, file, date)


def system_structure(
    structure: SystemStructure, date: datetime.datetime | None, stop_time: float | None = None,
    connectors: bool = False, steps: Mapping[str, float] | None = None,
) -> bytes:  # fmt: skip
    """Write SystemStructure.ssd (SSP 1.0 and 2.0, section 5): elements in resources/NAME.fmu, and their connections.

    With `connectors`, the system has some for the inputs and outputs that are not connected. `steps` are lengths of
    communication steps, s, of all elements.

    Raises:
        BuildError: The stop time is not after the start.
    """
    ports = {
        element: [v for v in description.modelVariables if v.causality in ("input", "output")]
        for element, description in structure.descriptions.items()
    }
    version = _version(v for variables in ports.values() for v in variables)
    root = etree.Element(
        _ssd("SystemStructureDescription"),
        nsmap={"ssd": DESCRIPTION, "ssc": COMMON, "oms": OMSIMULATOR} | ({"osp": LIBCOSIM} if steps else {}),
        version=version,
        name=structure.name,
        generationTool=f"mbfmu {__version__}",
    )
    if date is not None:
        root.set("generationDateAndTime", f"{date:%Y-%m-%dT%H:%M:%SZ}")
    system = etree.SubElement(root, _ssd("System"), name=structure.name)
    wires = [
        (_End.of(structure, c.start_element, c.start_connector), _End.of(structure, c.end_element, c.end_connector))
        for c in structure.connections
    ]
    connected = {(end.element, end.connector) for wire in wires for end in wire}
    open_ends = [(e, v) for e, variables in ports.items() for v in variables if (e, v.name) not in connected]
    names = _system_names(open_ends if connectors else [])
    _connectors(system, [(name, v) for name, (_, v) in names.items()], version)
    left = 0.0
    elements = etree.SubElement(system, _ssd("Elements"))
    for element, variables in ports.items():
        description = structure.descriptions[element]
        component = etree.SubElement(
            elements,
            _ssd("Component"),
            name=element,
            type="application/x-fmu-sharedlibrary",
            source=f"resources/{element}.fmu",
            implementation="CoSimulation",
        )
        if description.description:
            component.set("description", description.description)
        _connectors(component, [(v.name, v) for v in variables], version)
        height = _ROW * (1 + max(1, sum(v.causality == "input" for v in variables)))
        sides = {"x1": left, "y1": 0.0, "x2": left + _WIDTH, "y2": height}
        etree.SubElement(component, _ssd("ElementGeometry"), {key: f"{value:g}" for key, value in sides.items()})
        left += _WIDTH + _GAP
        if steps and steps[element] > min(steps.values()):
            _annotation(component, COSIM, _osp("StepSizeHint")).set("value", repr(steps[element]))
    for name, (element, variable) in names.items():
        inner, outer = _End(element, variable.name), _End(None, name)
        wires.append((outer, inner) if variable.causality == "input" else (inner, outer))
    if wires:
        connections = etree.SubElement(system, _ssd("Connections"))
    for start, end in wires:
        etree.SubElement(connections, _ssd("Connection"), start.attributes("start") | end.attributes("end"))
    _omsimulator(system, structure, steps)
    _units(root, structure, {unit for variables in ports.values() for v in variables if (unit := _unit(v))})
    experiment = _experiment(root, structure, stop_time)
    if steps:
        algorithm = _annotation(experiment, COSIM, _osp("Algorithm"))
        etree.SubElement(algorithm, _osp("FixedStepAlgorithm"), baseStepSize=repr(min(steps.values())))
    etree.indent(root, " ")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _version(variables: Iterable[Any]) -> str:
    """Version of SSP: 1.0 where it has all shapes and types, but for enumerations."""
    plain = {*_TYPES["1.0"], "Enumeration"}
    return "1.0" if all(v.type in plain and not v.shape for v in variables) else "2.0"


@dataclasses.dataclass(frozen=True)
class _End:
    """An end of a connection: a connector of an element, or of the system, or one element of its array."""

    element: str | None
    connector: str
    indices: tuple[int, ...] = ()

    @classmethod
    def of(cls, structure: SystemStructure, element: str, name: str) -> _End:
        scalars = structure.scalars(element, name)
        indices = () if is_variable(name, scalars) else scalars[0].indices
        return cls(element, scalars[0].variable.name, indices)

    def attributes(self, side: str) -> dict[str, str]:
        """Attributes of a Connection, for its side `start` or `end`."""
        found = {f"{side}Element": self.element, f"{side}Connector": self.connector}
        indices = {f"{side}Indices": " ".join(map(str, self.indices))} if self.indices else {}
        return {key: text for key, text in found.items() if text is not None} | indices


def _system_names(ends: Sequence[tuple[str, Any]]) -> dict[str, tuple[str, Any]]:
    """Names of the system's connectors: letters, digits and underscores, each once."""
    names: dict[str, tuple[str, Any]] = {}
    for element, variable in ends:
        stem = re.sub(r"\W+", "_", f"{element}_{variable.name}").strip("_")
        candidates = itertools.chain([stem], (f"{stem}_{i}" for i in itertools.count(2)))
        names[next(name for name in candidates if name not in names)] = (element, variable)
    return names


def _omsimulator(system: etree._Element, structure: SystemStructure, steps: Mapping[str, float] | None) -> None:
    """Tell OMSimulator the kind of the system, a fixed-step master, and its step: the shortest that is asked for."""
    experiments = [d.defaultExperiment for d in structure.descriptions.values() if d.defaultExperiment is not None]
    step = min((float(e.stepSize) for e in experiments if e.stepSize is not None), default=1e-3)
    step = min(steps.values()) if steps else step
    tolerance = min((float(e.tolerance) for e in experiments if e.tolerance is not None), default=1e-4)
    annotation = _annotation(system, "org.openmodelica", _oms("Annotations"))
    information = etree.SubElement(annotation, _oms("SimulationInformation"))
    etree.SubElement(
        information,
        _oms("FixedStepMaster"),
        description="oms-ma",
        stepSize=repr(step),
        absoluteTolerance=repr(tolerance),
        relativeTolerance=repr(tolerance),
    )


def _annotation(parent: etree._Element, tool: str, tag: str) -> etree._Element:
    """An element of an annotation for a tool."""
    annotation = etree.SubElement(etree.SubElement(parent, _ssd("Annotations")), _ssc("Annotation"), type=tool)
    return etree.SubElement(annotation, tag)


def _osp(tag: str) -> str:
    return f"{{{LIBCOSIM}}}{tag}"


def _oms(tag: str) -> str:
    return f"{{{OMSIMULATOR}}}{tag}"


def _ssd(tag: str) -> str:
    return f"{{{DESCRIPTION}}}{tag}"


def _ssc(tag: str) -> str:
    return f"{{{COMMON}}}{tag}"


def _connectors(parent: etree._Element, variables: Sequence[tuple[str, Any]], version: str) -> None:
    """Inputs stand on the left edge, outputs on the right one, evenly."""
    if not variables:
        return
    group = etree.SubElement(parent, _ssd("Connectors"))
    count = {kind: sum(v.causality == kind for _, v in variables) for kind in ("input", "output")}
    placed = dict.fromkeys(count, 0)
    for name, variable in variables:
        kind = variable.causality
        connector = etree.SubElement(group, _ssd("Connector"), name=name, kind=kind)
        if variable.description:
            connector.set("description", variable.description)
        if variable.type in _TYPES[version]:
            type_ = etree.SubElement(connector, _ssc(_TYPES[version][variable.type]))
            unit = _unit(variable)
            if unit is not None:
                type_.set("unit", unit)
        for size in variable.shape or ():
            etree.SubElement(connector, _ssc("Dimension"), size=str(size))
        placed[kind] += 1
        x, y = float(kind == "output"), 1 - placed[kind] / (count[kind] + 1)
        etree.SubElement(connector, _ssd("ConnectorGeometry"), x=f"{x:g}", y=f"{y:.4g}")


def _unit(variable: Any) -> str | None:
    return unit_of(variable) if KINDS.get(variable.type) == "Real" else None


def _units(root: etree._Element, structure: SystemStructure, used: set[str]) -> None:
    """Definitions of the units that connectors have, as the first FMU that knows them has them."""
    if not used:
        return
    known = {u.name: u for d in reversed(list(structure.descriptions.values())) for u in d.unitDefinitions or ()}
    group = etree.SubElement(root, _ssd("Units"))
    for name in sorted(used):
        unit = etree.SubElement(group, _ssc("Unit"), name=name)
        base = known[name].baseUnit if name in known else None
        element = etree.SubElement(unit, _ssc("BaseUnit"))
        if base is None:
            continue
        for exponent in _BASE_UNITS:
            if getattr(base, exponent):
                element.set(exponent, str(getattr(base, exponent)))
        for key, neutral in (("factor", 1.0), ("offset", 0.0)):
            if float(getattr(base, key)) != neutral:
                element.set(key, repr(float(getattr(base, key))))


def _experiment(root: etree._Element, structure: SystemStructure, stop_time: float | None) -> etree._Element:
    experiments = [d.defaultExperiment for d in structure.descriptions.values() if d.defaultExperiment is not None]
    start = min((float(e.startTime or 0.0) for e in experiments), default=0.0)
    if stop_time is None:
        stop_time = max((float(e.stopTime) for e in experiments if e.stopTime is not None), default=start + 1.0)
    if not start < stop_time < math.inf:
        raise BuildError(f"stop time {stop_time:g} s: must be after the start at {start:g} s.")
    return etree.SubElement(root, _ssd("DefaultExperiment"), startTime=repr(start), stopTime=repr(float(stop_time)))
