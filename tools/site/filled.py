"""What the code says, as Markdown: keys of the recipe, names of Python, commands, examples, all pages."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable
from typing import Any

import typer
from index import by_heading
from repository import ROOT

import microagg
from microagg.cli.app import app
from microagg.explanations.explanation import Explanation
from microagg.explanations.of_keys import explained_keys

__all__ = ["FILLED", "examples_page", "pages_page"]

_GROUPS = {
    "Begin": ("read_table", "init", "Draft", "risk", "RiskAssessment", "explain", "Explanation"),
    "Protect": ("release", "release_files", "Recipe", "Release", "make_keys", "check", "CheckResult"),
    "Judge": ("evaluate", "evaluate_files", "compare", "report", "Evaluation", "Comparison"),
    "Choose": ("sweep", "Frontier", "tradeoff", "Tradeoff", "list_methods", "list_measures", "reproduce"),
    "Add up": ("Account",),
    "Cells of an array": (
        *("MDAV", "VMDAV", "NearOptimal", "Projection", "InsensitiveMDAV", "OptimalUnivariate"),
        *("IndividualRanking", "Mic1D", "refine", "rearrange"),
    ),
    "What columns are": ("Schema", "Attribute", "Taxonomy"),
    "Errors": ("MicroaggError", "InputError", "GuaranteeError"),
}


def recipe_keys() -> str:
    """Every key of the recipe, table by table, from the classes that read it."""
    tables: dict[str, list[Explanation]] = {}
    keys = list(explained_keys())
    headings = {one.name for one in keys if one.range.startswith("a table [")}
    headings |= {one.name for one in keys if any(other.name.startswith(f"{one.name}.") for other in keys)}
    for one in keys:
        above = one.name if one.name in headings else one.name.rpartition(".")[0]
        while above and above not in headings:
            above = above.rpartition(".")[0]
        tables.setdefault(above, []).append(one)
    parts = [_table_of_keys("At the top", "", tables.pop("", []))]
    parts += [_table_of_keys(f"`[{name}]`", name, listed) for name, listed in tables.items()]
    return "\n\n".join(parts)


def _table_of_keys(heading: str, name: str, listed: list[Explanation]) -> str:
    lines = [f"## {heading}"]
    own = [one for one in listed if one.name == name]
    lines += [f"{_escaped(one.words)} {_read_on(one)}".rstrip() for one in own]
    rows = [one for one in listed if one.name != name]
    if rows:
        lines.append("\n".join(["| key | values | left out | what it does |", "|---|---|---|---|", *map(_row, rows)]))
    return "\n\n".join(lines)


def _row(one: Explanation) -> str:
    care = f" *Take care:* {_escaped(one.misleads)}" if one.misleads else ""
    last = one.name.rpartition(".")[2]
    anchor = re.sub(r"[^\w.-]", "", one.name)
    return (
        f'| <a id="key.{anchor}"></a>`{last}` | {_escaped(one.range)} | {_escaped(one.default)} | '
        f"{_escaped(one.words)}{care} |"
    )


def _read_on(one: Explanation) -> str:
    page = posixpath.relpath(one.more, "docs/reference") if one.more.startswith("docs/") else ""
    return f"[More]({page})." if page else ""


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|])", r"\\\1", text)


def python_names() -> str:
    """Every public name, with its docstring, by what a reader wants to do."""
    grouped = [name for names in _GROUPS.values() for name in names]
    amiss = set(grouped) ^ (set(microagg.__all__) - {"__version__", "datasets"})
    if amiss:
        raise ValueError(f"_GROUPS in tools/site/filled.py must name every public name and no other: {sorted(amiss)}")
    of_one = "    options:\n      heading_level: 3"
    parts = []
    for heading, names in _GROUPS.items():
        parts += [f"## {heading}", *(f"::: microagg.{name}\n{of_one}" for name in names)]
    parts += ["## In a pipeline of scikit-learn", f"::: microagg.sklearn.Microaggregate\n{of_one}"]
    options = "    options:\n      heading_level: 3\n      members_order: alphabetical"
    parts += ["## Reference tables", f"::: microagg.tables.reference.datasets\n{options}"]
    return "\n\n".join(parts)


def commands() -> str:
    """Every command with its arguments and flags."""
    root = typer.main.get_command(app)
    return "\n\n".join(_command(f"microagg {name}", one) for name, one in root.commands.items())  # type: ignore[attr-defined]


def _command(called: str, command: Any) -> str:
    if hasattr(command, "commands"):
        within = [_command(f"{called} {name}", one) for name, one in command.commands.items()]
        return "\n\n".join([f"## {called}", _escaped(" ".join((command.help or "").split())), *within])
    shown = [one for one in command.params if not getattr(one, "hidden", False) and "--help" not in one.opts]
    arguments = [_called(one) for one in shown if one.param_type_name == "argument"]
    needed = [f"{one.opts[0]} {(one.metavar or one.name).upper()}" for one in shown if _is_needed_flag(one)]
    usage = " ".join([called, *arguments, *needed, "[FLAGS]"])
    rows = []
    for one in shown:
        first = f"`{_called(one)}`" if one.param_type_name == "argument" else f"`{', '.join(_flags(one))}`"
        last = " *Required.*" if one.required else ""
        rows.append(f"| {first} | {_escaped(' '.join((one.help or '').split()))}{last} |")
    table = "\n".join(["| | |", "|---|---|", *rows]) if rows else ""
    words = _escaped(" ".join((command.help or "").split()))
    level = "###" if called.count(" ") > 1 else "##"
    return "\n\n".join([f"{level} {called}", words, f"```text\n{usage}\n```", table])


def _called(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper()


def _is_needed_flag(parameter: Any) -> bool:
    return bool(parameter.required) and parameter.param_type_name != "argument"


def _flags(option: Any) -> list[str]:
    return [*option.opts, *option.secondary_opts]


def examples_page() -> str:
    """The scripts of examples/, whole, and its notebooks by name."""
    parts = ["# Examples", "Short scripts, whole. Each runs as it stands: `python examples/<name>.py`."]
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        said = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        body = re.sub(r'\A""".*?"""\n+', "", text, flags=re.DOTALL)
        parts += [f"## {path.stem.replace('_', ' ').capitalize()}", said]
        parts.append(f"[`examples/{path.name}`]({path.name})\n\n```python\n{body}```")
    notebooks = sorted((ROOT / "examples").glob("*.ipynb"))
    if notebooks:
        parts += ["## Notebooks", "\n".join(f"- [`{path.name}`]({path.name})" for path in notebooks)]
    return "\n\n".join(parts) + "\n"


def pages_page(nav: list[Any]) -> str:
    """All pages in the order of the menu, with their first sentences."""
    lines: list[str] = ["# All pages", "", "Every page of this site in one line; `llms.txt` has the same for programs."]
    for heading, listed in by_heading(nav).items():
        lines += ["", f"## {heading}", ""]
        lines += [
            f"- [{title}]({posixpath.relpath(place, 'project')}): {_escaped(said)}" for title, place, said in listed
        ]
    return "\n".join(lines) + "\n"


FILLED: dict[str, Callable[[], str]] = {
    "recipe keys": recipe_keys,
    "python names": python_names,
    "commands": commands,
}
"""What may stand in a comment ``<!-- site: ... -->`` of a page."""
