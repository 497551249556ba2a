"""The WebAssembly component of FMI 3.0 FMUs (draft FMI-LS-WASM): one that is ready for any model, and a model's own.

The ready one is the runtime with `templates/runtime/component.c`, which ziglang compiles, as a component, which the
wasm-tools of npm's package jco-transpile make of that module and the interface `templates/component/fmi3.wit`. It is
package data, in no repository; `python -m mbfmu.runtime.component` makes it by hand. A model's component is this one
with the descriptor in its memory: no file has to be read, so that it imports nothing but the callbacks of FMI.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator, Sequence

from mbfmu.errors import BuildError
from mbfmu.runtime import build, npm
from mbfmu.runtime.compilers import find_zig

#: The ready component, beside the module for browsers, and the digest of what it was made from.
COMPONENT = build.LIBRARIES / "wasm32" / "mbfmu-component.wasm"
_STAMP = COMPONENT.with_name("component")

_SOURCE = "component.c"
_PURPOSE = "the WebAssembly component cannot be made"
#: Bytes of a page of memory.
_PAGE = 1 << 16
_HEADER = {"module": b"\0asm\x01\0\0\0", "component": b"\0asm\x0d\0\x01\0"}
#: Sections: the core module in a component; those of a core module that matter here.
_CORE_MODULE, _MEMORY, _DATA, _DATA_COUNT = 1, 5, 11, 12
#: The section of a component's exports; definitions of core modules have one more byte of kind, bounds of types, too.
_EXPORT, _CORE_SORT, _TYPE_SORT = 11, 0, 3


def is_current() -> bool:
    """True where the component is there and belongs to these sources."""
    return COMPONENT.is_file() and _STAMP.is_file() and _STAMP.read_text(encoding="ascii") == _digest()


def make_component() -> pathlib.Path:
    """Compile the runtime and make it a component; returns the file.

    Raises:
        BuildError: ziglang or npm is not installed, or one of them fails.
    """
    compiler = find_zig("wasm32")
    if compiler is None:
        raise BuildError(f"{_PURPOSE}: ziglang is not installed; `python -m pip install 'mbfmu[cross]'` installs it")
    node = shutil.which("node")
    if node is None:
        raise BuildError(f"{_PURPOSE}: node is not installed; install Node.js")
    with tempfile.TemporaryDirectory(prefix="mbfmu-component-") as name, npm.workplace(_tools(), _PURPOSE) as folder:
        sources = pathlib.Path(name)
        build.write_sources(sources)
        module = compiler.compile(sources / _SOURCE, "component.wasm", build.headers(), "-O3")
        (folder / "module.wasm").write_bytes(module)
        npm.run([node, "component.js", "fmi3.wit", "module.wasm", "component.wasm"], folder, _PURPOSE)
        content = (folder / "component.wasm").read_bytes()
    try:
        COMPONENT.parent.mkdir(parents=True, exist_ok=True)
        part = COMPONENT.with_suffix(f".{os.getpid()}.part")  # others may be at it, too
        part.write_bytes(content)
        part.replace(COMPONENT)
        _STAMP.write_text(_digest(), encoding="ascii")
    except OSError as error:
        raise BuildError(f"cannot write {COMPONENT}: {error.strerror}") from error
    return COMPONENT


def ready_component() -> bytes:
    """The component for any model, which is made where it is missing.

    Raises:
        BuildError: it cannot be made here.
    """
    return (COMPONENT if is_current() else make_component()).read_bytes()


def component_of(descriptor: bytes, ready: bytes | None = None) -> bytes:
    """Return the component of a model: the ready one with the descriptor at the end of its memory.

    Raises:
        BuildError: there is no ready component, or it is none of ours.
    """
    ready = ready_component() if ready is None else ready
    parts = [_HEADER["component"]]
    placed = 0
    for number, body in _sections(ready, "component"):
        if number == _CORE_MODULE and any(part == _MEMORY for part, _ in _sections(body, "module")):
            body = _with_data(body, descriptor)
            placed += 1
        parts.append(_section(number, body))
    if placed != 1:
        raise BuildError("the ready WebAssembly component has no module with a memory of its own")
    return b"".join(parts)


def exported_names(component: bytes) -> frozenset[str] | None:
    """Names of what a component exports; None where the bytes are no component."""
    names = set()
    try:
        for number, body in _sections(component, "component"):
            count, at = _read(body, 0) if number == _EXPORT else (0, 0)
            for _ in range(count):
                # A kind of name and the name, what it stands for and its index, and a type where one is given.
                size, begin = _read(body, at + 1)
                at = begin + size
                names.add(body[begin:at].decode())
                at = _after_reference(body, at)
                if body[at]:
                    bound = body[at + 1] == _TYPE_SORT
                    at = at + 3 if bound and body[at + 2] else _after_reference(body, at + 1 + bound)
                else:
                    at += 1
    except (BuildError, IndexError, UnicodeDecodeError):
        return None
    return frozenset(names)


def _after_reference(body: bytes, at: int) -> int:
    """Where the number ends that follows a kind of definition."""
    return _read(body, at + (2 if body[at] == _CORE_SORT else 1))[1]


def _with_data(module: bytes, data: bytes) -> bytes:
    """A core module with more memory and, where that begins, data (core specification, section 5.5)."""
    sections = list(_sections(module, "module"))
    memory = dict(sections)[_MEMORY]
    count, at = _read(memory, 0)
    kind, at = _read(memory, at)
    pages, at = _read(memory, at)
    if (count, kind) != (1, 0) or at != len(memory):
        raise BuildError("the ready WebAssembly component has another memory than one that can grow")
    more = -(-len(data) // _PAGE)
    # An active segment: its kind, the expression `i32.const` of the address, the bytes.
    segment = b"\0\x41" + _signed(pages * _PAGE) + b"\x0b" + _number(len(data)) + data
    parts = [_HEADER["module"]]
    for number, body in sections:
        if number == _MEMORY:
            body = _number(1) + _number(0) + _number(pages + more)
        elif number == _DATA:
            count, at = _read(body, 0)
            body = _number(count + 1) + body[at:] + segment
        elif number == _DATA_COUNT:
            body = _number(_read(body, 0)[0] + 1)
        parts.append(_section(number, body))
    return b"".join(parts)


def _sections(binary: bytes, kind: str) -> Iterator[tuple[int, bytes]]:
    """The sections of a module or component: their numbers and contents."""
    if binary[:8] != _HEADER[kind]:
        raise BuildError(f"this is no WebAssembly {kind}")
    at = 8
    while at < len(binary):
        size, begin = _read(binary, at + 1)
        yield binary[at], binary[begin : begin + size]
        at = begin + size


def _section(number: int, body: bytes) -> bytes:
    return struct.pack("B", number) + _number(len(body)) + body


def _read(binary: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and where it ends."""
    value = shift = 0
    while binary[at] & 0x80:
        value |= (binary[at] & 0x7F) << shift
        shift += 7
        at += 1
    return value | binary[at] << shift, at + 1


def _number(value: int) -> bytes:
    """An unsigned LEB128 number."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _signed(value: int) -> bytes:
    """A signed LEB128 number that is not negative: its last byte leaves the bit of the sign open."""
    parts = bytearray()
    while value > 0x3F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _tools() -> Sequence[pathlib.Path]:
    """What makes a component of a module, and the interface."""
    folder = build.template_folder("component")
    return [folder / "package.json", folder / "component.js", folder / "fmi3.wit"]


def _digest() -> str:
    digest = hashlib.sha256(build.digest().encode())
    for file in _tools():
        digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    try:
        print(make_component())
    except BuildError as error:
        sys.exit(f"error: {error}")
