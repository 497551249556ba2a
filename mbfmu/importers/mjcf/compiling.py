"""MuJoCo's own reading of a file: what is looked at before, and its compiled model."""

from __future__ import annotations

import math
import pathlib
import re
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.importers.places import Place

#: So many elements may come from copying others: MuJoCo's time grows with their square.
MOST_COPIES = 20_000
_COPYING = (b"replicate", b"composite", b"flexcomp")
#: What of a file is no element, and the tag of an element: closing, name, attributes, without content.
_NO_ELEMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!.*?>", re.DOTALL)
_TAG = re.compile(rb"<(/?)\s*([\w.:-]+)([^<>]*?)(/?)>")
#: Where a message of MuJoCo, or what its specification keeps of an element, says the line.
LINE = re.compile(r"line(?: number\s*=|)\s*(\d+)", re.IGNORECASE)


def first_tag(path: pathlib.Path) -> str:
    """Tag of the root element; all else is left to MuJoCo, whose parser takes more than the standard allows."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    found = re.search(rb"<\s*([\w.:-]+)", _NO_ELEMENT.sub(b"", text))
    return found[1].decode(errors="replace") if found else ""


def refuse_copies(path: pathlib.Path) -> None:
    """Refuse a file whose elements replicate, composite and flexcomp make more of than a mechanism has.

    MuJoCo would make them all before it gives control back. Files that are included are looked into, too; what is
    no number, or is not there, is left to MuJoCo.

    Raises:
        ModelError: there are more than `MOST_COPIES`.
    """
    copies, looked_into = 0, set[pathlib.Path]()

    def look(file: pathlib.Path, times: int) -> None:
        nonlocal copies
        if file in looked_into or not file.is_file():
            return
        looked_into.add(file)
        around = [times]  # how often each open element is there
        for found in _TAG.finditer(_NO_ELEMENT.sub(b"", file.read_bytes())):
            closing, name, attributes, alone = found.groups()
            if closing:
                around = around[: max(1, len(around) - 1)]
                continue
            count = re.search(rb"\bcount\s*=\s*[\"']([\d\s]+)[\"']", attributes) if name in _COPYING else None
            here = around[-1] * (math.prod(map(int, count[1].split())) if count else 1)
            copies += here if here > 1 else 0
            if copies > MOST_COPIES:
                raise Place(path).error(
                    f"<{name.decode()}> and what it copies are more than {MOST_COPIES} elements; make fewer of them"
                )
            inner = (
                re.search(rb"\bfile\s*=\s*[\"']([^\"']+)[\"']", attributes) if name in (b"include", b"model") else None
            )
            if inner:
                look(path.parent / inner[1].decode(errors="replace"), here)
            if not alone:
                around.append(here)

    look(path, 1)


def compiled(path: pathlib.Path, mujoco: Any, said: list[str]) -> tuple[Any, Any]:
    """MuJoCo's specification and its compiled model; its warnings go to `said`, not to a log in the user's folder.

    Raises:
        ModelError: MuJoCo refuses the file, or takes what is no time step or no mass.
    """
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        spec: Any = mujoco.MjSpec.from_file(str(path))
        model = spec.compile()
    except Exception as error:  # ValueError, FatalError, and what its bindings raise else
        text = "; ".join(filter(None, map(str.strip, str(error).splitlines()))) or type(error).__name__
        line = LINE.search(text)
        raise Place(path, int(line[1]) if line else None).error(f"MuJoCo refuses it: {text}") from error
    finally:
        mujoco.set_mju_user_warning(before)
    if not 0 < model.opt.timestep < math.inf:
        raise Place(path).error(f'<option timestep="{model.opt.timestep:g}"/>: a time step is positive, such as 0.002')
    for body in spec.bodies:
        if not body.mass >= 0:  # MuJoCo takes any of what never moves
            raise Place(path).error(
                f"<body name={body.name!r}>: its mass, {body.mass:g} kg, is negative; give it 0 or more"
            )
    return spec, model
