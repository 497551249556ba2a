"""Bodies that touch: geometry at frames, and contact between pairs of them by the laws of Hertz, Hunt and Crossley, and
Coulomb."""

from mbfmu.components.contact.contact import Contact, ContactGroup
from mbfmu.components.contact.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere

__all__ = ["Box", "Capsule", "Contact", "ContactGroup", "Cylinder", "Ellipsoid", "Plane", "Sphere"]
