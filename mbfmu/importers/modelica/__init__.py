"""Modelica."""
