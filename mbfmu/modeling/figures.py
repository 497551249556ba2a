"""What an assembly wants drawn."""

from __future__ import annotations

import dataclasses

from mbfmu.modeling.connectors import Reference


@dataclasses.dataclass(frozen=True)
class Drawn:
    """Variables of one figure, each with what the legend calls it ("": by its name), and a sentence below."""

    curves: tuple[tuple[str, Reference], ...]
    caption: str = ""
