"""A host of WebAssembly FMUs around wasmtime: interfaces, handles and callbacks of the draft FMI-LS-WASM."""

from __future__ import annotations

import functools
import pathlib
import zipfile
from collections.abc import Callable
from typing import Any

import wasmtime
from wasmtime import component

#: Status of a call that is no `ok`.
BAD = ("warning", "discard", "error", "fatal")


@functools.cache
def engine() -> wasmtime.Engine:
    return wasmtime.Engine()


@functools.cache
def compiled(path: pathlib.Path) -> component.Component:
    with zipfile.ZipFile(path) as archive:
        (name,) = (n for n in archive.namelist() if n.startswith("binaries/wasm32-wasip2/"))
        return component.Component(engine(), archive.read(name))


class Guest:
    """An instance of an FMU's component, with what it logs; `call` is a method of the draft's interface."""

    def __init__(
        self,
        path: pathlib.Path,
        kind: str,
        token: str,
        event_mode: bool = False,
        early_return: bool = False,
        update: Callable[..., tuple[bool, float]] = lambda *_: (False, 0.0),
        name: str = "Größe",
    ) -> None:
        self.log: list[tuple[str, str, str, str]] = []
        self.kind = kind
        self.store = wasmtime.Store(engine())
        linker = component.Linker(engine())
        with linker.root() as root:
            with root.add_instance("fmi:fmi3/callbacks@3.0.0") as callbacks:
                callbacks.add_func("log-message", lambda _, *line: self.log.append(line))
                for unused in ("clock-update", "lock-preemption", "unlock-preemption"):
                    callbacks.add_func(unused, lambda _: None)
            with root.add_instance("fmi:fmi3/intermediate-update-callbacks@3.0.0") as updates:
                updates.add_func("intermediate-update", lambda _, *given: update(*given))
        self.instance = linker.instantiate(self.store, compiled(path))
        more = [event_mode, early_return, []] if kind == "co-simulation" else []
        self.handle = self.function(f"[static]{kind}-instance.instantiate-{kind}")(
            self.store, name, token, "/nowhere", False, True, *more
        )

    def function(self, name: str, interface: str = "") -> Any:
        place = self.instance.get_export_index(self.store, f"fmi:fmi3/{interface or self.kind}@3.0.0")
        index = self.instance.get_export_index(self.store, name, place)
        assert index is not None, name
        return self.instance.get_func(self.store, index)

    def call(self, name: str, *arguments: Any) -> Any:
        function = self._method(name)
        answer = function(self.store, self.handle, *arguments)
        function.post_return(self.store)
        return answer

    @functools.cache  # noqa: B019 - instances live as long as a test
    def _method(self, name: str) -> Any:
        return self.function(f"[method]{self.kind}-instance.{name}")

    def done(self, name: str, *arguments: Any) -> Any:
        """The same, for calls that succeed."""
        answer = self.call(name, *arguments)
        assert answer not in BAD, (name, answer, self.log)
        return answer

    def free(self) -> None:
        self.handle.drop(self.store)
