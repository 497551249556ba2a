"""SCARA robot: read from URDF, with position controllers, and a load in its hand."""

import pathlib

from mbfmu.components import Body
from mbfmu.importers import urdf
from mbfmu.modeling import Assembly

#: Where the references send the joints at the start: rad, and m for quill and finger.
TARGETS = {"shoulder_phi": 0.9, "elbow_phi": -1.4, "quill_s": 0.12, "wrist_phi": 0.5, "finger_s": 0.015}


class Scara(Assembly):
    """SCARA robot of a URDF file under position control, which reaches for a pose with a load in its hand."""

    stop_time = 1.0

    def __init__(self, bandwidth=4.0, load=0.5):
        urdf.load(
            pathlib.Path(__file__).with_name("scara.urdf"), into=self, drive="position", bandwidth=bandwidth, stops=True
        )
        inertia = load * 0.02**2 / 6  # of a cube of 2 cm
        self.load = Body(r_CM=(0, 0, 0.07), m=load, I_11=inertia, I_22=inertia, I_33=inertia)
        self.connect(self.wrist.frame_b, self.load.frame_a)
        for name, target in TARGETS.items():
            self.input(self.inputs[f"{name}_ref"].target, f"{name}_ref", start=target)
