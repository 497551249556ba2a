"""Pointers in place of states: an importer that mixes them up gets an error, never a crash, in both versions of FMI."""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import pathlib

import fmpy
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.simulation import instantiate_fmu

from mbfmu import Assembly, Start
from mbfmu.components import translational
from mbfmu.export.build import build

OK, ERROR = 0, 3


class Oscillator(Assembly):
    """A mass on a spring."""

    def __init__(self):
        self.wall, self.spring = translational.Fixed(), translational.Spring(c=4.0, s_rel0=0.0)
        self.mass = translational.Mass(m=1.0, s=Start(0.1, fixed=True), v=Start(0.0, fixed=True))
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.mass.flange_a)


class Unit:
    """An instance whose functions take and give plain addresses, and answer with statuses."""

    def __init__(self, path, folder):
        description = fmpy.read_model_description(str(path))
        self.two = description.fmiVersion == "2.0"
        self.lines = []
        with contextlib.chdir(pathlib.Path.cwd()):
            self.fmu = instantiate_fmu(
                str(folder), description, "CoSimulation", logger=lambda *line: self.lines.append(line[-1].decode())
            )
        if self.two:
            self.fmu.setupExperiment()
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def call(self, name, *arguments):
        name = f"fmi2{name}FMUstate" if self.two else f"fmi3{name}FMUState"
        try:
            getattr(self.fmu, name)(self.fmu.component, *arguments)
        except FMICallException as failure:
            return failure.status
        return OK

    def save(self, state=None):
        """The address of a state."""
        place = ctypes.c_void_p(state)
        assert self.call("Get", ctypes.byref(place)) == OK
        return place.value

    def set(self, state):
        return self.call("Set", ctypes.c_void_p(state))

    def free(self, state):
        return self.call("Free", ctypes.byref(ctypes.c_void_p(state)))


@pytest.fixture(
    params=[({"equations": "interpreted"}, 2), ({"equations": "interpreted"}, 3), ({"target": "python"}, 2),
            ({"target": "python"}, 3)],
    ids=str,
)  # fmt: skip
def units(request, tmp_path):
    """Return a function that makes instances of one FMU."""
    options, fmi = request.param
    path, made = build(Oscillator(), tmp_path, fmi=fmi, **options), []
    fmpy.extract(str(path), str(tmp_path / "fmu"))

    def make():
        made.append(Unit(path, tmp_path / "fmu"))
        return made[-1]

    yield make
    for unit in made:
        unit.fmu.freeInstance()


@pytest.mark.slow
def test_what_is_no_state_is_refused(units):
    unit = units()
    state = unit.save()
    noise = ctypes.create_string_buffer(4096)
    wrong = [state + 8, state - 32, state + 1, 8, 2**47 - 8, ctypes.addressof(noise), ctypes.addressof(noise) + 16]
    size = ctypes.c_size_t()
    for address in wrong:
        place = ctypes.c_void_p(address)
        assert unit.set(address) == ERROR
        assert unit.call("Get", ctypes.byref(place)) == ERROR
        assert unit.free(address) == ERROR
        size_of = "fmi2SerializedFMUstateSize" if unit.two else "fmi3SerializedFMUStateSize"
        with pytest.raises(FMICallException):
            getattr(unit.fmu, size_of)(unit.fmu.component, place, ctypes.byref(size))
        assert "no state of this model" in unit.lines[-1]
    itself = ctypes.cast(state, ctypes.POINTER(ctypes.c_void_p))  # in place of where its address is
    assert unit.call("Free", itself) == ERROR
    assert unit.set(state) == OK
    assert unit.free(state) == OK


@pytest.mark.slow
def test_a_state_that_was_freed_is_none(units):
    unit = units()
    kept, state = unit.save(), unit.save()
    assert unit.free(state) == OK
    assert unit.set(state) == ERROR
    assert unit.free(state) == ERROR
    assert unit.set(kept) == OK
    assert unit.save(kept) == kept  # in place
    assert unit.free(None) == OK


@pytest.mark.slow
def test_states_of_one_instance_serve_another(units):
    first, second = units(), units()
    first.fmu.doStep(0.0, 0.5)
    state = first.save()
    assert second.set(state) == OK
    second.fmu.doStep(0.5, 0.5)
    assert second.free(state) == OK
    assert first.set(state) == ERROR


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
def test_threads_save_and_free_at_once(units):
    instances = [units() for _ in range(4)]

    def work(unit):
        found = []
        for _ in range(25):
            states = [unit.save() for _ in range(40)]
            found += [unit.set(state) for state in states] + [unit.free(state) for state in states]
        return found

    with concurrent.futures.ThreadPoolExecutor(len(instances)) as pool:
        statuses = [status for found in pool.map(work, instances) for status in found]
    assert statuses == [OK] * len(statuses)
