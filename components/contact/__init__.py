"""Bodies that touch: geometry at frames, and contact between pairs of them by the laws of Hertz, Hunt and Crossley, and
Coulomb, or of rigid bodies by impacts and constraints."""

from mbfmu.components.contact.contact import Contact, ContactGroup
from mbfmu.components.contact.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from mbfmu.components.contact.height_field import HeightField
from mbfmu.components.contact.mesh import ConvexMesh
from mbfmu.components.contact.rigid import RigidContact

__all__ = [
    "Box",
    "Capsule",
    "Contact",
    "ContactGroup",
    "ConvexMesh",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Plane",
    "RigidContact",
    "Sphere",
]
