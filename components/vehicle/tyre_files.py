"""`.tir` files, the coefficients of tyres: read with their units, and written back as they were read."""

from __future__ import annotations

import copy
import math
import pathlib
import re
import warnings
from collections.abc import Mapping
from typing import Any

from mbfmu.components.vehicle.coefficients import ALIASES, KEYS, OTHER
from mbfmu.errors import ModelError
from mbfmu.messages import suggestion

#: What units of a file are in SI units.
UNITS = {
    "LENGTH": {"meter": 1.0, "m": 1.0, "mm": 1e-3, "millimeter": 1e-3, "cm": 1e-2, "centimeter": 1e-2, "km": 1e3,
               "kilometer": 1e3, "inch": 0.0254, "in": 0.0254, "foot": 0.3048, "ft": 0.3048},
    "FORCE": {"newton": 1.0, "n": 1.0, "knewton": 1e3, "kn": 1e3, "kilonewton": 1e3, "pound_force": 4.4482216152605,
              "lbf": 4.4482216152605, "kg_force": 9.80665, "kgf": 9.80665},
    "ANGLE": {"radians": 1.0, "radian": 1.0, "rad": 1.0, "degrees": math.pi / 180, "degree": math.pi / 180,
              "deg": math.pi / 180},
    "MASS": {"kg": 1.0, "kilogram": 1.0, "gram": 1e-3, "g": 1e-3, "pound_mass": 0.45359237, "lbm": 0.45359237,
             "slug": 14.59390293720636},
    "TIME": {"second": 1.0, "s": 1.0, "sec": 1.0, "millisecond": 1e-3, "ms": 1e-3, "minute": 60.0, "min": 60.0,
             "hour": 3600.0},
    "PRESSURE": {"pascal": 1.0, "pa": 1.0, "kpascal": 1e3, "kpa": 1e3, "bar": 1e5, "psi": 6894.757293168361},
}  # fmt: skip
#: Version of the equations by FITTYP.
VERSIONS = {5: "MF52", 6: "MF52", 21: "MF52", 51: "MF52", 52: "MF52", 60: "MF61", 61: "MF61", 62: "MF62"}
#: Coefficients that must be positive.
POSITIVE = ("LONGVL", "UNLOADED_RADIUS", "WIDTH", "NOMPRES", "INFLPRES", "FNOMIN", "VERTICAL_STIFFNESS", "LFZO",
            "VXLOW",
            "LMUX", "LMUY", "LKX", "LKY", "FZMAX", "PKY2")  # fmt: skip
#: Coefficients that must not be negative.
NOT_NEGATIVE = ("VERTICAL_DAMPING", "FZMIN", "LMY", "LTR", "LSGKP", "LSGAL", "LONGITUDINAL_STIFFNESS",
                "LATERAL_STIFFNESS", "LCX", "LCY", "LMP", "LMUV", "RIM_RADIUS")  # fmt: skip
#: Limits of the same quantity.
LIMITS = (("KPUMIN", "KPUMAX"), ("ALPMIN", "ALPMAX"), ("CAMMIN", "CAMMAX"), ("PRESMIN", "PRESMAX"), ("FZMIN", "FZMAX"))

_SETTING = re.compile(r"^\s*(?P<name>\w+)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|[^$!]*?)\s*(?P<rest>[$!].*)?$")
_UNIT = re.compile(r"([A-Za-z]+)(\d*)")
_DIMENSIONS = {"m": "LENGTH", "N": "FORCE", "rad": "ANGLE", "kg": "MASS", "s": "TIME", "Pa": "PRESSURE"}


class TyreData:
    """Coefficients of a tyre by their names in `.tir` files, in SI units; what a file leaves out has its default.

    Attributes:
        version: "MF52", "PAC2002", "MF61" or "MF62".
        side: the wheel that was measured, "LEFT" or "RIGHT", or "" where no side is told.
        name: what messages call it.
    """

    def __init__(
        self, values: Mapping[str, Any], *, version: str = "MF61", side: str = "", name: str = "tyre", lines: Any = ()
    ) -> None:
        """Coefficients in SI units.

        Raises:
            ModelError: a name is unknown, or a value cannot be.
        """
        self.version, self.side, self.name = version, side, name
        self._lines: list[str] = list(lines)
        self.given = {}
        for key, value in values.items():
            known = ALIASES.get(key.upper(), key.upper())
            if known not in KEYS:
                raise ModelError(f"{name}: there is no coefficient {key!r}; {suggestion(key, list(KEYS), '')}")
            self.given[known] = value
        self._all = {key: k.default for key, k in KEYS.items()} | self.given
        for one, other in (("INFLPRES", "NOMPRES"), ("NOMPRES", "INFLPRES")):
            if one not in self.given and other in self.given:
                self._all[one] = self.given[other]
        self._check()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_all"][name]
        except KeyError:
            raise AttributeError(f"there is no coefficient {name!r}") from None

    def __deepcopy__(self, memo: Any) -> TyreData:
        return copy.copy(self)

    def __repr__(self) -> str:
        return f"TyreData({self.name!r}, {self.version}, {len(self.given)} coefficients)"

    def with_values(self, **values: Any) -> TyreData:
        """The same tyre with other values of some coefficients, numbers or expressions."""
        return TyreData(self.given | values, version=self.version, side=self.side, name=self.name, lines=self._lines)

    def _check(self) -> None:
        numbers = {k: v for k, v in self._all.items() if isinstance(v, int | float)}

        def told(key: str, wrong: str) -> ModelError:
            return ModelError(f"{self.name}: {key} = {numbers[key]:g}: {wrong}")

        for key, value in numbers.items():
            if not math.isfinite(value):
                raise told(key, "must be a finite number")
            if key in POSITIVE and not value > 0:
                raise told(key, "must be above 0")
            if key in NOT_NEGATIVE and value < 0:
                raise told(key, "must not be negative")
        for least, most in LIMITS:
            if not numbers[least] < numbers[most]:
                raise told(least, f"must be below {most} = {numbers[most]:g}")

    def to_text(self) -> str:
        """The file as text: the lines that were read with the present values, else lines of our own.

        Values are written in the file's units; keys that a file did not have are added to their sections.
        """
        scales = _scales(_units_of(self._lines), self.name)
        left = dict(self.given)
        lines = []
        section = ""
        for line in self._lines or _plain(self):
            section = line.strip().strip("[]").upper() if line.strip().startswith("[") else section
            setting = _SETTING.match(line) if section != "UNITS" else None
            key = ALIASES.get(setting["name"].upper(), setting["name"].upper()) if setting else ""
            if setting and key in left:
                value = left.pop(key) / _scale(KEYS[key].unit, scales)
                if _number(setting["value"]) != value:
                    start, end = setting.span("value")
                    line = f"{line[:start]}{value!r}{line[end:]}"
            lines.append(line)
        for key, value in left.items():
            head = f"[{KEYS[key].section}]"
            at = next((i for i, line in enumerate(lines) if line.strip().upper().startswith(head)), None)
            new = f"{key:<24} = {value / _scale(KEYS[key].unit, scales)!r}"
            if at is None:
                lines += [head, new]
            else:
                while at + 1 < len(lines) and _SETTING.match(lines[at + 1]):
                    at += 1
                lines.insert(at + 1, new)
        return "\n".join(lines) + "\n"

    def save(self, path: str | pathlib.Path) -> None:
        """Write a `.tir` file; what was read from one comes out as it was, with changed values in their places."""
        pathlib.Path(path).write_text(self.to_text(), "utf-8")


def read_tir(path: str | pathlib.Path) -> TyreData:
    """Read a `.tir` file (MF-Tyre 5.2, 6.1, 6.2, PAC2002).

    Keys that are unknown are told by a warning; those that are missing have the defaults of `coefficients.KEYS`.

    Raises:
        ModelError: the file cannot be read, is cut short, has no coefficients, or a value that cannot be.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_text("utf-8-sig", errors="replace")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    return parse_tir(text, path.name)


def parse_tir(text: str, name: str = "tyre") -> TyreData:
    """Coefficients in the text of a `.tir` file; see read_tir."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if "\0" in text:
        raise ModelError(f"{name}: is no text; give a .tir file")
    scales = _scales(_units_of(lines), name)
    values, words, unknown = _settings(lines, name, scales)
    if not any(KEYS[key].section.endswith("_COEFFICIENTS") and not key.startswith("L") for key in values):
        raise ModelError(f"{name}: has no coefficients of a Magic Formula (PCX1, PCY1 ...); is the file cut short?")
    for key in ("PDX1", "PCX1", "PKX1", "PDY1", "PCY1", "PKY1", "UNLOADED_RADIUS", "FNOMIN"):
        if key not in values:
            raise ModelError(
                f"{name}: has no {key} in [{KEYS[key].section}], without which there is no tyre; is the file cut short?"
            )
    if unknown:
        warnings.warn(
            f"{name}: {', '.join(unknown[:12])}{' ...' if len(unknown) > 12 else ''}: unknown, and not used",
            stacklevel=3,
        )
    side = words.get("TYRESIDE", "").upper()
    if side not in ("", "LEFT", "RIGHT", "UNKNOWN", "SYMMETRIC"):
        raise ModelError(f"{name}: TYRESIDE = {side!r}: expected LEFT or RIGHT")
    return TyreData(
        values,
        version=_version(values, words, name),
        side=side if side in ("LEFT", "RIGHT") else "",
        name=name,
        lines=lines,
    )


def _settings(
    lines: list[str], name: str, scales: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, str], list[str]]:
    values: dict[str, float] = {}
    words: dict[str, str] = {}
    unknown: list[str] = []
    section = ""
    for number, line in enumerate(lines, start=1):
        bare = line.split("$")[0].split("!")[0].strip() if not line.lstrip().startswith(("$", "!", "#")) else ""
        if not bare or bare.startswith("{"):
            continue
        if bare.startswith("["):
            section = bare.strip("[] ").upper()
            if not bare.endswith("]"):
                raise ModelError(f"{name}, line {number}: {bare!r:.40}: a section ends with ]; is the file cut short?")
            continue
        setting = _SETTING.match(line)
        if setting is None:
            if section == "SHAPE" or re.fullmatch(r"[-+.\deE\s]+", bare):  # a table, of a tyre's section, say
                continue
            raise ModelError(f"{name}, line {number}: {bare!r:.40}: expected NAME = value; is the file cut short?")
        key = setting["name"].upper()
        key, value = ALIASES.get(key, key), setting["value"].strip()
        if value == "":
            raise ModelError(f"{name}, line {number}: {key} has no value; is the file cut short?")
        if key in KEYS and not (key == "MASS" and section == "UNITS"):
            read = _number(value)
            if read is None:
                raise ModelError(f"{name}, line {number}: {key} = {value}: expected a number")
            values[key] = read * _scale(KEYS[key].unit, scales)
        elif key in OTHER or section == "UNITS":
            words[key] = value.strip("'\" ")
        else:
            unknown.append(key)
    return values, words, unknown


def _number(text: str) -> float | None:
    try:
        return float(re.sub(r"(?<=[\d.])[dD](?=[-+\d])", "e", text))
    except ValueError:
        return None


def _version(values: Mapping[str, float], words: Mapping[str, str], name: str) -> str:
    if words.get("PROPERTY_FILE_FORMAT", "").upper() in ("PAC2002", "PAC02"):
        return "PAC2002"
    if "FITTYP" not in values:
        return "MF61" if "PKY6" in values or "PKY4" in values else "MF52"
    version = VERSIONS.get(int(values["FITTYP"]))
    if version is None:
        raise ModelError(
            f"{name}: FITTYP = {values['FITTYP']:g}: this version is not known; there are "
            f"{', '.join(map(str, VERSIONS))}, and PROPERTY_FILE_FORMAT = 'PAC2002'"
        )
    return version


def _units_of(lines: list[str]) -> dict[str, str]:
    found, inside = {}, False
    for line in lines:
        bare = line.strip()
        if bare.startswith("["):
            inside = bare.upper().startswith("[UNITS]")
        setting = _SETTING.match(line) if inside and not bare.startswith(("$", "!")) else None
        if setting:
            found[setting["name"].upper()] = setting["value"].strip("'\" ").lower()
    return found


def _scales(units: Mapping[str, str], name: str) -> dict[str, float]:
    """SI units of one unit of the file, by dimension; pressure is force over area where it has none of its own."""
    found = dict.fromkeys(UNITS, 1.0)
    for dimension, unit in units.items():
        if dimension not in UNITS:
            continue
        if unit not in UNITS[dimension]:
            raise ModelError(f"{name}: {dimension} = {unit!r}: unknown; there are {', '.join(UNITS[dimension])}")
        found[dimension] = UNITS[dimension][unit]
    if "PRESSURE" not in units:
        found["PRESSURE"] = found["FORCE"] / found["LENGTH"] ** 2
    return found


def _scale(unit: str, scales: Mapping[str, float]) -> float:
    """What one of the file's units is in SI units, for a unit such as N.s/m."""
    scale = 1.0
    above, _, below = unit.partition("/")
    for part, sign in ((above, 1), (below, -1)):
        for name, power in _UNIT.findall(part.strip("()")):
            if name in _DIMENSIONS:
                scale *= scales[_DIMENSIONS[name]] ** (sign * int(power or 1))
    return scale


def _plain(data: TyreData) -> list[str]:
    """Head of a file for coefficients that come from none."""
    fit = {"MF52": 52, "PAC2002": 6, "MF61": 61, "MF62": 62}[data.version]
    form = ["PROPERTY_FILE_FORMAT     = 'PAC2002'"] if data.version == "PAC2002" else []
    side = [f"TYRESIDE                 = '{data.side}'"] if data.side else []
    units = [f"{k:<24} = '{v}'" for k, v in (("LENGTH", "meter"), ("FORCE", "newton"), ("ANGLE", "radians"),
                                             ("MASS", "kg"), ("TIME", "second"))]  # fmt: skip
    fitted = [] if "FITTYP" in data.given else [f"FITTYP                   = {fit}"]
    lines = ["[MDI_HEADER]", "FILE_TYPE                = 'tir'", "FILE_VERSION             = 3.0",
             "FILE_FORMAT              = 'ASCII'", "[UNITS]", *units, "[MODEL]", *form, *fitted, *side]  # fmt: skip
    sections = dict.fromkeys(KEYS[key].section for key in data.given)
    return lines + [f"[{section}]" for section in sections if section != "MODEL"]


__all__ = ["TyreData", "parse_tir", "read_tir"]
