"""Print the oldest versions that pyproject.toml allows, as constraints of pip: `python -m distribution.oldest`.

Of each dependency and each extra that the tests need; what has no bound, and what these need in turn, is left to pip.
"""

from __future__ import annotations

import pathlib
import re
import tomllib

#: An extra, then the versions from one on.
_BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\w.]+)")


def constraints(pyproject: pathlib.Path) -> list[str]:
    """Lines `name==version` of dependencies, tests and docs; each as the greatest of its bounds has it."""
    project = tomllib.loads(pyproject.read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["test"], *extras["docs"]]
    return [f"{bound['name']}=={bound['version']}" for text in wanted if (bound := _BOUND.fullmatch(text))]


if __name__ == "__main__":
    print("\n".join(constraints(pathlib.Path("pyproject.toml"))))
