"""Assembly: a mechanism made of components, in Python."""

from __future__ import annotations

import dataclasses
import difflib
import html
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling.component import Component, shown
from mbfmu.modeling.connectors import Connector, Reference, Signal, SignalOutput
from mbfmu.modeling.declarations import Declaration, checked_numbers
from mbfmu.modeling.figures import Drawn
from mbfmu.modeling.inputs import AssemblyInput, check_input
from mbfmu.modeling.names import checked_name, checked_text
from mbfmu.modeling.notebook import html_table
from mbfmu.modeling.types import Real, Type

#: Attributes of an assembly that make its experiment, and their names in assembly files.
EXPERIMENT = {
    "start_time": "start",
    "stop_time": "stop",
    "tolerance": "tolerance",
    "interval": "interval",
    "solver": "solver",
}


class Assembly(Component):
    """A mechanism: assign components to attributes, connect them, name inputs and outputs. ::

        class Pendulum(Assembly):
            "A box on a hinge."

            def __init__(self):
                self.world = World()
                self.revolute = Revolute(phi=Start(0.5, fixed=True), w=Start(0.0, fixed=True))
                self.box = BodyBox(r=(0.5, 0, 0), width=0.06)
                self.connect(self.world.frame_b, self.revolute.frame_a)
                self.connect(self.revolute.frame_b, self.box.frame_a)
                self.output(self.revolute.phi)

    An assembly is a component: it can be a part of another one, where an outer World takes the place of its own.
    `start_time`, `stop_time`, `tolerance` and `interval`, the distance of recorded points (None: a 500th of the run),
    are those of simulate() and of the FMU's DefaultExperiment; `solver` says how both integrate: `explicit`, `implicit`
    (for stiff models), or `auto`, explicit until the model turns out to be stiff.
    """

    #: True where connections to what parameters switch off are left out with a warning, as Modelica does in silence.
    drops_connections: ClassVar[bool] = False
    takes_attributes = True
    start_time: float = 0.0
    stop_time: float = 1.0
    tolerance: float = 1e-6
    interval: float | None = None
    solver: str = "auto"
    #: What the reader of a file has to say about what it read: choices made, names changed, elements left out.
    notes: tuple[str, ...] = ()
    #: Of the file that it was read from: files that it names stand beside that.
    folder: str | None = None
    #: That file itself.
    source_file: str | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Assembly:
        """An empty assembly: `__init__` of a subclass need not call this class's."""
        self = super().__new__(cls, *args, **kwargs)
        vars(self).update(_inputs={}, _outputs={}, _figures={})
        assert isinstance(self, Assembly)
        return self

    @property
    def inputs(self) -> dict[str, AssemblyInput]:
        """Inputs of the FMU by name: the signal that each feeds, its start value, bounds and unit."""
        return self._inputs

    @property
    def outputs(self) -> dict[str, Reference | tuple[Reference, ...]]:
        """Outputs of the FMU: name -> variable or signal, of some arrays the scalars that are their elements."""
        return self._outputs

    def input(
        self,
        target: Connector | Sequence[Connector],
        name: str | None = None,
        start: float | Sequence[float] | None = None,
        *,
        min: float | Sequence[float] | None = None,
        max: float | Sequence[float] | None = None,
        unit: str | None = None,
    ) -> None:
        """Make an input signal of a component an input of the FMU, under its own name or `name`. ::

            self.input(self.torque.tau, "torque", min=-200, max=200)
            self.input(self.steering.phi_ref, "steering", min=-30, max=30, unit="deg")

        A vector signal is one input, an array; so are several signals, given as a list with a `name`: ::

            self.input([self.motor1.tau, self.motor2.tau], "tau", start=[0.5, -0.5])

        FMI 3.0 has them as arrays, FMI 2.0 their elements `tau[1]`, `tau[2]`.

        Args:
            target: A signal connector, or a list of such.
            name: Of the input; the signal's path where None.
            start: Its value until somebody sets it, a list for an array; True or False (or 1, 0) for a Boolean.
            min: Least value that it takes: what sliders span, and what series of inputs must not go below.
            max: Greatest value.
            unit: Of the input, and so of `start`, `min`, `max` and of all values that it is given. A signal that has a
                unit gets them converted to its own; one that has none takes this one.

        The same again changes what is given, and leaves the rest as it was.

        Raises:
            ModelError: no signal input, a name that is taken or that FMI forbids, several signals without a name or of
                different types, numbers of another size, bounds that leave no start value, a unit that does not fit.
        """
        several = isinstance(target, list | tuple)
        connectors = tuple(target) if isinstance(target, list | tuple) else (target,)
        for connector in connectors:
            if not isinstance(connector, Connector) or not isinstance(connector.port, Signal):
                raise ModelError(
                    f"{self.where}: input() takes a signal connector such as torque.tau, got {shown(connector)}"
                )
            if isinstance(connector.port, SignalOutput) and connector.owner is not self:
                raise ModelError(
                    f"{self.where}: {connector.path} is an output of {connector.owner.title}; input() takes an input"
                )
        if name is None:
            if several:
                raise ModelError(f"{self.where}: an input of several signals has no name; give it one, name='u'")
            name = connectors[0].path
        if several:
            _check_alike(name, connectors)
        before = self._inputs.get(name)
        if before is None or _placed(before.target) != _placed(connectors):
            name = self._new_name("input", name)
            before = AssemblyInput(connectors if several else connectors[0])
        given = {key: v for key, v in {"start": start, "min": min, "max": max, "unit": unit}.items() if v is not None}
        declared = dataclasses.replace(before, **given)
        check_input(name, declared, sum(len(connector.places) for connector in connectors))
        self._inputs[name] = declared

    def output(
        self, variable: Reference | Connector | Sequence[Reference | Connector], name: str | None = None
    ) -> None:
        """Make a variable or an output signal of a component an output of the FMU, under its own name or `name`.

        Vectors and matrices are taken whole, as arrays: FMI 2.0 has their elements `name[1]`, `name[2]` ... So are
        several scalars, given as a list with a `name`: ::

            self.output([self.joint1.phi, self.joint2.phi], "phi")

        One variable may be given under several names; `name` may be the variable's own path, which is what it has
        without.

        Raises:
            ModelError: no variable or signal, the same output again, several without a name, or a name that is taken
                or that FMI forbids.
        """
        given = list(variable) if isinstance(variable, list | tuple) else [variable]
        found = [r for one in given for r in (one.references() if isinstance(one, Connector) else [one])]
        references = [one for one in found if isinstance(one, Reference)]
        if len(references) < len(found):
            other = next(one for one in found if not isinstance(one, Reference))
            raise ModelError(f"{self.where}: output() takes a variable such as revolute.phi, got {shown(other)}")
        if isinstance(variable, list | tuple) and (name is None or not found):
            raise ModelError(
                f"{self.where}: an output of several variables has {'no name' if found else 'no elements'}; "
                "name both, as in output([joint1.phi, joint2.phi], 'phi')"
            )
        if name is not None and (len(found) > 1 or isinstance(variable, list | tuple)):
            before = self._outputs.get(name)
            if isinstance(before, tuple) and [r.path for r in before] == [r.path for r in references]:
                raise ModelError(f"output {name}: is there already; leave it out, or name another variable")
            self._outputs[self._new_name("output", name)] = tuple(references)
            return
        for reference in references:
            label = reference.path if name is None else name
            known = self._outputs.get(label)
            if isinstance(known, Reference) and known.path == reference.path:
                raise ModelError(f"output {label}: is there already; leave it out, or name another variable")
            self._outputs[self._new_name("output", label)] = reference

    @property
    def figures(self) -> dict[str, Drawn]:
        """Figures by title, in the order of their making."""
        return self._figures

    def figure(
        self,
        title: str,
        curves: Sequence[Reference | Connector] | Mapping[str, Reference | Connector],
        caption: str = "",
    ) -> None:
        """Propose a figure: variables that are worth drawing together. ::

            self.figure("Angles", [self.revolute1.phi, self.revolute2.phi])
            self.figure("Energy", {"in the spring": self.spring.E}, caption="What the damper has left.")

        `result.plot()` and `simulate --plot` draw it, one axis per unit, the FMU's documentation lists it, and
        OpenModelica takes it for default plots. A mapping gives each curve a name for the legend; vectors are drawn
        whole. The same title again replaces a figure.

        Raises:
            ModelError: no title, no curves, or something that is no variable or signal.
        """
        checked_text(title, f"{self.where}: title of a figure")
        checked_text(caption, f"figure {title}: caption")
        if not title.strip():
            raise ModelError(f'{self.where}: a figure has no title; name it, as in figure("Angles", [revolute.phi])')
        named = curves.items() if isinstance(curves, Mapping) else [("", curve) for curve in _listed(title, curves)]
        found = []
        for legend, curve in named:
            references = curve.references() if isinstance(curve, Connector) else [curve]
            if not all(isinstance(reference, Reference) for reference in references):
                raise ModelError(f"figure {title}: draws variables such as revolute.phi, got {shown(curve)}")
            found += [(checked_text(legend, f"figure {title}: legend"), one) for one in references]
        if not found:
            raise ModelError(f"figure {title}: has no curves; name variables such as revolute.phi")
        self._figures[title] = Drawn(tuple(found), caption)

    def _new_name(self, what: str, name: str) -> str:
        """Return the name of an input or output, which must not be taken."""
        checked_name(name, f"{what} {name}")
        for kind, names in (("input", self._inputs), ("output", self._outputs)):
            if name in names:
                raise ModelError(
                    f"{what} {name}: there is an {kind} of this name already; give it another with "
                    f"{what}(..., name=...)"
                )
        return name

    @property
    def name(self) -> str:
        """Name of the system and its FMU: the class's."""
        return type(self).__name__

    @property
    def description(self) -> str:
        """One line that says what the assembly is: the first of its docstring."""
        doc = type(self).__doc__ or ""
        return doc.strip().splitlines()[0] if doc.strip() else type(self).__name__

    def _repr_html_(self) -> str:
        rows = [(path, type(part).__name__, (type(part).__doc__ or "").strip().partition("\n")[0])
                for path, part in self.parts.items()]  # fmt: skip
        interface = "; ".join(
            f"{what}: {', '.join(names)}" for what, names in (("in", self.inputs), ("out", self.outputs)) if names
        )
        return (
            f"<div><b>{html.escape(self.name)}</b> {html.escape(self.description)}</div>"
            f"<div>{len(self.connections)} connections, {self.start_time:g} .. {self.stop_time:g} s</div>"
            f"<div>{html.escape(interface)}</div>{html_table(('component', 'class', 'description'), rows)}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in EXPERIMENT or isinstance(value, Component):
            _refuse_misspelt(self.where, name, value)
            super().__setattr__(name, value)
        elif name == "solver" or (name == "interval" and value is None):
            object.__setattr__(self, name, value)
        else:
            checked_numbers(value, f"{self.where}: {name} = {value!r:.60}")
            if np.ndim(value):
                raise ModelError(f"{self.where}: {name} = {value!r:.60}: give one number, in SI units")
            object.__setattr__(self, name, float(value))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name, value in vars(cls).items():
            if isinstance(value, Declaration) and name in vars(Assembly):
                raise ModelError(
                    f"{cls.__name__}: {name!r} is part of what every assembly has, and cannot be declared; choose "
                    "another name"
                )
            _refuse_misspelt(cls.__name__, name, value)
        super().__init_subclass__(**kwargs)

    @classmethod
    def _is_word(cls, name: str) -> bool:
        """The same, but for the start of the experiment."""
        return name not in EXPERIMENT and super()._is_word(name)


def _placed(target: Connector | tuple[Connector, ...]) -> list[tuple[str, tuple[int, ...] | None]]:
    """What tells signals apart: where they are, and which of their elements."""
    return [(one.path, one.elements) for one in (target if isinstance(target, tuple) else (target,))]


def _check_alike(name: str, connectors: Sequence[Connector]) -> None:
    """Refuse an array of no signals, or of signals that differ in type or unit."""
    if not connectors:
        raise ModelError(f"input {name}: has no signals; name them, as in input([motor1.tau, motor2.tau], 'tau')")
    first = connectors[0]

    def signal_type(connector: Connector) -> Type:
        assert isinstance(connector.port, Signal)
        return connector.port.type

    for other in connectors[1:]:
        a, b = (signal_type(connector) for connector in (first, other))
        if (a.base, a.unit) != (b.base, b.unit):
            kinds = (f"{connector.path} ({signal_type(connector).name})" for connector in (first, other))
            raise ModelError(f"input {name}: an array has one type, {' and '.join(kinds)} differ; make two inputs")


def _refuse_misspelt(where: str, name: str, value: Any) -> None:
    """Refuse a number under a name that is nearly one of the experiment's: it would have no effect."""
    if name in EXPERIMENT or not isinstance(value, int | float):
        return
    near = difflib.get_close_matches(name.lower(), [*EXPERIMENT, *_OTHERS], n=1, cutoff=0.85)
    if near and name != f"{near[0]}s":  # a plural is meant
        known = _OTHERS.get(near[0], near[0])
        raise ModelError(f"{where}: {name} = {value!r} has no effect; did you mean {known}? Else choose another name")


#: What other tools call them.
_OTHERS = {"stoptime": "stop_time", "starttime": "start_time", "end_time": "stop_time", "output_interval": "interval"}


def _listed(title: str, curves: Any) -> list[Any]:
    if isinstance(curves, list | tuple):
        return list(curves)
    raise ModelError(f"figure {title}: takes a list of variables, as in [revolute.phi], got {curves!r}")


__all__ = ["Assembly", "Real", "Type"]
