"""The program of the animation page: three.js and our viewer as one script, which npm's esbuild makes at set-up.

`python -m mbfmu.scene.bundle` makes it by hand. It is package data, in no repository; animations as .glb need none.
"""

from __future__ import annotations

import hashlib
import pathlib
import sys

from mbfmu.errors import BuildError
from mbfmu.runtime import npm

#: Where the script is kept, and what it is made from.
BUNDLE = pathlib.Path(__file__).parent / "page" / "viewer.js"
_PACKAGE = pathlib.Path(__file__).resolve().parent.parent
SOURCES = next(
    (place for place in (_PACKAGE.parent / "templates" / "scene", _PACKAGE / "templates" / "scene") if place.is_dir()),
    _PACKAGE / "templates" / "scene",
)

_PURPOSE = "the animation page cannot be bundled"


def is_current() -> bool:
    """True where the script is there and belongs to these sources."""
    if not BUNDLE.is_file():
        return False
    with BUNDLE.open(encoding="utf-8") as file:
        return file.readline().strip() == _mark()


def make_bundle() -> pathlib.Path:
    """Fetch three.js and esbuild by npm and bundle the viewer; returns the file.

    Raises:
        BuildError: npm is not installed, or it fails; the message has its last line.
    """
    with npm.workplace(_sources(), _PURPOSE) as folder:
        program = "esbuild.cmd" if sys.platform == "win32" else "esbuild"
        esbuild = folder / "node_modules" / ".bin" / program
        options = ["--bundle", "--minify", "--format=iife", "--target=es2022", "--legal-comments=eof", "--charset=utf8"]
        options.append("--loader:.css=text")  # style sheets of libraries, which the program puts into the page
        npm.run([str(esbuild), "viewer.js", *options, "--outfile=bundled.js"], folder, _PURPOSE)
        script = (folder / "bundled.js").read_text(encoding="utf-8")
    BUNDLE.parent.mkdir(parents=True, exist_ok=True)
    BUNDLE.write_text(f"{_mark()}\n{script}", encoding="utf-8")
    return BUNDLE


def _sources() -> list[pathlib.Path]:
    """What the script is made from: the package that npm reads, and our modules."""
    return [SOURCES / "package.json", *sorted(SOURCES.glob("*.js"))]


def _mark() -> str:
    digest = hashlib.sha256()
    for file in _sources():
        digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return f"// mbfmu viewer {digest.hexdigest()}"


if __name__ == "__main__":
    try:
        print(make_bundle())
    except BuildError as error:
        sys.exit(f"error: {error}")
