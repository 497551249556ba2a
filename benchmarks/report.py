"""Tables of the results, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.precision import TARGET, best_ratio, growth

NAMES = {
    "mbfmu": "mbfmu",
    "mbfmu_in_steps": "mbfmu, steps of 10 ms",
    "pinocchio": "Pinocchio",
    "mujoco": "MuJoCo",
    "exudyn": "Exudyn",
}


def show(results: Mapping[str, Any], console: Console) -> None:
    """Print every section that the results have."""
    for section, table in (
        ("forward_dynamics", _forward_dynamics),
        ("loops", _loops),
        ("contacts", _contacts),
        ("flexible", _flexible),
        ("work_precision", _work_precision),
        ("do_step", _do_step),
        ("fixed_steps", _fixed_steps),
        ("batches", _batches),
        ("building", _building),
        ("systems", _systems),
    ):
        if section in results:
            console.print(table(results[section]))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left")
    return table


def _forward_dynamics(results: Mapping[str, Any]) -> Table:
    table = _table(
        "Forward dynamics of an n-link chain with aligned axes, and of trees with random ones, µs",
        "",
        "mbfmu, C",
        "mbfmu, Python",
        "Pinocchio, C++",
        "Pinocchio, Python",
        "MuJoCo",
        "mbfmu : Pinocchio, C++",
    )
    for row in (*results["sizes"], *results.get("trees", ())):
        keys = ("c", "python", "pinocchio_cpp", "pinocchio", "mujoco")
        times = [f"{1e6 * row[key]:.2f}" if row[key] else "not measured" for key in keys]
        ratio = f"{row['c'] / row['pinocchio_cpp']:.2f}" if row["pinocchio_cpp"] else ""
        table.add_row(row.get("title") or f"n = {row['n']}", *times, ratio)
    call = f"{1e6 * results['call_overhead']:.2f} µs at most"
    table.caption = f"Of Pinocchio's time from Python, {call} are the call."
    growth = _growth(results["sizes"], 20, 200)
    if growth:
        table.caption += f" mbfmu's time(200) : time(20) = {growth:.1f}."
    return table


def _loops(results: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(
        "Right-hand side of mechanisms with many loops, µs",
        "",
        "unknowns",
        "mbfmu",
        "MuJoCo",
        "Pinocchio, C++",
        "its way",
        "mbfmu : MuJoCo",
        "mbfmu : best peer",
    )
    powers = []
    for family in dict.fromkeys(row["family"] for row in results):
        rows = [row for row in results if row["family"] == family]
        for row in rows:
            peer = row.get("pinocchio")
            times = [f"{1e6 * time:.1f}" if time else "not measured" for time in (row["mbfmu"], row["mujoco"], peer)]
            best = min(row["mujoco"], peer or row["mujoco"])
            ratios = [f"{row['mbfmu'] / time:.2f}" for time in (row["mujoco"], best)]
            table.add_row(f"{family} {row['n']}", str(row["unknowns"]), *times, row.get("way") or "", *ratios)
        if len(rows) > 1:
            powers.append(f"{family} {growth(rows):.2f} (MuJoCo {growth(rows, 'mujoco'):.2f})")
    if powers:
        table.caption = "Powers of the unknowns with which times grow: " + ", ".join(powers) + "."
    return table


def _contacts(results: Sequence[Mapping[str, Any]]) -> Table:
    names = ("mbfmu", "mujoco", "exudyn")
    columns = (*(NAMES[name] for name in names), "mbfmu : best peer", "making the FMU, s", "ends differ by, m")
    table = _table("Bodies that meet: CPU time to the error aimed at, ms", "", *columns)
    for row in results:
        times = [f"{1e3 * row[name]:.3g}" if row[name] else "not reached" for name in names]
        ratio = best_ratio({name: row[name] for name in names})
        cells = (f"{1 / ratio:.2f}" if ratio else "", f"{row['making']:.1f}", f"{row['differs']:.1e}")
        table.add_row(f"{row['n']} {row['family']}", *times, *cells)
    table.caption = "Quickest ways: " + "; ".join(
        f"{row['n']} {row['family']}: "
        + ", ".join(f"{NAMES[name]} {way}" for name, way in row["chosen"].items() if way)
        for row in results
    )
    return table


def _flexible(results: Sequence[Mapping[str, Any]]) -> Table:
    names = ("mbfmu", "exudyn", "mujoco")
    columns = (*(NAMES[name] for name in names), "mbfmu : best peer", "ends differ by, m")
    table = _table("Bodies that bend: CPU time to the error aimed at, ms", "", *columns)
    for row in results:
        times = {name: row.get(name) for name in names}
        cells = [_time_or_why(row, name) for name in names]
        ratio = best_ratio(times)
        table.add_row(
            f"{row['title']}, to {row['target']:g} m",
            *cells,
            f"{1 / ratio:.2f}" if ratio else "",
            f"{row['differs']:.1e}",
        )
    table.caption = "Quickest ways: " + "; ".join(
        f"{row['title']}: " + ", ".join(f"{NAMES[name]} {way}" for name, way in row["chosen"].items() if way)
        for row in results
    )
    return table


def _time_or_why(row: Mapping[str, Any], name: str) -> str:
    if row.get(name):
        return f"{1e3 * row[name]:.3g}"
    return "not reached" if name in row else "has none"


def _growth(rows: Sequence[Mapping[str, Any]], small: int, large: int) -> float | None:
    times = {row["n"]: row["c"] for row in rows}
    return times[large] / times[small] if small in times and large in times else None


def _work_precision(results: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(f"CPU time to an error of {TARGET:g} rad at the end, ms", "", *NAMES.values(), "best peer : mbfmu")
    chosen = []
    for result in results:
        times = result["time_at_target"]
        cells = [f"{1e3 * times[key]:.2f}" if times[key] else "not reached" for key in NAMES]
        ratio = best_ratio(times)
        table.add_row(result["title"], *cells, f"{ratio:.1f}" if ratio else "")
        ways = ", ".join(f"{NAMES[key]} {way}" for key, way in result.get("chosen", {}).items() if way)
        chosen += [f"{result['title']}: {ways}."] if ways else []
    table.caption = "mbfmu: native FMU through FMPy. All make one call to the end, but for the steps of 10 ms. "
    table.caption += " ".join(chosen)
    return table


def _do_step(results: Mapping[str, float]) -> Table:
    table = _table(
        "doStep of 10 ms and getReal of all outputs through FMPy, double pendulum", "", "µs a step", "above bare, µs"
    )
    for label, key in (
        ("bare FMU, does nothing", "bare"),
        ("native, hanging at rest: no integrator work", "native_at_rest"),
        ("native, swinging", "native"),
        ("python, hanging at rest", "python_at_rest"),
        ("python, swinging", "python"),
    ):
        table.add_row(label, f"{1e6 * results[key]:.2f}", f"{1e6 * (results[key] - results['bare']):.2f}")
    table.caption = f"python : native, swinging = {results['python'] / results['native']:.0f}"
    return table


def _fixed_steps(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = _table("Steps of fixed length, µs", "", "median", "99.9 %", "longest", "longest : median", "first : median")
    for row in rows:
        times = (f"{1e6 * row[key]:.1f}" for key in ("median", "most", "longest"))
        ratios = (f"{row[key] / row['median']:.2f}" for key in ("longest", "first"))
        table.add_row(f"{row['title']}, {1e3 * row['step']:g} ms", *times, *ratios)
    table.caption = "Each step's CPU time is the least in several programs, each with its first step."
    return table


def _batches(rows: Sequence[Mapping[str, Any]]) -> Table:
    kinds = ("interpreted", "interpreted, in lanes", "compiled", "compiled, in lanes")
    table = _table(
        "Many runs in one thread, µs a run",
        "",
        *kinds,
        "compiling, s",
        "MuJoCo's rollout",
        "Diffrax",
        "error of mbfmu, rad",
    )
    for row in rows:
        times = [f"{1e6 * row[key]:.0f}" if key in row else "" for key in kinds]
        peer = f"{1e6 * row['mujoco']:.0f}" if row["mujoco"] else "not reached" if "error" in row else ""
        other = f"{1e6 * row['diffrax']:.0f}" if row.get("diffrax") else ""
        error = f"{row['error']:.1e}" if "error" in row else ""
        table.add_row(f"{row['n']}, {row['stop_time']:g} s", *times, f"{row['compiling']:.2f}", peer, other, error)
    table.caption = (
        f"{rows[0]['lanes']} lanes. MuJoCo, Diffrax: the longest step, the largest tolerance whose error is not larger."
    )
    return table


def _building(rows: Sequence[Mapping[str, float]]) -> Table:
    table = _table(
        "Building the native FMU of an n-link chain",
        "n",
        "equations, s",
        "all else, s",
        "C, kB",
        "library, kB",
        "FMU, kB",
    )
    for row in rows:
        sizes = [f"{row[key] / 1e3:.0f}" for key in ("code", "library", "archive")]
        table.add_row(f"{row['n']:.0f}", f"{row['derive']:.1f}", f"{row['build']:.1f}", *sizes)
    return table


def _systems(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(
        "Systems of FMUs: error over cost, and wall time by threads", "master", "setting", "calls", "s", "error"
    )
    for row in rows:
        for point in row.get("points", ()):
            numbers = (f"{point['setting']:g}", f"{point['calls']}", f"{point['seconds']:.2f}", f"{point['error']:.1e}")
            table.add_row(row["title"], *numbers)
        for threads, seconds in row.get("seconds", {}).items():
            leading, others = row["work"][threads]
            work = f"CPU: {leading:.2f} leading, {others:.2f} stepping"
            table.add_row(row["title"], f"{threads} threads", "", f"{seconds:.2f}", work)
    return table
