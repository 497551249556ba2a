"""Sources of voltage and current (Modelica.Electrical.Analog.Sources 4.1).

Those that are functions of time are the signal sources of mbfmu.components.blocks between two pins: they stop a runtime
at the same instants, and repeat themselves in the same way.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from mbfmu.components.blocks import sources as signals
from mbfmu.components.blocks.tables import TimeTable
from mbfmu.components.electrical.interfaces import NegativePin, OnePort, PositivePin, VoltagePort
from mbfmu.modeling import Component, NetworkVariable, Parameter, RealInput, State, Variable, required
from mbfmu.modeling import types as t


class SignalVoltage(Component):
    """Generic voltage source using the input signal as source voltage."""

    modelica_name = "Electrical.Analog.Sources.SignalVoltage"

    p = PositivePin("Positive electrical pin")
    n = NegativePin("Negative electrical pin")
    v = RealInput("Voltage between pin p and n (= p.v - n.v) as input signal", type=t.Voltage)
    i = NetworkVariable(t.Current, "Current flowing from pin p to pin n", start=0.0)

    def equations(self) -> None:
        self.relation(self.p.v - self.n.v - self.v)
        self.p.i, self.n.i = self.i, -self.i


class SignalCurrent(Component):
    """Generic current source using the input signal as source current."""

    modelica_name = "Electrical.Analog.Sources.SignalCurrent"

    p = PositivePin("Positive electrical pin")
    n = NegativePin("Negative electrical pin")
    i = RealInput("Current flowing from pin p to pin n as input signal", type=t.Current)
    v = Variable(t.Voltage, "Voltage drop of the two pins (= p.v - n.v)")

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.p.i, self.n.i = self.i, -self.i


class ConstantVoltage(VoltagePort):
    """Source for constant voltage."""

    modelica_name = "Electrical.Analog.Sources.ConstantVoltage"

    V = Parameter(t.Voltage, required, "Value of constant voltage", tunable=True)

    def voltage(self) -> Any:
        return self.V


class ConstantCurrent(OnePort):
    """Source for constant current."""

    modelica_name = "Electrical.Analog.Sources.ConstantCurrent"

    I = Parameter(t.Current, required, "Value of constant current", tunable=True)  # noqa: E741 - Modelica's name

    def current(self) -> Any:
        return self.I


class _VariableSine(Component):
    """Wave whose amplitude and frequency may be signals."""

    useConstantAmplitude = Parameter(t.Boolean, False, "Enable constant amplitude")
    useConstantFrequency = Parameter(t.Boolean, False, "Enable constant frequency")
    constantFrequency = Parameter(t.Frequency, 1.0, "Constant frequency")
    f = RealInput("Frequency", type=t.Frequency, when=lambda self: not self.useConstantFrequency)
    phi = State(t.Angle, "Phase of the wave", start=0.0)

    #: What becomes of the phase.
    shape: ClassVar[Any]

    def wave(self, amplitude: Any) -> Any:
        """The wave of an amplitude."""
        self.der.phi = 2 * math.pi * (self.constantFrequency if self.useConstantFrequency else self.f)
        return self.offset + amplitude * type(self).shape(self.phi)


class _VariableVoltage(_VariableSine, VoltagePort):
    """Voltage source with variable frequency and amplitude."""

    constantAmplitude = Parameter(t.Voltage, 1.0, "Constant amplitude")
    offset = Parameter(t.Voltage, 0.0, "Offset of the wave")
    V = RealInput("Amplitude", type=t.Voltage, when=lambda self: not self.useConstantAmplitude)

    def voltage(self) -> Any:
        return self.wave(self.constantAmplitude if self.useConstantAmplitude else self.V)


class _VariableCurrent(_VariableSine, OnePort):
    """Current source with variable frequency and amplitude."""

    constantAmplitude = Parameter(t.Current, 1.0, "Constant amplitude")
    offset = Parameter(t.Current, 0.0, "Offset of the wave")
    I = RealInput("Amplitude", type=t.Current, when=lambda self: not self.useConstantAmplitude)  # noqa: E741

    def current(self) -> Any:
        return self.wave(self.constantAmplitude if self.useConstantAmplitude else self.I)


class SineVoltageVariableFrequencyAndAmplitude(_VariableVoltage):
    """Sine voltage source with variable frequency and amplitude."""

    modelica_name = "Electrical.Analog.Sources.SineVoltageVariableFrequencyAndAmplitude"
    shape = staticmethod(ca.sin)


class CosineVoltageVariableFrequencyAndAmplitude(_VariableVoltage):
    """Cosine voltage source with variable frequency and amplitude."""

    modelica_name = "Electrical.Analog.Sources.CosineVoltageVariableFrequencyAndAmplitude"
    shape = staticmethod(ca.cos)


class SineCurrentVariableFrequencyAndAmplitude(_VariableCurrent):
    """Sine current source with variable frequency and amplitude."""

    modelica_name = "Electrical.Analog.Sources.SineCurrentVariableFrequencyAndAmplitude"
    shape = staticmethod(ca.sin)


class CosineCurrentVariableFrequencyAndAmplitude(_VariableCurrent):
    """Cosine current source with variable frequency and amplitude."""

    modelica_name = "Electrical.Analog.Sources.CosineCurrentVariableFrequencyAndAmplitude"
    shape = staticmethod(ca.cos)


class SupplyVoltage(Component):
    """Supply voltage (positive and negative)."""

    modelica_name = "Electrical.Analog.Sources.SupplyVoltage"

    Vps = Parameter(t.Voltage, 15.0, "Positive supply")
    Vns = Parameter(t.Voltage, -15.0, "Negative supply")
    pin_p = PositivePin("Positive supply")
    pin_n = NegativePin("Negative supply")
    ground = NegativePin("Middle")

    def build(self) -> None:
        self.positiveSupply, self.negativeSupply = ConstantVoltage(V=self.Vps), ConstantVoltage(V=-self.Vns)
        self.connect(self.pin_p, self.positiveSupply.p)
        self.connect(self.negativeSupply.n, self.pin_n)
        self.connect(self.positiveSupply.n, self.ground)
        self.connect(self.ground, self.negativeSupply.p)


class _SignalSource:
    """A component in place of a signal source: it has the source's methods, and its parameters by other names."""

    def __init__(self, component: Any, source: type[signals.Source], renamed: Mapping[str, str]) -> None:
        self._component, self._source, self._renamed = component, source, renamed

    def __getattr__(self, name: str) -> Any:
        method = inspect.getattr_static(self._source, name, None)
        if inspect.isfunction(method):
            return functools.partial(method, self)
        return getattr(self._component, self._renamed.get(name, name))


class _OfTime(Component):
    """Source whose value is a function of time: that of a signal source, given by parameters of this component."""

    #: Class of the signal source, and which of its parameters have another name here.
    source: ClassVar[type[signals.Source]]
    renamed: ClassVar[Mapping[str, str]] = {}

    startTime = Parameter(t.Time, 0.0, "Time offset")

    def value_now(self) -> Any:
        """Value of the signal source."""
        source = _SignalSource(self, self.source, self.renamed)
        return source.signal(source)


class VoltageSource(_OfTime, VoltagePort):
    """Interface for voltage sources that are functions of time."""

    offset = Parameter(t.Voltage, 0.0, "Voltage offset", tunable=True)

    def voltage(self) -> Any:
        return self.value_now()


class CurrentSource(_OfTime, OnePort):
    """Interface for current sources that are functions of time."""

    offset = Parameter(t.Current, 0.0, "Current offset", tunable=True)

    def current(self) -> Any:
        return self.value_now()


class _Wave(Component):
    """Parameters of an oscillation."""

    f = Parameter(t.Frequency, required, "Frequency of the oscillation")
    phase = Parameter(t.Angle, 0.0, "Phase of the oscillation")

    continuous = False


class _Damped(_Wave):
    """Parameters of a damped oscillation."""

    damping = Parameter(t.Type("Damping", unit="1/s"), required, "Damping coefficient of the oscillation")


class _Rise(Component):
    """Parameters of a rise and fall."""

    riseTime = Parameter(t.Time, required, "Rise time", min=0)
    riseTimeConst = Parameter(t.Time, required, "Rise time constant", min=1e-60)
    fallTimeConst = Parameter(t.Time, required, "Fall time constant", min=1e-60)


class _Period(Component):
    """Parameters of a signal that repeats itself for ever."""

    period = Parameter(t.Time, required, "Length of one period", min=1e-60)

    nperiod = -1


class _Pulse(_Period):
    """Parameters of a pulse."""

    width = Parameter(t.Real, required, "Width of pulse in % of period", min=0, max=100)


class _Trapezoid(Component):
    """Parameters of a trapezoid."""

    rising = Parameter(t.Time, required, "Rising duration of trapezoid", min=0)
    width = Parameter(t.Time, required, "Width duration of trapezoid", min=0)
    falling = Parameter(t.Time, required, "Falling duration of trapezoid", min=0)
    period = Parameter(t.Time, required, "Time for one period", min=1e-60)
    nperiod = Parameter(t.Integer, required, "Number of periods (< 0 means infinite number of periods)")


class _Ramp(Component):
    """Parameters of a ramp."""

    duration = Parameter(t.Time, required, "Duration of ramp", min=0)


class StepVoltage(VoltageSource):
    """Step voltage source."""

    modelica_name = "Electrical.Analog.Sources.StepVoltage"

    V = Parameter(t.Voltage, required, "Height of step", tunable=True)
    source, renamed = signals.Step, {"height": "V"}


class StepCurrent(CurrentSource):
    """Step current source."""

    modelica_name = "Electrical.Analog.Sources.StepCurrent"

    I = Parameter(t.Current, required, "Height of step", tunable=True)  # noqa: E741
    source, renamed = signals.Step, {"height": "I"}


class RampVoltage(_Ramp, VoltageSource):
    """Ramp voltage source."""

    modelica_name = "Electrical.Analog.Sources.RampVoltage"

    V = Parameter(t.Voltage, required, "Height of ramp")
    source, renamed = signals.Ramp, {"height": "V"}


class RampCurrent(_Ramp, CurrentSource):
    """Ramp current source."""

    modelica_name = "Electrical.Analog.Sources.RampCurrent"

    I = Parameter(t.Current, required, "Height of ramp")  # noqa: E741
    source, renamed = signals.Ramp, {"height": "I"}


class SineVoltage(_Wave, VoltageSource):
    """Sine voltage source."""

    modelica_name = "Electrical.Analog.Sources.SineVoltage"

    V = Parameter(t.Voltage, required, "Amplitude of sine wave", tunable=True)
    source, renamed = signals.Sine, {"amplitude": "V"}


class SineCurrent(_Wave, CurrentSource):
    """Sine current source."""

    modelica_name = "Electrical.Analog.Sources.SineCurrent"

    I = Parameter(t.Current, required, "Amplitude of sine wave", tunable=True)  # noqa: E741
    source, renamed = signals.Sine, {"amplitude": "I"}


class CosineVoltage(_Wave, VoltageSource):
    """Cosine voltage source."""

    modelica_name = "Electrical.Analog.Sources.CosineVoltage"

    V = Parameter(t.Voltage, required, "Amplitude of cosine wave", tunable=True)
    source, renamed = signals.Cosine, {"amplitude": "V"}


class CosineCurrent(_Wave, CurrentSource):
    """Cosine current source."""

    modelica_name = "Electrical.Analog.Sources.CosineCurrent"

    I = Parameter(t.Current, required, "Amplitude of cosine wave", tunable=True)  # noqa: E741
    source, renamed = signals.Cosine, {"amplitude": "I"}


class ExpSineVoltage(_Damped, VoltageSource):
    """Exponentially damped sine voltage source."""

    modelica_name = "Electrical.Analog.Sources.ExpSineVoltage"

    V = Parameter(t.Voltage, required, "Amplitude of sine wave", tunable=True)
    source, renamed = signals.ExpSine, {"amplitude": "V"}


class ExpSineCurrent(_Damped, CurrentSource):
    """Exponentially damped sine current source."""

    modelica_name = "Electrical.Analog.Sources.ExpSineCurrent"

    I = Parameter(t.Current, required, "Amplitude of sine wave", tunable=True)  # noqa: E741
    source, renamed = signals.ExpSine, {"amplitude": "I"}


class ExponentialsVoltage(_Rise, VoltageSource):
    """Rising and falling exponential voltage source."""

    modelica_name = "Electrical.Analog.Sources.ExponentialsVoltage"

    vMax = Parameter(t.Voltage, required, "Upper bound for rising edge")
    source, renamed = signals.Exponentials, {"outMax": "vMax"}


class ExponentialsCurrent(_Rise, CurrentSource):
    """Rising and falling exponential current source."""

    modelica_name = "Electrical.Analog.Sources.ExponentialsCurrent"

    iMax = Parameter(t.Current, required, "Upper bound for rising edge")
    source, renamed = signals.Exponentials, {"outMax": "iMax"}


class PulseVoltage(_Pulse, VoltageSource):
    """Pulse voltage source."""

    modelica_name = "Electrical.Analog.Sources.PulseVoltage"

    V = Parameter(t.Voltage, required, "Amplitude of pulse")
    source, renamed = signals.Pulse, {"amplitude": "V"}


class PulseCurrent(_Pulse, CurrentSource):
    """Pulse current source."""

    modelica_name = "Electrical.Analog.Sources.PulseCurrent"

    I = Parameter(t.Current, required, "Amplitude of pulse")  # noqa: E741
    source, renamed = signals.Pulse, {"amplitude": "I"}


class SawToothVoltage(_Period, VoltageSource):
    """Saw tooth voltage source."""

    modelica_name = "Electrical.Analog.Sources.SawToothVoltage"

    V = Parameter(t.Voltage, required, "Amplitude of saw tooth")
    source, renamed = signals.SawTooth, {"amplitude": "V"}


class SawToothCurrent(_Period, CurrentSource):
    """Saw tooth current source."""

    modelica_name = "Electrical.Analog.Sources.SawToothCurrent"

    I = Parameter(t.Current, required, "Amplitude of saw tooth")  # noqa: E741
    source, renamed = signals.SawTooth, {"amplitude": "I"}


class _Table(Component):
    """Source whose value is interpolated in a table of time; what comes after its end follows its last segment."""

    table = Parameter(
        t.Real, ((0.0, 0.0), (1.0, 1.0), (2.0, 4.0)), "Table matrix (time, value)", shape=None, structural=True
    )
    startTime = Parameter(t.Time, 0.0, "Time offset")
    p = PositivePin("Positive electrical pin")
    n = NegativePin("Negative electrical pin")
    v = Variable(t.Voltage, "Voltage drop of the two pins (= p.v - n.v)")
    i = Variable(t.Current, "Current flowing from pin p to pin n")

    #: Class of the source, and which input takes the value.
    driven: ClassVar[tuple[type[Component], str]]

    def build(self) -> None:
        kind, signal = self.driven
        self.signalSource = TimeTable(table=self.table, offset=self.offset, startTime=self.startTime)
        self.source = kind()
        self.connect(self.signalSource.y, getattr(self.source, signal))
        self.connect(self.p, self.source.p)
        self.connect(self.source.n, self.n)

    def equations(self) -> None:
        self.v, self.i = self.source.v, self.source.i


class TableVoltage(_Table):
    """Voltage source by linear interpolation in a table."""

    modelica_name = "Electrical.Analog.Sources.TableVoltage"

    offset = Parameter(t.Voltage, 0.0, "Voltage offset", tunable=True)
    driven = SignalVoltage, "v"


class TableCurrent(_Table):
    """Current source by linear interpolation in a table."""

    modelica_name = "Electrical.Analog.Sources.TableCurrent"

    offset = Parameter(t.Current, 0.0, "Current offset", tunable=True)
    driven = SignalCurrent, "i"


class TrapezoidVoltage(_Trapezoid, VoltageSource):
    """Trapezoidal voltage source."""

    modelica_name = "Electrical.Analog.Sources.TrapezoidVoltage"

    V = Parameter(t.Voltage, required, "Amplitude of trapezoid")
    source, renamed = signals.Trapezoid, {"amplitude": "V"}


class TrapezoidCurrent(_Trapezoid, CurrentSource):
    """Trapezoidal current source."""

    modelica_name = "Electrical.Analog.Sources.TrapezoidCurrent"

    I = Parameter(t.Current, required, "Amplitude of trapezoid")  # noqa: E741
    source, renamed = signals.Trapezoid, {"amplitude": "I"}


__all__ = [
    "ConstantCurrent",
    "ConstantVoltage",
    "CosineCurrent",
    "CosineCurrentVariableFrequencyAndAmplitude",
    "CosineVoltage",
    "CosineVoltageVariableFrequencyAndAmplitude",
    "ExpSineCurrent",
    "ExpSineVoltage",
    "ExponentialsCurrent",
    "ExponentialsVoltage",
    "PulseCurrent",
    "PulseVoltage",
    "RampCurrent",
    "RampVoltage",
    "SawToothCurrent",
    "SawToothVoltage",
    "SignalCurrent",
    "SignalVoltage",
    "SineCurrent",
    "SineCurrentVariableFrequencyAndAmplitude",
    "SineVoltage",
    "SineVoltageVariableFrequencyAndAmplitude",
    "StepCurrent",
    "StepVoltage",
    "SupplyVoltage",
    "TableCurrent",
    "TableVoltage",
    "TrapezoidCurrent",
    "TrapezoidVoltage",
]
