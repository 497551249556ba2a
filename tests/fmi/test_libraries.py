"""What libraries export, read from files that are written here byte by byte after their formats."""

from __future__ import annotations

import struct

import pytest

from mbfmu.errors import BuildError
from mbfmu.fmi.libraries import exported_functions, platform_of, processor_of

NAMES = ("fmi2DoStep", "fmi2Reset")


def portable_executable(names: tuple[str, ...], *, magic: int = 0x20B, exports: bool = True) -> bytes:
    """A library for Windows: code, and right behind it in memory, but not in the file, a section of exports."""
    code, edata, optional = (0x1000, 0x400), (0x2000, 0xA00), 0xF0  # addresses in memory and in the file
    library = bytearray(0xE00)
    library[:2], library[64:68] = b"MZ", b"PE\0\0"
    struct.pack_into("<I", library, 60, 64)
    struct.pack_into("<HH", library, 68, 0x8664, 2)
    struct.pack_into("<HxxH", library, 64 + 20, optional, magic)
    struct.pack_into("<I", library, 64 + 24 + 112, edata[0] if exports else 0)
    for i, (address, place) in enumerate((code, edata)):
        struct.pack_into("<IIII", library, 64 + 24 + optional + 40 * i + 8, 0x1000, address, 0x400, place)
    table, texts = 40, 40 + 4 * len(names)  # behind the directory
    struct.pack_into("<I4xI", library, edata[1] + 24, len(names), edata[0] + table)
    for i, name in enumerate(names):
        struct.pack_into("<I", library, edata[1] + table + 4 * i, edata[0] + texts)
        library[edata[1] + texts : edata[1] + texts + len(name)] = name.encode()
        texts += len(name) + 1
    return bytes(library)


def test_a_library_for_windows_exports_the_names_of_its_directory() -> None:
    assert exported_functions(portable_executable(NAMES)) == set(NAMES)
    assert exported_functions(portable_executable(NAMES, exports=False)) == frozenset()


def test_of_another_kind_or_damaged_nothing_is_known() -> None:
    library = portable_executable(NAMES)
    assert exported_functions(portable_executable(NAMES, magic=0x10B)) is None  # of 32 bits
    assert exported_functions(library[:0x900]) is None
    assert exported_functions(b"no library") is None


def mach_o(names: tuple[str, ...]) -> bytes:
    """A library for macOS: a command that is passed over, the symbol table, and names behind it.

    Beside those that are exported, each of another kind: local, private to the library, undefined, of the debugger,
    the linker's own, and in no section.
    """
    kinds = [(f"_{name}", 0x0F, 1) for name in names]
    kinds += [("_local", 0x0E, 1), ("_private", 0x1F, 1), ("_undefined", 0x01, 0), ("_debug", 0x24, 1)]
    kinds += [("__mh_header", 0x0F, 1), ("_nowhere", 0x0F, 0)]
    commands = struct.pack("<II8x", 0x19, 16)
    symbols = 32 + len(commands) + 24
    texts = symbols + 16 * len(kinds)
    commands += struct.pack("<IIIIII", 2, 24, symbols, len(kinds), texts, 0)
    table, strings = b"", b"\0"
    for name, kind, section in kinds:
        table += struct.pack("<IBBHQ", len(strings), kind, section, 0, 0)
        strings += name.encode() + b"\0"
    return struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 6, 2, len(commands), 0, 0) + commands + table + strings


def universal(*parts: bytes) -> bytes:
    """Libraries for several processors in one file."""
    head, content, at = struct.pack(">II", 0xCAFEBABE, len(parts)), b"", 8 + 20 * len(parts)
    for part in parts:
        head += struct.pack(">IIIII", 0, 0, at + len(content), len(part), 0)
        content += part
    return head + content


def test_a_library_for_macos_exports_its_external_symbols() -> None:
    assert exported_functions(mach_o(NAMES)) == set(NAMES)


def test_a_universal_library_exports_what_all_its_parts_do() -> None:
    more = (*NAMES, "fmi2Terminate")
    assert exported_functions(universal(mach_o(NAMES), mach_o(more))) == set(NAMES)
    assert exported_functions(universal(mach_o(more))) == set(more)
    assert exported_functions(universal(mach_o(NAMES))[:60]) is None
    assert exported_functions(universal()) is None


def test_processors_are_those_of_the_headers() -> None:
    windows = bytearray(portable_executable(NAMES))
    assert processor_of(bytes(windows)) == "x86_64"
    struct.pack_into("<H", windows, 68, 0xAA64)
    assert processor_of(bytes(windows)) == "aarch64"
    struct.pack_into("<H", windows, 68, 0x014C)  # of 32 bits
    assert processor_of(bytes(windows)) is None
    for machine, name in ((62, "x86_64"), (183, "aarch64"), (3, None)):
        assert processor_of(b"\x7fELF" + bytes(14) + struct.pack("<H", machine)) == name
    for damaged in (b"MZ", b"MZ" + bytes(58) + struct.pack("<I", 9999), b"\x7fELF", mach_o(NAMES), b""):
        assert processor_of(damaged) is None


def test_platforms_have_names_of_both_versions() -> None:
    assert [platform_of(name) for name in ("win64", "x86_64-windows", "aarch64-linux")] == [
        "win64", "win64", "aarch64-linux",
    ]  # fmt: skip
    with pytest.raises(BuildError, match=r"unknown platform 'amiga': one of .*win64"):
        platform_of("amiga")
