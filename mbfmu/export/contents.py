"""The files of an FMU: what a folder is filled with, which becomes its archive."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import pathlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mbfmu.dynamics.showing.scene import Scene
from mbfmu.dynamics.system import System
from mbfmu.export import layered_dae, layered_wasm, native, python
from mbfmu.export.archive import Archive, build_date, temporary_folder
from mbfmu.export.arrays import Arrangement, arrange
from mbfmu.export.documentation import write_documentation
from mbfmu.export.fingerprint import fingerprint
from mbfmu.export.layered_ref import write_experiments
from mbfmu.export.model_description import Capabilities, model_description, model_identifier
from mbfmu.export.model_description_3 import build_description, model_description_3
from mbfmu.export.model_exchange import drifts, led_back, obstacle
from mbfmu.export.options import BuildOptions
from mbfmu.export.provenance import FILE, TYPE
from mbfmu.runtime.compilers import Compilation, own_work
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.references import value_references
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.scene.scene_file import SCENE_FILE, by_known_names, scene_file
from mbfmu.scene.visual_xml import visual_xml
from mbfmu.version import __version__

#: What each target offers.
CAPABILITIES: dict[str, Capabilities] = {
    "native": native.CAPABILITIES,
    "python": dataclasses.replace(native.CAPABILITIES, needsExecutionTool=True),
}


@dataclasses.dataclass(frozen=True)
class Contents:
    """What the files of an FMU have in common."""

    system: System
    options: BuildOptions
    report: Callable[[str], None]
    #: Why the model is not offered for model exchange; None where it is.
    hindrance: str | None
    #: Scalars or, of FMI 3.0, elements of arrays, in the order of their references.
    scalars: Sequence[ScalarVariable]
    variables: Sequence[ScalarVariable]
    #: Arrays of FMI 3.0.
    arrangement: Arrangement | None
    identifier: str
    #: Name of the file by which OpenModelica draws the model, where there is something to draw.
    visual: str | None
    date: datetime.datetime | None

    @classmethod
    def of(
        cls, system: System, variables: Sequence[ScalarVariable], options: BuildOptions, report: Callable[[str], None]
    ) -> Contents:
        """Decide what the FMU is for, and which variables it has in which order."""
        equations, native_one = system.equations, options.kind.target == "native"
        hindrance = obstacle(equations) if native_one else "the python target is for co-simulation only"
        exchange = hindrance is None
        if exchange and drifts(equations):
            variables = led_back(equations, variables)
        switches = equations.time_switches.count(False) if exchange else 0
        arrangement = arrange(variables, switches) if options.fmi == 3 else None
        scalars = variables if arrangement is None else arrangement.elements
        identifier = model_identifier(system.name)
        visual = f"{identifier}_visual.xml" if system.scene is not None and system.scene.shapes else None
        return cls(
            system, options, report, hindrance, scalars, variables, arrangement, identifier, visual, build_date()
        )

    @property
    def equations(self) -> Equations:
        """Of the model."""
        return self.system.equations

    @property
    def exchange(self) -> bool:
        """Is it offered for model exchange, too?"""
        return self.hindrance is None

    @property
    def lengths(self) -> Sequence[int] | None:
        """Numbers of elements of the arrays of FMI 3.0."""
        return None if self.arrangement is None else self.arrangement.lengths

    @functools.cached_property
    def references(self) -> Sequence[int]:
        """Value references of the scalars."""
        return value_references(self.variables) if self.arrangement is None else tuple(range(len(self.scalars)))

    def write(self, folder: pathlib.Path, archive: Archive) -> None:
        """Fill an empty folder; what is there before the libraries is packed while compilers are at work."""
        kind = self.options.kind
        with contextlib.ExitStack() as stack:
            written, compiling = None, {}
            if kind.target == "native" and (self.options.sources or kind.equations == "compiled"):
                self.report("Writing the equations in C")
                place = stack.enter_context(temporary_folder())
                written = native.Sources(self.equations, self.scalars, place, self.lengths)
                for platform in kind.platforms if kind.equations == "compiled" else ():
                    compiling[platform] = stack.enter_context(native.compilation(written, self.identifier, platform))
            writing = stack.enter_context(contextlib.ExitStack())
            if compiling:
                writing.enter_context(own_work())
            if written is not None:
                written.write_equations()
            label = f"{kind.target} {kind.equations} {self.options.fmi}"
            guid = fingerprint(self.equations, self.scalars, self.references, label)
            if written is not None:
                written.finish(guid)
            self._describe(folder, guid, written.units if self.options.sources and written is not None else ())
            self._document(folder, guid)
            if self.system.scene is not None and self.visual is not None:
                self._draw(folder, self.visual, self.system.scene)
            if self.options.experiments:
                self._run_experiments(folder)
            if kind.target == "python":
                self.report("Writing the Python target")
                python.write_python_target(
                    folder, self.equations, self.scalars, self.identifier, guid, kind.platforms, self.lengths
                )
                return
            self._write_portable(folder, guid, written if self.options.sources else None)
            if compiling:
                archive.add(folder)
            writing.close()
            self._write_libraries(folder, compiling)

    def _describe(self, folder: pathlib.Path, guid: str, source_files: Sequence[str]) -> None:
        """Write modelDescription.xml and, with algebraic variables for importers, the manifest of that."""
        self.report("Describing the model")
        target, system = self.options.kind.target, self.system
        common: dict[str, Any] = {
            "identifier": self.identifier,
            "model_exchange": self.exchange,
            "date": self.date,
            "description": system.description,
            "figures": system.figures,
            "scene": self.visual,
        }
        if self.arrangement is None:
            offered = CAPABILITIES[target]
            description = model_description(
                self.equations, self.variables, self.references, guid=guid, capabilities=offered,
                source_files=source_files, **common,
            )  # fmt: skip
        else:
            hosted = target == "python"
            description = model_description_3(
                self.equations, self.arrangement, token=guid, execution_tool=hosted, **common
            )
        (folder / "modelDescription.xml").write_bytes(description)
        if self.options.dae and self.arrangement is not None:
            layered_dae.write_manifest(folder, self.equations, self.arrangement, description)

    def _document(self, folder: pathlib.Path, guid: str) -> None:
        """Write the documentation."""
        equations, kind, options = self.equations, self.options.kind, self.options
        wasm, dae = f"FMI-LS-WASM {layered_wasm.VERSION} (draft)", f"FMI-LS-DAE {layered_dae.VERSION} (draft)"
        facts = {
            "Interface": f"FMI {options.fmi}.0, co-simulation" + (" and model exchange" if self.exchange else ""),
            **({"Model exchange": f"left out, for {self.hindrance}"} if self.hindrance else {}),
            "Target": f"{kind.target}, equations {kind.equations}: {', '.join(kind.platforms)}",
            **({"WebAssembly": f"{wasm}, equations interpreted"} if options.wasm else {}),
            **({"Algebraic variables": dae} if options.dae else {}),
            "Experiment": f"{equations.start_time:g} s to {equations.stop_time:g} s, tolerance {equations.tolerance:g}",
            "Integration": _integration(equations),
            "Built": (f"{self.date:%Y-%m-%d %H:%M:%S} UTC " if self.date else "") + f"with mbfmu {__version__}",
            "Identity": guid,
        }
        write_documentation(folder, self.system, self.variables, facts, kind.target, self.arrangement)

    def _draw(self, folder: pathlib.Path, visual: str, scene: Scene) -> None:
        """Write how the system looks into the resources: `visual`, which OpenModelica reads, and the scene."""
        known = {variable.name for variable in self.scalars}
        (folder / "resources").mkdir(exist_ok=True)
        looks = by_known_names(scene, self.system.variables, known)
        (folder / "resources" / visual).write_bytes(visual_xml(looks, known).text)
        picture = scene_file(looks, self.system.components, known)
        (folder / SCENE_FILE).write_bytes(picture.text)
        for name, mesh in picture.meshes.items():
            target = (folder / SCENE_FILE).parent / name
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(mesh, target)
        if picture.left_out:
            self.report(f"Leaving out {len(picture.left_out)} shapes, whose variables or files are not there")

    def _run_experiments(self, folder: pathlib.Path) -> None:
        """Write the reference experiments, of what is put out or, without outputs, of the states."""
        self.report("Running reference experiments")
        outputs, inputs = self._columns("output") or self._columns(None), self._columns("input")
        beside = f"../{FILE.removeprefix('extra/')}"
        about = {"type": TYPE, "source": beside, "role": "meta-data", "description": "Provenance"}
        write_experiments(
            folder, self.equations, self.system.variables, self.options.experiments, outputs, inputs, [about]
        )

    def _columns(self, causality: str | None) -> list[tuple[str, list[str]]]:
        """Variables of the FMU that have this causality, or are states, with the names of their scalars; no texts."""
        states = {variable.derivative_of for variable in self.variables}
        if self.arrangement is None:
            listed: list[tuple[str, tuple[ScalarVariable, ...]]] = [(v.name, (v,)) for v in self.variables]
        else:
            listed = [(v.name, v.elements) for whole in self.arrangement.variables for v in (whole, *whole.aliases)]
        return [
            (name, [element.name for element in elements])
            for name, elements in listed
            if (elements[0].causality == causality if causality else elements[0].name in states)
            and elements[0].type != "String"
        ]

    def _write_portable(self, folder: pathlib.Path, guid: str, sources: native.Sources | None) -> None:
        """Write what runs or can be compiled elsewhere: a WebAssembly component, tapes, sources."""
        kind, fmi = self.options.kind, self.options.fmi
        if self.options.wasm and self.lengths is not None:
            self.report("Writing the WebAssembly component")
            layered_wasm.write_component(self.equations, self.scalars, self.identifier, guid, self.lengths, folder)
        if kind.equations == "interpreted":
            self.report("Writing the equations as tapes")
            native.write_descriptor(self.equations, self.scalars, guid, folder / "resources", self.lengths)
            for platform in kind.platforms:
                native.copy_library(self.identifier, folder, platform, fmi)
        if sources is not None:
            (folder / "sources").mkdir()
            for file in sources.files:
                shutil.copyfile(file, folder / "sources" / file.name)
            if fmi == 3:
                description = build_description(self.identifier, sources.units)
                (folder / "sources" / "buildDescription.xml").write_bytes(description)

    def _write_libraries(self, folder: pathlib.Path, compiling: Mapping[str, Compilation]) -> None:
        """Wait for the compilers, and write what they made."""
        for platform, started in compiling.items():
            self.report(f"Compiling for {platform}")
            native.write_library(folder, platform, self.identifier, started, self.options.fmi)
        if self.options.fmi == 2:
            native.stand_in(folder, self.options.kind.platforms)


def _integration(equations: Equations) -> str:
    """Tell how the FMU integrates."""
    names = {"auto": "explicit, implicit where the model turns out to be stiff"}
    method = names.get(equations.solver, equations.solver)
    return f"{method}; fixed steps of {equations.fixed_step:g} s" if equations.fixed_step else method
