"""What the site takes from the code: a hook of MkDocs that writes pages before it reads them.

Components from their declarations, commands from their parsers, notebooks with what they print and draw, CHANGELOG.md
and CONTRIBUTING.md. MBFMU_NOTEBOOKS=source leaves notebooks unrun. Live pages are those that `make live` wrote.
"""

from __future__ import annotations

import ast
import base64
import inspect
import json
import os
import pathlib
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from mbfmu.cli import classes as listed
from mbfmu.components.vehicle.coefficients import KEYS
from mbfmu.modeling import Component
from mbfmu.modeling.connectors import Port
from mbfmu.modeling.declarations import Declaration, Parameter, Start, Variable, required
from mbfmu.modeling.registry import component_classes

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIVE = ROOT / "build" / "live"
#: The live page that the home page shows.
MACHINE = "tower_crane"

#: Page -> (title, Modelica packages). A class belongs to the longest package that its name begins with.
COMPONENT_PAGES = {
    "world": ("World and visualizers", ("MultiBody", "MultiBody.Interfaces", "MultiBody.Visualizers")),
    "parts": ("Parts", ("MultiBody.Parts",)),
    "joints": ("Joints: hinges, sliders, balls and more", ("MultiBody.Joints",)),
    "flexible": ("Bodies that bend", ("FlexibleBodies",)),
    "forces": ("Forces", ("MultiBody.Forces",)),
    "contact": ("Contact", ("Contact",)),
    "sensors": ("Sensors", ("MultiBody.Sensors",)),
    "rotational": ("Rotational mechanics", ("Rotational",)),
    "translational": ("Translational mechanics", ("Translational",)),
    "thermal": ("Heat transfer", ("Thermal",)),
    "electrical": ("Electrics", ("Electrical",)),
    "vehicle": ("Vehicles: wheels, tyres, roads", ("Vehicle",)),
    "blocks-sources": ("Blocks: sources, noise and tables", ("Blocks.Sources", "Blocks.Noise", "Blocks.Tables")),
    "blocks-continuous": ("Blocks: continuous and nonlinear", ("Blocks.Continuous", "Blocks.Nonlinear")),
    "blocks-discrete": ("Blocks: sampled", ("Blocks.Discrete",)),
    "blocks-math": ("Blocks: mathematics", ("Blocks.Math", "Blocks.MathInteger")),
    "blocks-logic": ("Blocks: logic and routing", ("Blocks.Logical", "Blocks.MathBoolean", "Blocks.Routing",
                     "Blocks.Interaction")),
    "examples": ("Utilities of the library's examples", ("MultiBody.Examples", "Rotational.Examples",
                 "Translational.Examples")),
}  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here; MkDocs calls this once it knows the files of docs/."""
    seldom = "\n".join(searched(0.2)) + "\n"  # what has every word, and is what few look for
    made = {"changelog.md": seldom + at_root("CHANGELOG.md"), "contributing.md": seldom + at_root("CONTRIBUTING.md")}
    made |= {"reference/command-line.md": command_line()}
    made |= dict(component_pages()) | notebooks() | {"reference/tyre-coefficients.md": tyre_coefficients()}
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    for page in live_pages():
        files.append(File.generated(config, f"live/{page.name}", abs_src_path=str(page)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Turn links to files outside docs/ into links to the repository; gallery and home page get their live pages."""
    if page.file.src_uri == "gallery.md":
        markdown = with_live_pages(markdown)
    if page.file.src_uri == "index.md":
        markdown = with_machine(markdown)
    sources = f"{config.extra['repository']}/blob/main"
    return re.sub(r"\]\((?:\.\./)+((?:fmus|mbfmu|tests)/[^)]*)\)", rf"]({sources}/\1)", markdown)


def live_pages() -> list[pathlib.Path]:
    """Pages that run a model of the gallery, where they were made."""
    return sorted(LIVE.glob("*.html"))


def with_live_pages(markdown: str) -> str:
    """The gallery with links to its live pages, at the top and with each mechanism."""
    pages = {page.stem: page for page in live_pages()}
    for name, page in pages.items():
        size = f"{page.stat().st_size / 1e6:.1f} MB"
        link = f"[Drive it in your browser](live/{page.name}){{ .md-button target=_blank }} {size}, nothing to install"
        markdown = markdown.replace(f"\n## {name}\n", f"\n## {name}\n\n{link}\n")
    links = ", ".join(f"[{name}](live/{page.name}){{ target=_blank }}" for name, page in pages.items())
    head = f"Some of them run here, with inputs and parameters to play with: {links}." if pages else ""
    return markdown.replace("\n## ", f"\n{head}\n\n## ", 1)


def with_machine(markdown: str) -> str:
    """The home page with a machine that runs, where its page was made, in the place of a picture that moves."""
    page = LIVE / f"{MACHINE}.html"
    if not page.is_file():
        return markdown
    frame = (
        f'<iframe src="live/{page.name}#embedded" loading="lazy" title="A tower crane to drive, live"></iframe>\n\n'
        "It runs in your browser: click it, then hold the arrow keys. "
        f"[Alone in a window](live/{page.name}){{ target=_blank }}, [more machines](gallery.md)."
    )
    begin, end = '<div class="machine" markdown>\n', "\n</div>"
    before, _, after = markdown.partition(begin)
    return f"{before}{begin}{frame}{end}{after.partition(end)[2]}"


def at_root(name: str) -> str:
    """Return a document of the root folder with its links as docs/ sees them."""
    return (ROOT / name).read_text("utf-8").replace("](docs/", "](")


# -- components


def searched(boost: float) -> list[str]:
    """Return the first lines of a page that stands so many times higher in what the site's search finds."""
    return ["---", f"search: {{ boost: {boost} }}", "---", ""]


def component_pages() -> Iterator[tuple[str, str]]:
    """Pages of components by their names, and the page that lists them."""
    groups: dict[str, list[tuple[str, type[Component]]]] = {page: [] for page in COMPONENT_PAGES}
    for name, cls in component_classes().items():
        if not cls.__module__.startswith("mbfmu."):
            continue  # of another package that is installed here
        groups[page_of(name)].append((name, cls))
    index = ["# Components", "", "Every class of the library, from its declarations; `mbfmu list NAME` prints the "
             "same in a terminal. Parameters marked *fixed* shape the equations: changing one needs another build. "
             "*Tunable* ones may change while an FMU runs.", "",
             "[Differences from the Modelica library](../../modelica.md) are on a page of their own."]  # fmt: skip
    for page, (title, _) in COMPONENT_PAGES.items():
        found = sorted(groups[page], key=lambda entry: (entry[0].rpartition(".")[0], entry[0].lower()))
        lines, package = [*searched(0.5 if page == "examples" else 10), f"# {title}"], ""
        index += ["", f"## [{title}]({page}.md)", "", "| class | |", "|---|---|"]
        for name, cls in found:
            if name.rpartition(".")[0] != package:
                package = name.rpartition(".")[0]
                lines += ["", f"## {package}"]
            lines += ["", f"### {name.rpartition('.')[2]} {{: #{name} }}", "", *component(name, cls)]
            first = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]
            index.append(f"| [`{name.rpartition('.')[2]}`]({page}.md#{name}) | {text(first)} |")
        yield f"reference/components/{page}.md", "\n".join(lines) + "\n"
    yield "reference/components/index.md", "\n".join(index) + "\n"


def tyre_coefficients() -> str:
    """Return the page of the keys of tyre files."""
    lines = ["# Coefficients of tyres", "", "Keys of `.tir` files that [tyres](../guide/tyres.md) use, with what a key "
             "that is missing stands for. Pacejka's names are the same with small letters: PKY1 is p_Ky1, LMUX is "
             "lambda_mux."]  # fmt: skip
    section = ""
    for key in KEYS.values():
        if key.section != section:
            section = key.section
            lines += [
                "",
                f"## {section.replace('_', ' ').capitalize()}",
                "",
                "| key | default | unit | |",
                "|---|---|---|---|",
            ]
        lines.append(f"| `{key.name}` | {key.default:g} | {key.unit} | {text(key.meaning)} |")
    return "\n".join(lines) + "\n"


def page_of(name: str) -> str:
    """Return the page of a class: that of the longest package that its name begins with.

    Raises:
        KeyError: No page has its package.
    """
    fitting = [
        (len(package), page)
        for page, (_, packages) in COMPONENT_PAGES.items()
        for package in packages
        if name.startswith(f"{package}.")
    ]
    if not fitting:
        raise KeyError(f"{name}: no page of docs/reference/pages.py has its package; add it to COMPONENT_PAGES")
    return max(fitting)[1]


def component(name: str, cls: type[Component]) -> list[str]:
    """Return the lines about one class."""
    lines = [f"`Modelica.{'' if name.startswith(('Blocks', 'Thermal', 'Electrical')) else 'Mechanics.'}{name}`", ""]
    lines += ["```python", f"from {listed.import_path(cls)} import {cls.__name__}", "```", "", document(cls)]
    if others := listed.other_words(name):
        lines += ["", f"Others say: {', '.join(others)}."]
    declared = list(cls.declarations.values())
    parameters = [d for d in declared if isinstance(d, Parameter) and not d.animation]
    own = [d for d in parameters if not d.final]
    lines += table("Parameters", ("name", "unit", "default", ""), [parameter(d, cls) for d in own])
    ports = [d for d in declared if isinstance(d, Port)]
    rows = [(code(d.name), code(type(d).__name__), noted(d.doc, [conditional(d.when, cls)])) for d in ports]
    lines += table("Connectors", ("name", "kind", ""), rows)
    variables = [d for d in declared if isinstance(d, Variable)]
    rows = [(code(d.name), unit(d), noted(d.doc, role(d, cls))) for d in variables]
    rows += [(code(d.name), unit(d), noted(d.doc, ["computed parameter"])) for d in parameters if d.final]
    lines += folded("Variables", table("", ("name", "unit", ""), rows))
    looks = [d for d in declared if isinstance(d, Parameter) and d.animation and not d.final]
    drawn = ["", f"Draws {', '.join(drawings(cls))}."] if drawings(cls) else []
    rows_of_looks = [parameter(d, cls) for d in looks]
    lines += folded("Animation", drawn + table("", ("name", "unit", "default", ""), rows_of_looks))
    lines += folded("Equations", equations(cls))
    return lines


def document(cls: type) -> str:
    """Return a class's docstring; indented blocks of it become code."""
    return inspect.cleandoc(cls.__doc__ or "").replace("::\n", ":\n")


def parameter(declaration: Parameter, cls: type[Component]) -> tuple[str, ...]:
    """Return the cells of a parameter: name, unit, default, sentence with what may be given."""
    notes = [conditional(declaration.when, cls)]
    notes += ["fixed"] if declaration.structural and not declaration.animation else []
    notes += ["tunable"] if declaration.tunable else []
    notes += [f"{declaration.shape[0]} numbers"] if declaration.shape and len(declaration.shape) == 1 else []
    notes += [" x ".join(map(str, declaration.shape))] if declaration.shape and len(declaration.shape) > 1 else []
    notes += [f"&ge; {declaration.min:g}"] if declaration.min is not None else []
    notes += [f"&le; {declaration.max:g}"] if declaration.max is not None else []
    notes += ["not 0"] if declaration.nonzero else []
    notes += [" or ".join(map(code, declaration.type.values))] if declaration.type.values else []
    default = listed.default(declaration)
    if callable(declaration.default) and declaration.default is not required:
        names = used(declaration.default, cls)
        default = f"follows from {', '.join(map(code, names))}" if names else "computed"
    elif default:
        default = code(default) if declaration.default is not required else "*required*"
    if isinstance(declaration.default, Start):
        notes.append("open: found by initialisation")
    return code(declaration.name), unit(declaration), default, noted(declaration.doc, notes)


def noted(doc: str, notes: list[str]) -> str:
    """Return a declaration's sentence and, in italics, what else is to be known."""
    found = ", ".join(filter(None, notes))
    return f"{text(doc)} *({found})*" if found else text(doc)


def role(variable: Variable, cls: type[Component]) -> list[str]:
    """Return what a variable is to the equations, and when it exists."""
    kind = type(variable).__name__
    words = {"Coordinate": "position", "Quaternion": "quaternion", "Speed": "speed", "Impulse": "impulse",
             "State": "state", "Multiplier": "constraint force",
             "NetworkVariable": "unknown of the network"}  # fmt: skip
    start = "start value fixed" if listed.is_held(variable) else ""
    return [words.get(kind, ""), start, conditional(variable.when, cls)]


def conditional(when: Callable[[Any], bool] | None, cls: type[Component]) -> str:
    """Return what decides whether a declaration exists."""
    if when is None:
        return ""
    return f"depends on {', '.join(map(code, used(when, cls)))}" if used(when, cls) else "conditional"


def used(function: Callable[..., Any], cls: type[Component]) -> list[str]:
    """Return the declared names that a function of the instance reads."""
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    return [name for name in names if name in cls.declarations]


def drawings(cls: type[Component]) -> list[str]:
    """Return what `visualize` of a class and its bases draws, by the calls in their source."""
    found: dict[str, None] = {}
    for base in cls.__mro__:
        method = vars(base).get("visualize")
        if method is None or base is Component:
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
        for call in calls:
            if call.func.attr.startswith("draw_"):  # type: ignore[attr-defined]
                what = call.func.attr.removeprefix("draw_")  # type: ignore[attr-defined]
                words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                kind = words[1] if what == "shape" and len(words) > 1 else what
                found[f"{code(words[0])} ({kind})" if words and words[0] != kind else kind] = None
        if not any(isinstance(c.func, ast.Attribute) and c.func.attr == "visualize" for c in calls):
            break
    return list(found)


def equations(cls: type[Component]) -> list[str]:
    """Return the methods that say how a class behaves, its own and inherited ones, as code."""
    methods = ("equations", "build", "line_force", "cut_force", "measure", "torque", "force", "signal", "output")
    sources: dict[str, None] = {}
    for base in cls.__mro__:
        if base is not Component and base.__module__.startswith("mbfmu.components"):
            for name, value in vars(base).items():
                if name in methods and inspect.isfunction(value) and getattr(cls, name) is value:
                    sources[f"# {base.__module__}.{base.__name__}\n{textwrap.dedent(inspect.getsource(value))}"] = None
    return ["", "```python", *"\n".join(sources).rstrip().splitlines(), "```"] if sources else []


def table(title: str, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return a table of Markdown under a title in bold; nothing without rows. Columns that are empty go."""
    if not rows:
        return []
    keep = [i for i in range(len(head)) if any(row[i] for row in rows)]
    lines = ["", f"**{title}**", ""] if title else [""]
    lines.append("| " + " | ".join(head[i] or " " for i in keep) + " |")
    lines.append("|" + "---|" * len(keep))
    return lines + ["| " + " | ".join(row[i] for i in keep) + " |" for row in rows]


def folded(title: str, lines: list[str]) -> list[str]:
    """Return lines under a title that unfolds them."""
    return ["", f'??? note "{title}"', *(f"    {line}".rstrip() for line in lines)] if lines else []


def unit(declaration: Declaration) -> str:
    """Return the unit of a declaration; nothing for numbers without one."""
    kind = getattr(declaration, "type", None)
    return "" if kind is None or kind.unit in (None, "1") else kind.unit


def code(value: str) -> str:
    """Return text as code within a table."""
    return f"`{value.replace('|', chr(92) + '|')}`"


def text(value: str) -> str:
    """Return a sentence as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]|])", r"\\\1", " ".join(value.split())).replace("<", "&lt;")


# -- command line


def command_line() -> str:
    """Return the page of all commands, from their parsers."""
    import typer.main

    from mbfmu.cli.commands import app

    group: Any = typer.main.get_command(app)
    lines = ["# Command line", "", "`mbfmu COMMAND --help` prints the same. Commands end with 0, with 1 where "
             "`mbfmu validate` finds something wrong, and with 2 where something cannot be done: the last line of the "
             "error output says what, and what to do.", "", "| command | |", "|---|---|"]  # fmt: skip
    lines += [f"| [`{name}`](#mbfmu-{name}) | {text(first_line(c.help))} |" for name, c in group.commands.items()]
    for name, command in group.commands.items():
        lines += ["", f"## `mbfmu {name}` {{: #mbfmu-{name} }}", "", *paragraphs(command.help)]
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        arguments = " ".join(metavar(p) for p in shown if p.param_type_name == "argument")
        lines += ["", "    " + " ".join(filter(None, ("mbfmu", name, arguments, "[OPTIONS]")))]
        rows = [(code(spelled(p)), default_of(p), text(p.help or "")) for p in shown if p.name != "help"]
        lines += table("", ("argument, option", "default", ""), rows)
        if command.epilog:
            lines += ["", "Example:", "", "    " + re.sub(r"\[/?cyan\]|^Example: ", "", command.epilog)]
    return "\n".join(lines) + "\n"


def spelled(parameter: Any) -> str:
    """Return how an argument or option is written."""
    if parameter.param_type_name == "argument":
        return metavar(parameter)
    return " ".join(filter(None, (", ".join(parameter.opts), "" if parameter.is_flag else metavar(parameter))))


def metavar(parameter: Any) -> str:
    """Return what stands for a parameter's value."""
    return str(parameter.metavar or (parameter.name or "").upper())


def default_of(parameter: Any) -> str:
    """Return an option's default, where it has one that is worth telling."""
    value = parameter.default
    known = value not in (None, False, (), []) and not callable(value) and not parameter.required
    return code(str(value)) if known and isinstance(value, str | int | float | pathlib.Path) else ""


def first_line(help_text: str | None) -> str:
    """Return the first line of a command's help."""
    return inspect.cleandoc(help_text or "").partition("\n")[0]


def paragraphs(help_text: str | None) -> list[str]:
    """Return a command's help as Markdown, a list where its lines begin with `name:`."""
    return [f"{line}  " if line else "" for line in inspect.cleandoc(help_text or "").splitlines()]


# -- notebooks


def notebooks() -> dict[str, str | bytes]:
    """Return the notebooks as pages, run where MBFMU_NOTEBOOKS does not say `source`, and the pictures they draw."""
    made: dict[str, str | bytes] = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        if os.environ.get("MBFMU_NOTEBOOKS") != "source":
            notebook = executed(path)
        lines = [f"<!-- of notebooks/{path.name} -->"]
        for number, cell in enumerate(notebook["cells"], start=1):
            source = joined(cell["source"])
            if cell["cell_type"] == "markdown":
                lines += ["", source]
                continue
            lines += ["", "```python", source, "```"]
            for output in cell.get("outputs", ()):
                shown, picture = output_lines(output, f"{path.stem}_{number}.png")
                lines += shown
                if picture is not None:
                    made[f"notebooks/{path.stem}_{number}.png"] = picture
        lines += ["", f"The notebook itself is `notebooks/{path.name}` in the repository.", ""]
        made[f"notebooks/{path.stem}.md"] = "\n".join(lines)
    return made


def executed(path: pathlib.Path) -> Mapping[str, Any]:
    """Return a notebook as it is after running all its cells, in a folder that is thrown away."""
    import tempfile

    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        quiet = ["--log-level=ERROR"]  # ipykernel warns that it talks to us over TCP
        nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources=resources, extra_arguments=quiet
        ).execute()
    return notebook


def output_lines(output: Mapping[str, Any], picture: str) -> tuple[list[str], bytes | None]:
    """Return what a cell's output looks like on the page, and the bytes of its picture."""
    data = output.get("data", {})
    if "image/png" in data:
        return ["", f"![Picture that the cell draws]({picture})"], base64.b64decode(data["image/png"])
    if "text/html" in data:
        html = re.sub(r"\n\s*\n", "\n", joined(data["text/html"]))  # a blank line would end HTML in Markdown
        return ["", f'<div class="output">{html}</div>'], None
    shown = joined(output.get("text", data.get("text/plain", "")))
    return (["", "```text", shown.rstrip(), "```"] if shown.strip() else []), None


def joined(value: Any) -> str:
    """Return a field of a notebook that is a text or a list of lines."""
    return value if isinstance(value, str) else "".join(value)
