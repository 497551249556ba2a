"""Combining, splitting and showing signals (Modelica.Blocks.Routing and Blocks.Interaction.Show 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.blocks.interfaces import MIMO, MISO, SIMO, MIMOs
from mbfmu.errors import ModelError
from mbfmu.modeling import (
    BooleanInput,
    BooleanOutput,
    Component,
    IntegerInput,
    IntegerOutput,
    Parameter,
    RealInput,
    RealOutput,
    required,
)
from mbfmu.modeling import types as t


class RealPassThrough(Component):
    """Pass a Real signal through without modification."""

    modelica_name = "Blocks.Routing.RealPassThrough"

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = self.u


class Replicator(SIMO):
    """Signal replicator."""

    modelica_name = "Blocks.Routing.Replicator"

    def equations(self) -> None:
        self.y = ca.repmat(self.u, self.nout, 1)


class ExtractSignal(MIMO):
    """Extract signals from an input signal vector."""

    modelica_name = "Blocks.Routing.ExtractSignal"

    extract = Parameter(t.Integer, lambda self: tuple(range(1, self.nout + 1)), "Extracting vector", shape=None)

    def equations(self) -> None:
        wanted = (self.extract,) if isinstance(self.extract, int) else tuple(self.extract)
        if len(wanted) != self.nout or not all(1 <= i <= self.nin for i in wanted):
            raise ModelError(
                f"{self._component.where}.extract = {wanted}: expected nout = {self.nout} numbers from "
                f"1 to nin = {self.nin}"
            )
        self.y = ca.vertcat(*(self.u[i - 1] for i in wanted))


class _Multiplex(Component):
    """Vector that consists of the elements of several ones."""

    #: Number of vectors.
    count = 0

    def equations(self) -> None:
        self.y = ca.vertcat(*(getattr(self, f"u{i}") for i in range(1, self.count + 1)))


class _DeMultiplex(Component):
    """Vector taken apart into several ones."""

    #: Number of vectors.
    count = 0

    def equations(self) -> None:
        at = 0
        for i in range(1, self.count + 1):
            size = getattr(self, f"n{i}")
            setattr(self, f"y{i}", self.u[at : at + size])
            at += size


def _sizes(count: int, what: str) -> dict[str, Any]:
    return {
        f"n{i}": Parameter(t.Integer, 1, f"Dimension of {what} signal connector {i}", min=1)
        for i in range(1, count + 1)
    }


def _total(count: int) -> Any:
    return lambda self: (sum(getattr(self, f"n{i}") for i in range(1, count + 1)),)


def _part(i: int) -> Any:
    return lambda self: (getattr(self, f"n{i}"),)


def _multiplex(count: int) -> type[_Multiplex]:
    inputs = {f"u{i}": RealInput(f"Connector of Real input signals {i}", shape=_part(i)) for i in range(1, count + 1)}
    return type(
        f"Multiplex{count}",
        (_Multiplex,),
        {
            "__doc__": f"Multiplexer block for {count} input connectors.",
            "__module__": __name__,
            "count": count,
            "modelica_name": f"Blocks.Routing.Multiplex{count}",
            **_sizes(count, "input"),
            **inputs,
            "y": RealOutput("Connector of Real output signals", shape=_total(count)),
        },
    )


def _demultiplex(count: int) -> type[_DeMultiplex]:
    outputs = {
        f"y{i}": RealOutput(f"Connector of Real output signals {i}", shape=_part(i)) for i in range(1, count + 1)
    }
    return type(
        f"DeMultiplex{count}",
        (_DeMultiplex,),
        {
            "__doc__": f"DeMultiplexer block for {count} output connectors.",
            "__module__": __name__,
            "count": count,
            "modelica_name": f"Blocks.Routing.DeMultiplex{count}",
            **_sizes(count, "output"),
            **outputs,
            "u": RealInput("Connector of Real input signals", shape=_total(count)),
        },
    )


Multiplex2, Multiplex3, Multiplex4, Multiplex5, Multiplex6 = (_multiplex(n) for n in range(2, 7))
DeMultiplex2, DeMultiplex3, DeMultiplex4, DeMultiplex5, DeMultiplex6 = (_demultiplex(n) for n in range(2, 7))


class IntegerPassThrough(RealPassThrough):
    """Pass an Integer signal through without modification."""

    modelica_name = "Blocks.Routing.IntegerPassThrough"

    u = IntegerInput("Connector of Integer input signal")
    y = IntegerOutput("Connector of Integer output signal")


class BooleanPassThrough(RealPassThrough):
    """Pass a Boolean signal through without modification."""

    modelica_name = "Blocks.Routing.BooleanPassThrough"

    u = BooleanInput("Connector of Boolean input signal")
    y = BooleanOutput("Connector of Boolean output signal")


class IntegerReplicator(Replicator):
    """Integer signal replicator."""

    modelica_name = "Blocks.Routing.IntegerReplicator"

    u = IntegerInput("Connector of Integer input signal")
    y = IntegerOutput("Connector of Integer output signals", shape=lambda self: (self.nout,))


class BooleanReplicator(Replicator):
    """Boolean signal replicator."""

    modelica_name = "Blocks.Routing.BooleanReplicator"

    u = BooleanInput("Connector of Boolean input signal")
    y = BooleanOutput("Connector of Boolean output signals", shape=lambda self: (self.nout,))


class _Whole(MIMOs):
    """Vector that passes through as it is."""

    n = Parameter(t.Integer, required, "Dimension of signal connector", min=1)

    def equations(self) -> None:
        self.y = self.u


class Multiplex(_Whole):
    """Multiplexer block for arbitrary number of input connectors."""

    modelica_name = "Blocks.Routing.Multiplex"


class DeMultiplex(_Whole):
    """DeMultiplexer block for arbitrary number of output connectors."""

    modelica_name = "Blocks.Routing.DeMultiplex"


class Extractor(MISO):
    """Extract scalar signal out of signal vector dependent on an index."""

    modelica_name = "Blocks.Routing.Extractor"

    allowOutOfRange = Parameter(t.Boolean, False, "= true, if index may be out of range")
    outOfRangeValue = Parameter(t.Real, 1e10, "Output signal if index is out of range")
    index = IntegerInput("Index of the element, from 1 to nin")

    def equations(self) -> None:
        value = self.outOfRangeValue
        for i in range(self.nin):
            value = ca.if_else(ca.fabs(self.index - i - 1) < 0.5, self.u[i], value)
        self.y = value
        if not self.allowOutOfRange:
            self.require(ca.fmin(self.index, self.nin + 1 - self.index) - 0.5, "the input index is out of range")


class RealValue(Component):
    """Show the value of a Real in a diagram: here, as a variable of the FMU.

    What changes with time comes through numberPort; in the library a modifier of `number` may do so, too.
    """

    modelica_name = "Blocks.Interaction.Show.RealValue"

    use_numberPort = Parameter(t.Boolean, True, "= true, if numberPort enabled")
    number = Parameter(t.Real, 0.0, "Number to visualize if use_numberPort=false", tunable=True)
    significantDigits = Parameter(t.Integer, 2, "Number of digits shown in a diagram (no effect)", min=2)
    numberPort = RealInput("Number to be shown, if use_numberPort=true", when=lambda self: self.use_numberPort)
    showNumber = RealOutput("The number that is shown")

    def equations(self) -> None:
        self.showNumber = self.numberPort if self.use_numberPort else self.number


class IntegerValue(Component):
    """Show the value of an Integer in a diagram: here, as a variable of the FMU."""

    modelica_name = "Blocks.Interaction.Show.IntegerValue"

    use_numberPort = Parameter(t.Boolean, True, "= true, if numberPort enabled")
    number = Parameter(t.Integer, 0, "Number to visualize if use_numberPort=false")
    numberPort = IntegerInput("Number to be shown, if use_numberPort=true", when=lambda self: self.use_numberPort)
    showNumber = IntegerOutput("The number that is shown")

    def equations(self) -> None:
        self.showNumber = self.numberPort if self.use_numberPort else float(self.number)


class BooleanValue(Component):
    """Show the value of a Boolean in a diagram: here, as a variable of the FMU."""

    modelica_name = "Blocks.Interaction.Show.BooleanValue"
    own_words = frozenset({"active"})

    use_activePort = Parameter(t.Boolean, True, "= true, if activePort enabled")
    active = Parameter(t.Boolean, False, "Boolean to visualize if use_activePort=false")
    activePort = BooleanInput("Boolean to be shown, if use_activePort=true", when=lambda self: self.use_activePort)
    showActive = BooleanOutput("The Boolean that is shown")

    def equations(self) -> None:
        self.showActive = self.activePort if self.use_activePort else float(self.active)


__all__ = [
    "BooleanPassThrough",
    "BooleanReplicator",
    "BooleanValue",
    "DeMultiplex",
    "DeMultiplex2",
    "DeMultiplex3",
    "DeMultiplex4",
    "DeMultiplex5",
    "DeMultiplex6",
    "ExtractSignal",
    "Extractor",
    "IntegerPassThrough",
    "IntegerReplicator",
    "IntegerValue",
    "Multiplex",
    "Multiplex2",
    "Multiplex3",
    "Multiplex4",
    "Multiplex5",
    "Multiplex6",
    "RealPassThrough",
    "RealValue",
    "Replicator",
]
