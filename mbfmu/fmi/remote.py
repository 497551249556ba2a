"""An instance of an FMU in a process of its own: what crashes there, or never returns, ends with a message here.

Requests and answers are pickled, over pipes. The child makes the instance by `open_slave`; what it prints goes nowhere,
for its standard output is the pipe.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import AsksForNothing, Log, Saved, Values, open_slave
from mbfmu.fmi.variables import Interface

#: What loading an FMU may take at least, s, whatever limit calls have.
LOADING = 60.0

_PROGRAM = "from mbfmu.fmi.remote import serve; serve()"


class SlaveGone(SimulationError):
    """An instance has crashed, or did not return."""

    #: Going back and trying a shorter step is of no use.
    final = True


class RemoteSlave:
    """Has what a `Slave` has; make one with `open_remote`."""

    def __init__(self, name: str, description: Any, interface: Interface, limit: float | None) -> None:
        self.name, self.description, self.interface, self.limit = name, description, interface, limit
        self.time, self.at_event = 0.0, False
        self.ended: str | None = None
        self.takes_slopes = self.saves = self.differentiates = False
        self._goes_back = False
        self._keys: dict[int, tuple[int, Values]] = {}
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment, start_new_session=True,
        )  # fmt: skip
        self._answers: queue.Queue[Any] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                self._answers.put(pickle.load(self._process.stdout))
        self._answers.put(None)

    def ask(self, method: str, *arguments: Any, limit: float | None = None) -> Any:
        """Let the child call a method of its instance.

        Raises:
            SlaveGone: It has crashed, or does not return within the limit [s].
            SimulationError: What the instance raises.
        """
        assert self._process.stdin is not None
        limit = self.limit if limit is None else limit
        try:
            pickle.dump((method, arguments, self.time), self._process.stdin)
            self._process.stdin.flush()
            answer = self._answers.get(timeout=limit)
        except queue.Empty:
            self.close()
            raise SlaveGone(
                f"{self.name} at t = {self.time:.9g} s: does not return from {method} within {limit:g} s"
            ) from None
        except OSError:
            answer = None
        if answer is None:
            raise SlaveGone(f"{self.name} at t = {self.time:.9g} s: crashes in {method} ({self._how()})")
        kind, value, state = answer
        if kind == "error":
            wanted, text = value
            raise (AsksForNothing if wanted == "AsksForNothing" else SimulationError)(text)
        if state is not None:
            self.time, self.ended, self.at_event = state
        return value

    def _how(self) -> str:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "its process has closed its pipe"
        if code < 0:
            return f"signal {-code}, {signal.Signals(-code).name}"
        return f"its process ends with code {code}"

    def close(self) -> None:
        """End the child."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is self._process.stdin and pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(2)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def kill(self) -> None:
        """End the child at once."""
        self._process.kill()

    def _key(self, values: Values) -> int:
        if id(values) not in self._keys:
            key = len(self._keys)
            self._keys[id(values)] = (key, values)
            self.ask("know", key, [scalar.name for scalar in values.scalars])
        return self._keys[id(values)][0]

    # -- what a Slave has

    @property
    def goes_back(self) -> bool:
        """May it be taken back to a state that was saved?"""
        return self._goes_back

    @goes_back.setter
    def goes_back(self, value: bool) -> None:
        self._goes_back = value
        self.ask("may_go_back", value)

    def begin(self, start_time: float, stop_time: float, tolerance: float | None, values: Mapping[str, Any]) -> None:
        """See `Slave.begin`."""
        self.ask("begin", start_time, stop_time, tolerance, dict(values))

    def finish_initialisation(self) -> None:
        """See `Slave.finish_initialisation`."""
        self.ask("finish_initialisation")

    def get(self, values: Values, finite: bool = True) -> list[Any]:
        """See `Slave.get`."""
        found: list[Any] = self.ask("get", _Known(self._key(values)), finite) if len(values) else []
        return found

    def set(self, values: Values, given: Iterable[Any], failure: str = "refuses its inputs") -> None:
        """See `Slave.set`."""
        if len(values):
            self.ask("set", _Known(self._key(values)), list(given), failure)

    def set_discrete(self, values: Values, given: Sequence[Any]) -> None:
        """See `Slave.set_discrete`."""
        if len(values):
            self.ask("set_discrete", _Known(self._key(values)), list(given))

    def slopes(self, values: Values) -> np.ndarray:
        """See `Slave.slopes`."""
        found: np.ndarray = self.ask("slopes", _Known(self._key(values)))
        return found

    def set_slopes(self, values: Values, slopes: np.ndarray) -> None:
        """See `Slave.set_slopes`."""
        if len(values):
            self.ask("set_slopes", _Known(self._key(values)), slopes)

    def hold_inputs(self) -> None:
        """See `Slave.hold_inputs`."""
        self.ask("hold_inputs")

    def derivatives(self, outputs: Values, inputs: Values) -> np.ndarray:
        """See `Slave.derivatives`."""
        found: np.ndarray = self.ask("derivatives", _Known(self._key(outputs)), _Known(self._key(inputs)))
        return found

    def step(self, size: float) -> None:
        """See `Slave.step`."""
        self.ask("step", size)

    def finish_event(self) -> None:
        """See `Slave.finish_event`."""
        if self.at_event:
            self.ask("finish_event")

    def save(self) -> Saved:
        """See `Slave.save`."""
        return Saved(self.ask("keep"), self.time, {})

    def restore(self, saved: Saved) -> None:
        """See `Slave.restore`."""
        self.ask("take_back", saved.state)

    def forget(self, saved: Saved) -> None:
        """See `Slave.forget`."""
        self.ask("drop", saved.state)


class _Known:
    """Values that the child knows, by their number."""

    def __init__(self, key: int) -> None:
        self.key = key


@contextlib.contextmanager
def open_remote(
    name: str, path: pathlib.Path, description: Any, interface: Interface, lines: bool, events: bool,
    limit: float | None,
) -> Iterator[RemoteSlave]:  # fmt: skip
    """Yield an instance in a process of its own; as `open_slave`. Calls may take `limit` s, where it is given.

    Raises:
        SimulationError: As `open_slave` raises it; the process crashes or does not return.
    """
    slave = RemoteSlave(name, description, interface, limit)
    try:
        loading = None if limit is None else max(limit, LOADING)
        able = slave.ask("open", name, str(path), lines, events, limit=loading)
        slave.takes_slopes, slave.saves, slave.differentiates = able
        yield slave
    except BaseException as error:
        if isinstance(error, SlaveGone) or not isinstance(error, Exception):
            slave.kill()
        raise
    finally:
        slave.close()


class _Server:
    """The child's side: an instance, the values it was told of, and its saved states."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.stack = stack
        self.slave: Any = None
        self.values: dict[int, Values] = {}
        self.saved: dict[int, Saved] = {}
        self._count = 0

    def answer(self, method: str, arguments: Sequence[Any], time: float) -> tuple[str, Any, Any]:
        """Do what is asked for; the answer is pickled."""
        try:
            if self.slave is not None:
                self.slave.time = time
            own = getattr(self, f"do_{method}", None)
            function = own if own is not None else getattr(self.slave, method)
            given = [self.values[one.key] if isinstance(one, _Known) else one for one in arguments]
            value = function(*given)
        except Exception as error:
            return "error", (type(error).__name__, str(error)), None
        state = None if self.slave is None else (self.slave.time, self.slave.ended, self.slave.at_event)
        return "ok", value, state

    def do_open(self, name: str, path: str, lines: bool, events: bool) -> tuple[bool, bool, bool]:
        """Make the instance."""
        from mbfmu.fmi.description import read_description

        description = read_description(path)
        interface = Interface(description)
        self.slave = self.stack.enter_context(
            open_slave(name, pathlib.Path(path), description, interface, lines, Log(), events)
        )
        return self.slave.takes_slopes, self.slave.saves, self.slave.differentiates

    def do_know(self, key: int, names: Sequence[str]) -> None:
        """Take a number for some values."""
        self.values[key] = Values([self.slave.interface[name][0] for name in names])

    def do_may_go_back(self, value: bool) -> None:
        """Say whether the instance may be taken back."""
        self.slave.goes_back = value

    def do_keep(self) -> int:
        """Save a state, and give it a number."""
        self._count += 1
        self.saved[self._count] = self.slave.save()
        return self._count

    def do_take_back(self, number: int) -> None:
        """Restore a state."""
        self.slave.restore(self.saved[number])

    def do_drop(self, number: int) -> None:
        """Free a state."""
        self.slave.forget(self.saved.pop(number))


def serve() -> None:
    """Answer requests from standard input until it ends."""
    incoming: BinaryIO = os.fdopen(os.dup(0), "rb")
    outgoing: BinaryIO = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    with contextlib.ExitStack() as stack, contextlib.suppress(EOFError, BrokenPipeError):
        server = _Server(stack)
        while True:
            answer = server.answer(*pickle.load(incoming))
            pickle.dump(answer, outgoing)
            outgoing.flush()
