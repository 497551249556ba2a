"""Sums and products of whole numbers (Modelica.Blocks.MathInteger 4.1), which are Real signals here."""

from __future__ import annotations

from mbfmu.components.blocks.math import MultiProduct, MultiSum


class Sum(MultiSum):
    """Sum of Integers: y = k[1]*u[1] + k[2]*u[2] + ... + k[n]*u[n]."""

    modelica_name = "Blocks.MathInteger.Sum"


class Product(MultiProduct):
    """Product of Integers: y = u[1]*u[2]* ... *u[n]."""

    modelica_name = "Blocks.MathInteger.Product"


__all__ = ["Product", "Sum"]
