"""Everything that is too long for the suite: `python tests/importers/campaign.py [robots] [fmus] [mutants]`.

- `robots`: every robot of the package example-robot-data, base fixed and floating, against Pinocchio.
- `fmus`: ten of them as native FMUs in FMPy, over 1 s against Pinocchio under DOP853.
- `mutants`: 2,000 damaged files of each format: a model, or an error that begins with the file's path.

Needs the extra `robots`; says so and skips where a package is missing.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np

HERE = pathlib.Path(__file__).parent
#: Robots that run as FMUs: arms, legs, a humanoid of 36 joints; with damping, without friction.
AS_FMUS = (
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "kinova_description/robots/kinova.urdf",
    "so_arm_description/urdf/so101.urdf",
    "solo_description/robots/solo12.urdf",
    "a1_description/urdf/a1.urdf",
    "bolt_description/robots/bolt.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "human_description/robots/human.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
)
MUTANTS = 2000


def robots_folder() -> pathlib.Path | None:
    """Folder of the package example-robot-data, None where it is not installed."""
    for entry in sys.path:
        folder = pathlib.Path(entry) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    return None


def missing(*packages: str) -> str:
    """What to say where packages are missing; '' where none is."""
    lacking = [name for name in packages if importlib.util.find_spec(name) is None]
    if robots_folder() is None:
        lacking.append("example-robot-data")
    return f"skipped, for want of {', '.join(lacking)}: pip install 'mbfmu[robots]'" if lacking else ""


def robots() -> bool:
    """Accelerations and Coriolis terms at random states."""
    from against_pinocchio import compare

    folder = robots_folder()
    assert folder is not None
    fine, worst = True, 0.0
    print(f"{'robot':52} base      speeds   a error   c error  load s  derive s")
    for file in sorted(folder.rglob("*.urdf")):
        for floating in (False, True):
            name, base = str(file.relative_to(folder)), "floating" if floating else "fixed"
            try:
                c = compare(file, floating)
            except Exception as error:
                print(f"{name:52} {base:9} {type(error).__name__}: {str(error).removeprefix(str(file))}", flush=True)
                fine &= "has no <link>" in str(error)
                continue
            worst = max(worst, c.acceleration, c.coriolis)
            told = [note for note in c.notes if note.startswith("held")]
            print(
                f"{name:52} {base:9} {c.speeds:5} {c.acceleration:10.1e} {c.coriolis:9.1e} {c.seconds_to_load:6.2f} "
                f"{c.seconds_to_derive:8.2f}  {'; '.join(told)}",
                flush=True,
            )
    print(f"largest error {worst:.1e}")
    return fine and worst < 1e-10


def fmus() -> bool:
    """Motion of FMUs over 1 s, from rest, with torques that alone would accelerate each joint by 1 rad/s2."""
    import fmpy
    import pinocchio as pin
    from against_pinocchio import GRAVITY, _put
    from scipy.integrate import solve_ivp

    import mbfmu
    from mbfmu.importers.places import parse_xml
    from mbfmu.importers.urdf import Robot

    folder = robots_folder()
    assert folder is not None
    fine = True
    print(f"\n{'robot':52}  import s  build s  run s   difference  reference's own")
    with tempfile.TemporaryDirectory() as temporary:
        for name in AS_FMUS:
            started = time.perf_counter()
            assembly = mbfmu.load(folder / name)
            read = time.perf_counter()
            file = mbfmu.build(assembly, pathlib.Path(temporary) / "robot.fmu", target="native")
            built = time.perf_counter()
            robot = Robot(folder / name, parse_xml(folder / name))
            model = pin.buildModelFromUrdf(str(folder / name))
            model.gravity.linear[:] = (0, 0, -GRAVITY)
            data, joints = model.createData(), list(model.names[1:])
            order = [model.joints[model.getJointId(n)].idx_v for n in joints]
            inertia = np.diag(pin.crba(model, data, pin.neutral(model)))[order]
            torque = {n: float(inertia[k]) * (-1) ** k for k, n in enumerate(joints)}
            damping = np.array([robot.joints[n].damping for n in joints])
            parts = dict(zip(joints, _parts(assembly, robot, joints), strict=True))

            def rate(t: float, x: np.ndarray) -> np.ndarray:
                q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)  # noqa: B023
                for k, n in enumerate(joints):  # noqa: B023
                    _put(pin, model, q, model.getJointId(n), x[k])  # noqa: B023
                v[order] = x[len(joints) :]  # noqa: B023
                tau[order] = [torque[n] for n in joints]  # noqa: B023
                tau[order] -= damping * v[order]  # noqa: B023
                return np.concatenate([v[order], pin.aba(model, data, q, v, tau)[order]])  # noqa: B023

            times = np.linspace(0, 1, 11)
            start = [*(robot.joints[n].start for n in joints), *np.zeros(len(joints))]
            expected, looser = (
                solve_ivp(rate, (0, 1), start, "DOP853", times, rtol=limit, atol=limit).y for limit in (1e-12, 1e-11)
            )
            own = float(np.abs(looser - expected)[: len(joints)].max())
            positions = [f"{parts[n]}.{'phi' if robot.joints[n].rotates else 's'}" for n in joints]
            inputs = [f"{parts[n]}_{'tau' if robot.joints[n].rotates else 'f'}" for n in joints]
            begun = time.perf_counter()
            result = fmpy.simulate_fmu(
                str(file),
                stop_time=1.0,
                output_interval=0.1,
                relative_tolerance=1e-12,
                start_values=dict(zip(inputs, torque.values(), strict=True)),
                output=positions,
            )
            ran = time.perf_counter()
            difference = max(float(np.abs(result[p] - expected[k]).max()) for k, p in enumerate(positions))
            fine &= difference < max(1e-8, 10 * own)  # light links amplify roundings, here as there
            print(
                f"{name:52} {read - started:9.2f} {built - read:8.2f} {ran - begun:6.2f} "
                f"{difference:12.1e} {own:16.1e}",
                flush=True,
            )
    return fine


def _parts(assembly: Any, robot: Any, joints: list[str]) -> list[str]:
    """Names of joints in the assembly."""
    from mbfmu.importers.builder import Builder

    names = Builder("names", "").names
    renamed = {joint: names.new(joint, "joint") for joint in robot.joints}
    return [renamed[joint] for joint in joints]


def damaged() -> bool:
    """Damaged files of both formats."""
    from mutants import mutants, verdict

    folder = robots_folder()
    assert folder is not None
    sources = {
        "urdf": [folder / name for name in (AS_FMUS[0], AS_FMUS[1], "panda_description/urdf/panda.urdf")],
        "mjcf": sorted((HERE / "mjcf").glob("*.xml")),
    }
    fine = True
    with tempfile.TemporaryDirectory() as temporary:
        for kind, files in sources.items():
            models = errors = 0
            slowest = 0.0
            for seed, file in enumerate(files):
                share = MUTANTS // len(files) + (seed < MUTANTS % len(files))
                for i, text in enumerate(mutants(file.read_text(encoding="utf-8"), share, seed)):
                    path = pathlib.Path(temporary) / f"{kind}{i}{file.suffix}"
                    path.write_text(text, encoding="utf-8")
                    started = time.perf_counter()
                    try:
                        answer = verdict(path, derive=i % 8 == 0)
                    except Exception as error:
                        answer = f"{type(error).__name__}: {error}"
                    slowest = max(slowest, time.perf_counter() - started)
                    models, errors = models + (answer == "model"), errors + answer.startswith(str(path))
                    if answer != "model" and not answer.startswith(str(path)):
                        fine = False
                        print(f"{file.name}, mutant {i} of seed {seed}: {answer}")
            print(f"{kind}: {models} models, {errors} errors with a place, slowest {slowest:.2f} s", flush=True)
    return fine


def main(wanted: list[str]) -> int:
    """Run what is wanted, or all."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(HERE))
    parts = {"robots": (robots, ["pinocchio"]), "fmus": (fmus, ["pinocchio"]), "mutants": (damaged, ["mujoco"])}
    fine = True
    for name in wanted or parts:
        run, packages = parts[name]
        obstacle = missing(*packages)
        if obstacle:
            print(f"{name}: {obstacle}")
            continue
        passed = run()
        print(f"{name}: {'passed' if passed else 'FAILED'}")
        fine &= passed
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
