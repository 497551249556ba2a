"""The engine of engine_1b, its loop closed by one aggregated joint instead of three single ones."""

from mbfmu.components import JointRRP
from mbfmu.fmus.engine_1b import CrankDrive, X


class Engine1bAnalytic(CrankDrive):
    """One-cylinder engine with gas force; connecting rod, its hinges and the piston's guide are one JointRRP."""

    def __init__(self):
        super().__init__()
        self.jointRRP = JointRRP(n_a=X, n_b=(0, -1, 0), rRod1_ia=(0, 0.2, 0), rRod2_ib=(0, -0.1, 0))
        self.connect(self.mid.frame_b, self.jointRRP.frame_a)
        self.connect(self.jointRRP.frame_b, self.cylPosition.frame_b)
        self.connect(self.gasForce.flange_a, self.jointRRP.bearing)
        self.connect(self.gasForce.flange_b, self.jointRRP.axis)
        self.connect(self.jointRRP.frame_ib, self.piston.frame_a)
        self.connect(self.jointRRP.frame_ia, self.connectingRod.frame_b)
        self.output(self.gasForce.press)
