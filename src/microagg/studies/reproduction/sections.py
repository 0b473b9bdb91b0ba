"""The parts of the page of all results: read from a page made before, so that one paper's can be made anew."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from microagg.errors import InputError
from microagg.studies.reproduction.catalogue import PAPERS, experiments, named

__all__ = ["Section", "commands_without", "read_commands", "read_sections"]

_HEADING = re.compile(r"^### (\S+)$", re.MULTILINE)
_AFTER = re.compile(r"^## ", re.MULTILINE)
_COMMAND = re.compile(r"^```\n((?:microagg reproduce .*\n)+)```$", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """One experiment on the page.

    Attributes
    ----------
    name : str
    line : tuple of str
        Its cells in the table at a glance: name, title, what is compared, how many rows have each verdict.
    text : str
        Its heading, table and notes.
    needs : tuple of str
        The reference tables it takes.
    """

    name: str
    line: tuple[str, ...]
    text: str
    needs: tuple[str, ...]

    @property
    def paper(self) -> str:
        return self.name.partition(".")[0]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many rows have each verdict."""
        return tuple(int(cell or 0) for cell in self.line[3:])


def read_sections(page: str) -> dict[str, Section]:
    """The experiments of a page; what the catalogue does not know any more is left out."""
    lines = {}
    for row in page.splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        linked = re.match(r"\[(\S+)\]\(#\S+\)$", cells[0])
        if linked:
            lines[linked[1]] = tuple(cells)
    found = {}
    for heading in _HEADING.finditer(page):
        name = heading[1]
        rest = page[heading.end() :]
        ends = [match.start() for pattern in (_HEADING, _AFTER) if (match := pattern.search(rest))]
        text = heading[0] + rest[: min(ends, default=len(rest))]
        known = [one for one in experiments() if one.name == name]
        if known and name in lines:
            found[name] = Section(name, lines[name], text.rstrip() + "\n", known[0].needs)
    if not found:
        raise InputError("this is no page of results that 'microagg reproduce' wrote: it has no experiment")
    return found


def read_commands(page: str) -> list[str]:
    """The commands that gave the page."""
    block = _COMMAND.search(page)
    return block[1].splitlines() if block else []


def commands_without(commands: Iterable[str], names: Sequence[str]) -> list[str]:
    """The commands less the experiments that another one gives now; a paper's name again where all of its own are left.

    Examples
    --------
    >>> commands_without(["microagg reproduce mic1d --full --seed 0"], ["mic1d.table4"])
    ['microagg reproduce mic1d.table5 mic1d.table6 --full --seed 0']
    """
    left = []
    for command in commands:
        words = shlex.split(command)[2:]
        start = next(
            (place for place, word in enumerate(words) if word.startswith("--") and word != "--all"), len(words)
        )
        asked, options = words[:start], words[start:]
        given = [one.name for one in (experiments() if asked == ["--all"] else named(asked))]
        kept = [name for name in given if name not in names]
        if kept == given:
            left.append(command)
        elif kept:
            left.append(" ".join(["microagg reproduce", *short_names(kept), *options]))
    return left


def short_names(names: Sequence[str]) -> list[str]:
    """A paper's name in place of all of its experiments.

    Examples
    --------
    >>> short_names(["mic1d.table4", "mic1d.table5", "mic1d.table6", "dependence.figure8"])
    ['mic1d', 'dependence.figure8']
    """
    own: Mapping[str, list[str]] = {paper: [one.name for one in named([paper])] for paper in PAPERS}
    whole = [paper for paper in PAPERS if set(own[paper]) <= set(names)]
    shortened = dict.fromkeys(paper if (paper := name.partition(".")[0]) in whole else name for name in names)
    return list(shortened)
