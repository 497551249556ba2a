"""Small assemblies for tests: parts by name, and connections written as `"spring.frame_a - world.frame_b"`."""

from __future__ import annotations

from typing import Any

from mbfmu.modeling import Assembly, Component
from mbfmu.simulation import Result, simulate


def wired(*connections: str, stop: float = 1.0, **parts: Component) -> Assembly:
    """Assembly of these parts; `"k.y[0] - f.u"` connects one element of a signal."""
    assembly = Assembly()
    assembly.stop_time = stop
    for name, part in parts.items():
        setattr(assembly, name, part)
    for text in connections:
        assembly.connect(*(_connector(assembly, end) for end in text.split(" - ")))
    return assembly


def _connector(assembly: Assembly, text: str) -> Any:
    found: Any = assembly
    for name in text.split("[")[0].split("."):
        found = getattr(found, name)
    return found[int(text.split("[")[1][:-1])] if "[" in text else found


def run(*connections: str, stop: float = 1.0, step: float | None = None, **parts: Component) -> Result:
    """Simulate such an assembly."""
    return simulate(wired(*connections, stop=stop, **parts), stop, interval=step or stop / 100, tolerance=1e-10)
