"""The axis of a joint of one degree of freedom, and what acts along it."""

from __future__ import annotations

import dataclasses
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.importers.builder import Builder
from mbfmu.modeling.connectors import Connector

#: Stops begin this far beyond the limits [rad or m]: joints that start at a limit, as grippers do, touch nothing yet.
STOP_MARGIN = 1e-6


@dataclasses.dataclass(frozen=True)
class Freedom:
    """What the library calls by one name where something turns and by another where it slides."""

    #: Package of its elements, and the classes of sensors and sources in it.
    domain: str
    sensor: str
    source: str
    #: Class of the joint, and its variables.
    joint: str
    position: str
    speed: str
    effort: str


ROTATION = Freedom("Rotational", "AngleSensor", "Torque", "MultiBody.Joints.Revolute", "phi", "w", "tau")
TRANSLATION = Freedom("Translational", "PositionSensor", "Force", "MultiBody.Joints.Prismatic", "s", "v", "f")


class Axis:
    """The axis flange of a Revolute or Prismatic joint, and what acts along it.

    The library has stops and friction for rotation only; at a Prismatic joint they stand behind an ideal gear of
    1 rad/m, so that their numbers are those of the translation.
    """

    def __init__(self, builder: Builder, joint: Any, name: str, freedom: Freedom) -> None:
        self.builder, self.joint, self.name, self.freedom = builder, joint, name, freedom
        self._turning: Connector | None = None

    def between(self, suffix: str, element: str, **parameters: Any) -> Any:
        """An element of this domain (`Components.Damper`) between the joint's support and its axis."""
        part = self.builder.new(self.name + suffix, f"{self.freedom.domain}.{element}", **parameters)
        self.builder.connect(self.joint.support, part.flange_a)
        self.builder.connect(part.flange_b, self.joint.axis)
        return part

    def at(self, suffix: str, element: str, **parameters: Any) -> Any:
        """An element of this domain with one flange (`Sources.Torque`) at the axis; the joint takes its reaction."""
        part = self.builder.new(self.name + suffix, f"{self.freedom.domain}.{element}", **parameters)
        self.builder.connect(part.connector("flange_a" if "flange_a" in part.ports() else "flange"), self.joint.axis)
        return part

    def turning(self) -> Connector:
        """A rotational flange that turns with the joint: its axis, or that of a gear of 1 rad/m."""
        if self.freedom is ROTATION:
            flange: Connector = self.joint.axis
            return flange
        if self._turning is None:
            gear = self.builder.new(f"{self.name}_gear", "Rotational.Components.IdealGearR2T", ratio=1.0)
            self.builder.connect(self.joint.axis, gear.flangeT)
            self._turning = gear.flangeR
        return self._turning

    def friction(self, effort: float) -> None:
        """Dry friction [N.m or N] that sticks."""
        bearing = self.builder.new(
            f"{self.name}_friction", "Rotational.Components.BearingFriction", tau_pos=((0.0, float(effort)),)
        )
        self.builder.connect(self.turning(), bearing.flange_a)

    def stop(self, lower: float, upper: float, stiffness: float, damping: float, kind: str = "ElastoBacklash") -> None:
        """Elastic stops at both ends of the range [rad or m]; stiffness and damping per rad or m.

        `kind` is the library's element: of an ElastoBacklash2 the whole damping acts from the first touch on.
        """
        ground = self.builder.new(f"{self.name}_ground", "Rotational.Components.Fixed")
        stop = self.builder.new(
            f"{self.name}_stop",
            f"Rotational.Components.{kind}",
            c=float(stiffness),
            d=float(damping),
            b=float(upper - lower + 2 * STOP_MARGIN),
            phi_rel0=float(upper + lower) / 2,
        )
        self.builder.connect(ground.flange, stop.flange_a)
        self.builder.connect(stop.flange_b, self.turning())

    def source(self, suffix: str = "_drive") -> Connector:
        """Signal input of a torque [N.m] or force [N] at the axis."""
        source = self.at(suffix, f"Sources.{self.freedom.source}")
        signal: Connector = source.connector(self.freedom.effort)
        return signal

    def feedback(
        self, suffix: str, gain: float, position_gain: float, speed_gain: float
    ) -> tuple[Connector, Connector]:
        """A controller, u -> gain u + position_gain position + speed_gain speed: its input and its output."""
        builder, freedom = self.builder, self.freedom
        position = self.at(f"{suffix}_position", f"Sensors.{freedom.sensor}")
        speed = self.at(f"{suffix}_speed", "Sensors.SpeedSensor")
        control = builder.new(
            f"{self.name}{suffix}_control",
            "Blocks.Math.Add3",
            k1=float(gain),
            k2=float(position_gain),
            k3=float(speed_gain),
        )
        builder.connect(position.connector(freedom.position), control.u2)
        builder.connect(speed.connector(freedom.speed), control.u3)
        return control.u1, control.y

    def follow(self, leader: Axis, ratio: float, offset: float) -> None:
        """Hold this coordinate at ratio * leader's coordinate + offset, without loss.

        Raises:
            ModelError: the ratio is 0.
        """
        builder = self.builder
        if ratio == 0:
            raise ModelError("a ratio of 0 ties nothing")
        if self.freedom is leader.freedom and ratio == 1 and offset == 0:
            builder.connect(leader.joint.axis, self.joint.axis)
            return
        end, start = self.turning(), leader.turning()
        if offset:
            disc = builder.new(f"{self.name}_offset", "Rotational.Components.Disc", deltaPhi=float(offset))
            builder.connect(disc.flange_b, end)
            end = disc.flange_a
        if ratio == 1:
            builder.connect(start, end)
            return
        gear = builder.new(f"{self.name}_mimic", "Rotational.Components.IdealGear", ratio=float(ratio))
        builder.connect(gear.flange_a, end)
        builder.connect(start, gear.flange_b)
