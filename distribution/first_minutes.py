"""The first ten minutes of a newcomer, recorded: `python -m distribution.first_minutes WHEEL FOLDER`.

A terminal (tmux, 100 columns) in a new environment and an empty home, with nothing but the wheel: what the README and
the guide's first page say is typed, line by line. A browser (Chromium through Selenium) opens what the commands ask a
browser to open, and the pages that they write, and does what these pages say. The folder gets `index.html` with
commands, seconds and what was seen after each, its pictures, and `record.json`. A command that fails ends it, with 1.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import dataclasses
import html
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Of the terminal, and of the browser's window in pixels.
COLUMNS, ROWS = 100, 40
WINDOW = (1280, 800)
#: What a command or a page takes at most [s].
PATIENCE = 900
#: How pictures are kept.
QUALITY = 60

#: Lines of the terminal before those of the README, whose example is `pendulum.py`.
FIRST = (
    "python -m pip install --quiet {wheel}",
    "mbfmu",
    "mbfmu demo",
    "mbfmu list hinge",
    "mbfmu info double_pendulum",
    "mbfmu simulate double_pendulum --stop 1",
    "mbfmu animate double_pendulum",
    "mbfmu build double_pendulum",
    "mbfmu validate DoublePendulum.fmu",
    "mbfmu diagram engine_1b",
)
#: What stands for a browser: it writes down what it is asked for, and nothing opens.
BROWSER = '#!/bin/sh\nprintf "%s\\n" "$1" >> "$HOME/asked"\n'


@dataclasses.dataclass
class Step:
    """What was done, how long it took [s of the clock, of processors], and what was seen then."""

    did: str
    seconds: float
    processor: float | None
    seen: str
    picture: str = ""


class Terminal:
    """A shell in tmux with its own home, and a prompt that says what the last command took."""

    def __init__(self, home: pathlib.Path, python: pathlib.Path) -> None:
        self.home, self._socket = home, f"mbfmu-{os.getpid()}"
        self._told = home / ".told"
        browser = home / "browser"
        browser.write_text(BROWSER)
        browser.chmod(0o755)
        rc = home / ".bashrc"
        rc.write_text(
            f"PS1='$ '\nPROMPT_COMMAND='{{ echo $?; times; }} > {self._told}.new; mv {self._told}.new {self._told}'\n"
        )
        environment = {
            "HOME": str(home),
            "PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "BROWSER": f"{browser} %s",
            "SHELL": "/bin/bash",
        }
        words = [f"{name}={value}" for name, value in environment.items()]
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(home),
                   f"exec env -i TERM=$TERM {' '.join(map(_quoted, words))} bash --rcfile {rc}")  # fmt: skip
        self._tmux("set-option", "-g", "history-limit", "5000")
        self._wait()

    def run(self, line: str) -> Step:
        """Type a line, wait until it is done, and return what the terminal shows of it.

        Raises:
            SystemExit: It fails.
        """
        self._type("clear")
        self._tmux("clear-history")
        before = self._spent()
        started = time.monotonic()
        status = self._type(line)
        took = time.monotonic() - started
        shown = self._tmux("capture-pane", "-p", "-S", "-").rstrip()
        seen = "\n".join(row.rstrip() for row in shown.splitlines()).removesuffix("\n$")
        if status:
            raise SystemExit(f"{line}: ends with {status}\n{seen}")
        print(f"{took:7.1f} s  {line}", flush=True)
        return Step(line, took, self._spent() - before, seen)

    def asked(self) -> list[str]:
        """What a browser was asked for so far."""
        file = self.home / "asked"
        return file.read_text().split() if file.is_file() else []

    def close(self) -> None:
        """End the shell."""
        self._tmux("kill-server")

    def _type(self, line: str) -> int:
        """Type a line; its exit code, when it is done."""
        self._told.unlink()
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")
        return self._wait()

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def _wait(self) -> int:
        deadline = time.monotonic() + PATIENCE
        while not self._told.is_file():
            if time.monotonic() > deadline:
                raise SystemExit(f"a command does not end within {PATIENCE} s\n{self._tmux('capture-pane', '-p')}")
            time.sleep(0.02)
        return int(self._told.read_text().split()[0])

    def _spent(self) -> float:
        """Seconds of processors that commands have taken: the second line of `times`, user and system."""
        words = self._told.read_text().split()[3:5]
        return sum(60 * float(word.partition("m")[0]) + float(word.partition("m")[2].rstrip("s")) for word in words)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


class Pages:
    """A browser, its pictures, and what is read off pages."""

    def __init__(self, browser: Any, folder: pathlib.Path) -> None:
        self.browser, self.folder, self.count = browser, folder, 0

    def open(self, address: str) -> float:
        """Show a page; the seconds until it is ready."""
        self.browser.get("about:blank")
        started = time.monotonic()
        self.browser.get(address)
        while not self.script("return document.documentElement.dataset.ready"):
            if time.monotonic() > started + PATIENCE:
                raise SystemExit(f"{address}: is not ready within {PATIENCE} s")
            time.sleep(0.05)
        return time.monotonic() - started

    def script(self, text: str, *arguments: Any) -> Any:
        """What a script gives."""
        return self.browser.execute_script(text, *arguments)

    def step(self, did: str, act: Callable[[], object], seen: Callable[[], str]) -> Step:
        """Do something, and take a picture then."""
        from PIL import Image

        started = time.monotonic()
        act()
        took = time.monotonic() - started
        data = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
        self.count += 1
        name = f"{self.count:02}.webp"
        Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB").save(self.folder / name, quality=QUALITY)
        return Step(did, took, None, seen(), name)


#: The time on a page's clock, what it plots, and values of its inputs.
STATE = """
const shown = {};
for (const row of document.querySelectorAll("#controls .setting")) {
  const box = row.querySelector("input[type=number]");
  if (box && row.querySelector(".keys")) shown[row.dataset.name] = Number(box.value);
}
const chips = [...document.querySelectorAll("#plots .chip")];
const curves = chips.map((chip) => [...chip.querySelectorAll("span")].map((part) => part.textContent).join(" "));
const [clock, factor] = ["clock", "factor"].map((id) => document.getElementById(id).textContent.trim());
return [clock, factor, shown, curves];
"""


def live_steps(pages: Pages, address: str) -> Iterator[Step]:
    """What the page of `mbfmu demo` says one can do: keys, a slider, a curve more, a load that is dragged."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser = pages.browser

    def state(*names: str) -> str:
        clock, factor, inputs, curves = pages.script(STATE)
        values = ", ".join(f"{name} = {inputs[name]:g}" for name in names or inputs)
        return f"clock {clock}{f', {factor} of real time' if factor else ''}; {values}; curves: {' | '.join(curves)}"

    ready: list[float] = []
    yield pages.step(
        "open it, wait 3 s",
        lambda: (ready.append(pages.open(address)), time.sleep(3)),
        lambda: f"ready after {ready[0]:.1f} s; {state()}",
    )
    yield pages.step(
        "hold the left arrow key for 2 s",
        lambda: (ActionChains(browser).key_down(Keys.ARROW_LEFT).perform(), time.sleep(2)),
        lambda: state("slew"),
    )
    yield pages.step("let go", lambda: ActionChains(browser).key_up(Keys.ARROW_LEFT).perform(), lambda: state("slew"))
    slider = browser.find_element(By.CSS_SELECTOR, '#controls .setting[data-name="travel"] input[type=range]')
    right = slider.size["width"] // 4
    yield pages.step(
        "pull the slider of travel to the right",
        lambda: (
            ActionChains(browser).click_and_hold(slider).move_by_offset(right, 0).release().perform(),
            time.sleep(2),
        ),
        lambda: state("travel"),
    )
    yield pages.step(
        "type `load r_0` into Plot a variable, Enter, Esc",
        lambda: (
            browser.find_element(By.ID, "find").send_keys("load r_0", Keys.ENTER, Keys.ESCAPE),
            time.sleep(1),
        ),
        state,
    )

    def place() -> tuple[list[float], list[int]]:
        """Where the load is [m], and where that is in the window."""
        found: tuple[list[float], list[int]] = pages.script(
            """
            const [mesh] = viewer.meshesOf("load"), at = viewer.boxOf([mesh]).getCenter(viewer.controls.target.clone());
            const seen = at.clone().project(viewer.camera), box = viewer.renderer.domElement.getBoundingClientRect();
            return [at.toArray(), [box.left + ((seen.x + 1) / 2) * box.width, box.top + ((1 - seen.y) / 2) * box.height]
              .map(Math.round)];
            """
        )
        return found

    moved: list[list[float]] = []

    def drag() -> None:
        pages.script("viewer.play(false)")
        at, (x, y) = place()
        moved.append(at)
        chain = ActionChains(browser)
        chain.w3c_actions.pointer_action.move_to_location(x, y).pointer_down()
        for k in range(1, 6):
            chain.w3c_actions.pointer_action.move_to_location(x + 16 * k, y - 6 * k)
        chain.perform()
        pages.script("viewer.play(true)")
        time.sleep(3)
        moved.append(place()[0])

    yield pages.step(
        "drag the load, hold it",
        drag,
        lambda: (
            f"held: {pages.script('return Boolean(viewer.motion.grip?.held)')}; the load went "
            f"{sum((b - a) ** 2 for a, b in zip(*moved, strict=True)) ** 0.5:.2g} m; {state('slew')}"
        ),
    )
    yield pages.step(
        "let go", lambda: (ActionChains(browser).release().perform(), time.sleep(1)), lambda: state("slew")
    )


def recorded_steps(pages: Pages, address: str) -> Iterator[Step]:
    """A page of `mbfmu animate`: played by the space bar, led by its slider."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    def state() -> str:
        clock, _, _, curves = pages.script(STATE)
        return f"clock {clock}; curves: {' | '.join(curves)}"

    ready: list[float] = []
    body = pages.browser.find_element
    yield pages.step(
        "open it", lambda: ready.append(pages.open(address)), lambda: f"ready after {ready[0]:.1f} s; {state()}"
    )
    yield pages.step("space, wait 1 s", lambda: (body(By.TAG_NAME, "body").send_keys(Keys.SPACE), time.sleep(1)), state)
    yield pages.step("space, then End", lambda: body(By.TAG_NAME, "body").send_keys(Keys.SPACE, Keys.END), state)


def readme() -> tuple[str, list[str]]:
    """The README's example of Python, and the commands that use it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = text.partition("```python\n")[2].partition("```")[0]
    listed = text.partition("Saved as `pendulum.py`:\n\n")[2].partition("\n\n")[0]
    return example, [line.partition("#")[0].strip() for line in listed.splitlines()]


def record(wheel: pathlib.Path, folder: pathlib.Path, python: str) -> dict[str, list[Step]]:
    """All steps, by what they are done in; their pictures are in the folder."""
    from mbfmu.fmus import rendering

    found: dict[str, list[Step]] = {"Terminal": []}
    with tempfile.TemporaryDirectory(prefix="first-") as name:
        home = pathlib.Path(name)
        subprocess.run([python, "-m", "venv", home / "env"], check=True)
        terminal = Terminal(home, home / "env" / "bin" / "python")
        try:
            shutil.copy(wheel, home / wheel.name)
            for line in FIRST:
                found["Terminal"].append(terminal.run(line.format(wheel=wheel.name)))
            example, commands = readme()
            (home / "pendulum.py").write_text(example, encoding="utf-8")
            found["Terminal"] += [terminal.run(line) for line in commands]
            asked = terminal.asked()
        finally:
            terminal.close()
        if not asked:
            raise SystemExit("mbfmu demo asks no browser for its page")
        with rendering.chromium() as browser, rendering.window(browser, WINDOW):
            pages = Pages(browser, folder)
            demo = pathlib.Path(urllib.request.url2pathname(urllib.parse.urlsplit(asked[0]).path))
            found[f"The page of mbfmu demo, {demo.name}"] = list(live_steps(pages, asked[0]))
            for page in ("DoublePendulum.html", "motion.html"):
                found[f"The page {page}"] = list(recorded_steps(pages, (home / page).as_uri()))
            with contextlib.suppress(OSError):
                said = [entry["message"] for entry in browser.get_log("browser")]
                found["What the browser's console says"] = [Step("", 0.0, None, text) for text in said]
    return found


def page(found: dict[str, list[Step]], wheel: pathlib.Path) -> str:
    """The record as a page."""
    parts = []
    for title, steps in found.items():
        rows = "".join(
            f"<section><h3><code>{html.escape(step.did)}</code></h3><p>{step.seconds:.1f} s"
            f"{f', {step.processor:.1f} s of processors' if step.processor is not None else ''}</p>"
            f"<pre>{html.escape(step.seen)}</pre>"
            + (f'<img src="{step.picture}" alt="{html.escape(step.did)}">' if step.picture else "")
            + "</section>"
            for step in steps
        )
        parts.append(f"<h2>{html.escape(title)}</h2>{rows}")
    style = (
        "body{font:15px system-ui;margin:2em auto;max-width:1000px}pre{background:#f3f5f7;padding:.8em;overflow:auto}"
        "img{max-width:100%}"
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>The first ten minutes</title>'
        f"<style>{style}</style>"
        f"<h1>The first ten minutes</h1><p>{html.escape(wheel.name)}</p>{''.join(parts)}</html>"
    )


def main() -> int:
    """Record, and write what was seen."""
    parser = argparse.ArgumentParser(prog="python -m distribution.first_minutes", description=__doc__)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="which Python the new environment is of")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    found = record(options.wheel.resolve(), options.folder, options.python)
    (options.folder / "index.html").write_text(page(found, options.wheel), encoding="utf-8")
    facts = {title: [dataclasses.asdict(step) for step in steps] for title, steps in found.items()}
    (options.folder / "record.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    print(options.folder / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
