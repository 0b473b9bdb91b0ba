"""The page of all results: ``docs/results/reproduction.md`` is what it makes of ``microagg reproduce --all``."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.studies.errata.catalogue import ERRATA
from microagg.studies.markdown import markdown_table
from microagg.studies.reproduction.catalogue import PAPERS, experiments
from microagg.studies.reproduction.comparison import Verdict, tally
from microagg.studies.reproduction.experiment import Grid
from microagg.studies.reproduction.running import Result
from microagg.studies.reproduction.sections import Section, commands_without, read_commands, read_sections, short_names
from microagg.studies.reproduction.tables import as_markdown
from microagg.tables.reference import datasets

__all__ = ["command_of", "page_of", "page_with"]

_SHOWN = tuple(verdict for verdict in Verdict if verdict is not Verdict.NOT_PUBLISHED)

_HEAD = """# Reproduction of the papers

Every table and figure with results of the five papers behind microagg, run again: what is published, what comes out
here, and whether they agree. This page is generated, by

```
{command}
```

Runs are seeded, so the same command gives the same page. `microagg reproduce` lists the experiments, and
`microagg reproduce {example}` runs one: tables in Markdown and Parquet, and pictures with Matplotlib.

## How to read it

- **exact**: the difference is at most half of the last printed digit; of a figure with chance in it, at most two
  standard errors, where these are at most 2 % of the figure. What the paper says in words (as
  'halves') never is.
- **close**: within 5 % (of log2 SSE 0.1, of accuracies one point, of places where curves cross 10 or 25 %) beside two
  standard errors, where these are at most half of the figure. `+-` behind our figure is the standard error of the
  difference, that of the published mean of ten runs included. Brackets behind a k where curves cross have what 95 % of
  resamples of the runs give; verdicts do not take them into account.
- **order**: within a factor of two (of log2 SSE 1). Also what the text says of a curve, where ours shows it: curves are
  drawn and not printed, so of a figure no more than its text can be tested.
- **not reproduced**: anything else; a note says why we think so.
- **not published**: a figure of ours beside which the paper prints none.

The numbers in the last column are those of the notes below the table: the convention where the paper leaves it open,
then the reason for a difference. Nothing here is a release. Devices that exist in the studies alone match drawn records
to their originals, draw noise for every record, do not divide epsilon, or choose categories by equation 6 as printed;
tests keep releases from reaching them.
"""


def command_of(results: Sequence[Result], grid: Grid, seed: int) -> str:
    """The command that gives these results."""
    names = [one.experiment.name for one in results]
    which = ["--all"] if len(names) == len(experiments()) else short_names(names)
    thinned = [] if grid is Grid.STANDARD else [f"--{grid.value}"]
    return " ".join(["microagg reproduce", *which, *thinned, f"--seed {seed}"])


def page_of(results: Sequence[Result], commands: Sequence[str]) -> str:
    """The page of these results, and of the commands that gave them: at a glance, errors found, tables, data."""
    return _page([_section(one) for one in results], commands)


def page_with(page: str, results: Sequence[Result], command: str) -> str:
    """A page made before with these results in place of those it has; the rest, its commands too, stays as it is."""
    sections = read_sections(page) | {one.experiment.name: _section(one) for one in results}
    order = {one.name: place for place, one in enumerate(experiments())}
    given = [one.experiment.name for one in results]
    commands = [*commands_without(read_commands(page), given), command]
    return _page([sections[name] for name in sorted(sections, key=lambda name: order.get(name, len(order)))], commands)


def _page(sections: Sequence[Section], commands: Sequence[str]) -> str:
    head = _HEAD.format(command="\n".join(commands), example=sections[0].name)
    parts = [head, "## At a glance\n", _glance(sections), _errata()]
    for paper, title in PAPERS.items():
        own = [one for one in sections if one.paper == paper]
        if own:
            parts.append(f"## {title}\n")
            parts += [one.text for one in own]
    parts.append(_data(sections))
    return "\n".join(parts).rstrip() + "\n"


def _section(result: Result) -> Section:
    about = result.experiment
    counts = tally(result.rows)
    linked = f"[{about.name}](#{about.name.replace('.', '')})"
    printed = "figures" if about.numbers_printed else "what the text says"
    cells = (linked, about.title, printed, *(str(counts[verdict.value] or "") for verdict in _SHOWN))
    heading = f"### {about.name}\n\n{about.title[0].upper()}{about.title[1:]}. {about.place}.\n\n"
    return Section(about.name, cells, heading + as_markdown(result.rows), about.needs)


def _glance(sections: Sequence[Section]) -> str:
    total = [sum(counts) for counts in zip(*(one.counts for one in sections), strict=True)]
    rows: list[list[object]] = [list(one.line) for one in sections]
    rows.append([f"{len(sections)} experiments", "", "", *total])
    return markdown_table(["experiment", "", "compared", *(verdict.value for verdict in _SHOWN)], rows)


def _errata() -> str:
    lines = [
        "## Errors found in the papers\n",
        "Each with the smallest example that shows it. `tests/studies/test_errata.py` runs them all.\n",
    ]
    for paper, title in PAPERS.items():
        own = [one for one in ERRATA if one.paper == paper]
        if own:
            lines.append(f"**{title}**\n")
            lines += [
                f"- *{one.name}* ({one.place}). Stated: {one.said}. Example: {one.example().text}. Instead: "
                f"{one.instead}."
                for one in own
            ]
            lines.append("")
    return "\n".join(lines)


def _data(sections: Sequence[Section]) -> str:
    needed = {name for one in sections for name in one.needs}
    rows = [[one.name, one.n_records, f"`{one.sha256}`"] for one in datasets.available() if one.name in needed]
    text = (
        "## Data, and how to cite\n\nTables are fetched by `microagg datasets --fetch NAME` and refused unless "
        "they have these SHA-256. Adult's taxonomies come with the package (`microagg datasets --taxonomies "
        "FOLDER`); the synthetic tables are `microagg.datasets.generate_gaussian` and `generate_two_classes`.\n\n"
    )
    return (
        text
        + markdown_table(["table", "records", "SHA-256"], rows)
        + (
            "\nTo cite this page, cite microagg by its `CITATION.cff` with the version, and name the experiment "
            "and the seed.\n"
        )
    )
