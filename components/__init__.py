"""The component library: world, parts, joints, forces, sensors, rotational, translational, blocks."""
