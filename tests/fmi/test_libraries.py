"""What libraries export, read from files that are written here byte by byte after their formats."""

from __future__ import annotations

import struct

from mbfmu.fmi.libraries import exported_functions

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
