"""Libraries of FMUs: their folders, and the functions that they have to export and do.

ELF, PE and Mach-O files are read without tools of a platform.
"""

from __future__ import annotations

import struct

from mbfmu.errors import BuildError

#: The platforms as FMI 3.0 calls them (FMI 3.0.2, section 2.5.1.1); the library for macOS is for two processors.
PLATFORMS_3 = {
    "linux64": ("x86_64-linux",),
    "win64": ("x86_64-windows",),
    "darwin64": ("x86_64-darwin", "aarch64-darwin"),
    "aarch64-linux": ("aarch64-linux",),
    "aarch64-windows": ("aarch64-windows",),
}

#: Platforms in whose place importers of FMI 2.0 look on another processor: FMPy and OpenModelica do.
STAND_INS = {"aarch64-linux": "linux64", "aarch64-windows": "win64"}

#: Processors by their numbers in ELF and PE files.
_PROCESSORS = {0x3E: "x86_64", 0xB7: "aarch64", 0x8664: "x86_64", 0xAA64: "aarch64"}

_COMMON = """
GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode
ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean SetString
GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate
GetDirectionalDerivative
"""
_EXCHANGE = """
EnterEventMode NewDiscreteStates EnterContinuousTimeMode CompletedIntegratorStep SetTime SetContinuousStates
GetDerivatives GetEventIndicators GetContinuousStates GetNominalsOfContinuousStates
"""
_SLAVE = """
SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus GetRealStatus GetIntegerStatus
GetBooleanStatus GetStringStatus
"""

#: Functions that an FMU's library has to export for each interface (FMI 2.0.4, sections 2.1, 3.2 and 4.2).
REQUIRED = {
    interface: frozenset(f"fmi2{name}" for name in (_COMMON + own).split())
    for interface, own in (("ModelExchange", _EXCHANGE), ("CoSimulation", _SLAVE))
}


_COMMON_3 = """
GetVersion SetDebugLogging InstantiateModelExchange InstantiateCoSimulation InstantiateScheduledExecution FreeInstance
EnterInitializationMode ExitInitializationMode EnterEventMode Terminate Reset GetFloat32 GetFloat64 GetInt8 GetUInt8
GetInt16 GetUInt16 GetInt32 GetUInt32 GetInt64 GetUInt64 GetBoolean GetString GetBinary GetClock SetFloat32 SetFloat64
SetInt8 SetUInt8 SetInt16 SetUInt16 SetInt32 SetUInt32 SetInt64 SetUInt64 SetBoolean SetString SetBinary SetClock
GetNumberOfVariableDependencies GetVariableDependencies GetFMUState SetFMUState FreeFMUState SerializedFMUStateSize
SerializeFMUState DeserializeFMUState GetDirectionalDerivative GetAdjointDerivative EnterConfigurationMode
ExitConfigurationMode GetIntervalDecimal GetIntervalFraction GetShiftDecimal GetShiftFraction SetIntervalDecimal
SetIntervalFraction SetShiftDecimal SetShiftFraction EvaluateDiscreteStates UpdateDiscreteStates
"""
_EXCHANGE_3 = """
EnterContinuousTimeMode CompletedIntegratorStep SetTime SetContinuousStates GetContinuousStateDerivatives
GetEventIndicators GetContinuousStates GetNominalsOfContinuousStates GetNumberOfEventIndicators
GetNumberOfContinuousStates
"""
_SLAVE_3 = "EnterStepMode GetOutputDerivatives DoStep"

#: The same in FMI 3.0 (fmi3Functions.h).
REQUIRED_3 = {
    interface: frozenset(f"fmi3{name}" for name in (_COMMON_3 + own).split())
    for interface, own in (("ModelExchange", _EXCHANGE_3), ("CoSimulation", _SLAVE_3))
}


def platform_of(name: str) -> str:
    """The platform that FMI 2.0 or FMI 3.0 calls so, by its name of FMI 2.0.

    Raises:
        BuildError: There is none.
    """
    for platform, names in PLATFORMS_3.items():
        if name in (platform, *names):
            return platform
    raise BuildError(f"unknown platform {name!r}: one of {', '.join(PLATFORMS_3)}")


def processor_of(library: bytes) -> str | None:
    """The processor that a library for Linux or Windows is for, `x86_64` or `aarch64`; None for other files."""
    try:
        if library.startswith(b"\x7fELF"):
            return _PROCESSORS.get(*struct.unpack_from("<H", library, 18))
        if library.startswith(b"MZ"):
            (header,) = struct.unpack_from("<I", library, 60)
            return _PROCESSORS.get(*struct.unpack_from("<H", library, header + 4))
    except struct.error:
        pass
    return None


def exported_functions(library: bytes) -> frozenset[str] | None:
    """Return the names that a 64-bit shared library exports; None where the file is of another kind."""
    readers = {b"\x7fELF": _elf, b"MZ": _pe, b"\xca\xfe\xba\xbe": _universal, b"\xcf\xfa\xed\xfe": _macho}
    for magic, reader in readers.items():
        if library.startswith(magic):
            try:
                return reader(library)
            except (struct.error, IndexError, ValueError, StopIteration, TypeError, OverflowError):
                return None
    return None


def _name(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "replace")


def _elf(data: bytes) -> frozenset[str] | None:
    """Global, defined functions of the dynamic symbol table (System V ABI, chapter 4)."""
    if data[4:6] != b"\x02\x01":  # 64 bits, little-endian
        return None
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    names = set()
    for section in sections:
        if section[1] != 11:  # SHT_DYNSYM
            continue
        texts = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, where = struct.unpack_from("<IBBH", data, at)
            if where and info >> 4 in (1, 2) and info & 15 in (2, 10):
                names.add(_name(data, texts + name))
    return frozenset(names)


def _pe(data: bytes) -> frozenset[str] | None:
    """Names of the export directory (Microsoft PE format)."""
    (header,) = struct.unpack_from("<I", data, 60)
    (count,) = struct.unpack_from("<H", data, header + 6)
    (optional,) = struct.unpack_from("<H", data, header + 20)
    if struct.unpack_from("<H", data, header + 24) != (0x20B,):
        return None
    (directory,) = struct.unpack_from("<I", data, header + 24 + 112)
    sections = [struct.unpack_from("<IIII", data, header + 24 + optional + 40 * i + 8) for i in range(count)]

    def place(address: int) -> int:
        return next(raw + address - start for size, start, _, raw in sections if start <= address < start + size)

    if not directory:
        return frozenset()
    (number,) = struct.unpack_from("<I", data, place(directory) + 24)
    (table,) = struct.unpack_from("<I", data, place(directory) + 32)
    addresses = struct.unpack_from(f"<{number}I", data, place(table))
    return frozenset(_name(data, place(address)) for address in addresses)


def _universal(data: bytes) -> frozenset[str] | None:
    """What the libraries of all processors export (mach-o/fat.h)."""
    (count,) = struct.unpack_from(">I", data, 4)
    parts = [struct.unpack_from(">II", data, 8 + 20 * i + 8) for i in range(count)]
    found = [_macho(data[at : at + size]) for at, size in parts]
    return frozenset.intersection(*(names for names in found if names is not None))


def _macho(data: bytes) -> frozenset[str] | None:
    """External, defined symbols (mach-o/nlist.h): they begin with an underscore, the linker's own ones with two."""
    (count,) = struct.unpack_from("<I", data, 16)
    names, at = set(), 32
    for _ in range(count):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 2:  # LC_SYMTAB
            symbols, number, texts, _ = struct.unpack_from("<IIII", data, at + 8)
            for i in range(number):
                text, type_, section = struct.unpack_from("<IBB", data, symbols + 16 * i)
                if type_ & 1 and type_ & 14 == 14 and section and not type_ & 16:  # external, defined, not private
                    names.add(_name(data, texts + text))
        at += size
    return frozenset(name[1:] for name in names if not name.startswith("__"))
