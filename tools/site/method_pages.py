"""Write docs/methods/ from the catalogue: a page per method, and a table of all. Run: python tools/site/method_pages.py

*When to take it* is written by hand on each page and stays as it is. `tests/docs` holds the pages against this.
"""

from __future__ import annotations

import inspect
import json
import posixpath
import re
from pathlib import Path

from microagg.explanations.docstrings import parameters_of, plain_text
from microagg.methods.catalogue import METHODS, PAPERS, SHORT_NAMES
from microagg.methods.method import K_ANONYMOUS, Method

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "methods"
COSTS = FOLDER / "costs.json"
BY_HAND = re.compile(r"^## When to take it\n\n(.*?)\n*(?=^## |\Z)", re.DOTALL | re.MULTILINE)
MADE = "<!-- Written by tools/site/method_pages.py, all but 'When to take it'. -->\n"
WITH_ARRAYS = {
    "mdav": "MDAV(k=5)",
    "vmdav": "VMDAV(k=5)",
    "near_optimal": "NearOptimal(k=5, random_state=0)",
    "pcp": 'Projection(k=5, axis="principal")',
    "zscores": 'Projection(k=5, axis="zscores")',
    "insensitive_mdav": "InsensitiveMDAV(k=5)",
    "individual_ranking": "IndividualRanking(k=5)",
    "optimal_univariate": "OptimalUnivariate(k=5)",
    "mic1d": "Mic1D(k=50)",
}
"""The class of a method, as a line of Python: the rest of the catalogue has none of its own."""


def methods() -> list[Method]:
    """Those with a page of their own."""
    return [method for name, method in METHODS.items() if not name.startswith("dp_moments_")]


def page_of(method: Method, text: str = "") -> str:
    """The page of a method, with what was written by hand on the page as it is."""
    by_hand = BY_HAND.search(text)
    parts = [
        f"# {method.title}\n\n{MADE}\n{method.summary}",
        _facts(method),
        f"![{method.title}: a small table, and what is published of it](../pictures/methods/{method.name}.svg)",
        _caption(method),
        "## In plain words",
        f"{_plain(method.explained.plain or method.summary)}\n\n**Take care.** {_plain(method.explained.misleads)}",
        *([f"```text\n{method.explained.formula}\n```"] if method.explained.formula else []),
        f"## When to take it\n\n{by_hand[1] if by_hand else ''}",
        "## Stage by stage",
        "\n".join(f"- **{stage}**: {_plain(what)}" for stage, what in method.stages.items()),
        "## What it costs",
        _costs(method),
        *_options(method),
        "## In a line",
        _lines(method),
        *(_family() if method.name == "dp_moments" else []),
    ]
    return "\n\n".join(parts) + "\n"


def index(text: str = "") -> str:
    """The table of all methods; what stands above and below it is written by hand."""
    before, mark, rest = text.partition("<!-- methods -->\n")
    after = rest.partition("<!-- end of methods -->\n")[2]
    head = "| method | promises | lost, % | 100,000 records, s | in one sentence |\n|---|---|---:|---:|---|\n"
    rows = "".join(_row(method) for method in methods())
    return f"{before}{mark}\n{head}{rows}\n<!-- end of methods -->\n{after}"


def _row(method: Method) -> str:
    cost = _cost_of(method)
    lost = "" if cost["loss"] is None else f"{cost['loss']:g}"
    return (
        f"| [`{method.name}`]({method.name}.md) | {_promise(method)} | {lost} | {cost['seconds_100000']:g} | "
        f"{_plain(method.summary)} |\n"
    )


def _promise(method: Method) -> str:
    if method.partitions == "records" and method.space.startswith("one "):
        return "k-anonymity of its one attribute (here, with a block for each: of each alone)"
    return "k-anonymity" if method.guarantee == K_ANONYMOUS else _plain(method.guarantee)


def _facts(method: Method) -> str:
    needs = ["`k`"] if method.has_cells else []
    needs += ["`[privacy] epsilon`"] if method.is_private else []
    needs += ["declared bounds and categories"] if method.is_private or method.data_free_space else []
    chance = "noise is drawn by OpenDP" if method.is_private else ""
    chance = chance or ("the search draws by chance" if method.searches_by_chance else "none: the same cells always")
    short = "".join(f", for short `{name}`" for name, of in SHORT_NAMES.items() if of == method.name)
    rows = {
        "in a recipe": f'`method = "{method.name}"`{short}',
        "promises": f"**{_plain(method.guarantee)}** ([what that means](../guarantees.md))",
        "takes": f"quasi-identifiers that are {' or '.join(method.kinds)}" + (
            "; protects every column, whatever its role" if method.whole_table else ""),
        "needs": ", ".join(needs),
        "chance": chance,
        "from": _reference(method),
    }  # fmt: skip
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {said} |" for name, said in rows.items())])


def _reference(method: Method) -> str:
    more = method.explained.more
    words = re.sub(r"doi:(\S+)", r"[doi:\1](https://doi.org/\1)", method.reference)
    words = "microagg's own" if words.startswith("docs/") else re.sub(r",? ?docs/\S+", "", words)
    return f"{words}; [how it works]({posixpath.relpath(more, 'docs/methods')})" if more else words


def _caption(method: Method) -> str:
    if method.is_private:
        return (
            "*Left, four hundred people (nobody of them exists); right, what is published of them, larger where rows "
            "are equal. One draw of the noise: another release looks different.*"
        )
    return (
        "*Left, forty people (nobody of them exists); those in one outline are published alike, and those without one "
        "are alone. Right, what is published, larger where more records share it.*"
    )


def _cost_of(method: Method) -> dict[str, float]:
    costs: dict[str, dict[str, float]] = json.loads(COSTS.read_text(encoding="utf-8"))
    return costs[method.name]


def _costs(method: Method) -> str:
    cost = _cost_of(method)
    how = [f"k = {cost['k']:,}"] if cost["k"] else []
    how += ["epsilon = 1"] if method.is_private else []
    rows = [] if cost["loss"] is None else [f"| information lost (100 SSE/SST) | {cost['loss']:g} % |"]
    rows += [
        f"| how far each attribute's distribution moved (Wasserstein, in standard deviations) | {cost['distance']:g} |",
        f"| CPU seconds, 10,000 records | {cost['seconds_10000']:g} |",
        f"| CPU seconds, 100,000 records | {cost['seconds_100000']:g} |",
    ]
    table = "\n".join([f"| a whole release, {', '.join(how)} | |", "|---|---:|", *rows])
    complexity = re.search(r"Complexity: (.*?)(?:\n\n|\Z)", inspect.getdoc(_kind(method)) or "", re.DOTALL)
    said = re.split(r"(?<=[.;]) (?=[A-Z])", plain_text(complexity[1])) if complexity else []
    said = [sentence for sentence in said if "docs/" not in sentence]
    grows = [f"How it grows: {_plain(' '.join(said))}"] if said else []
    about = (
        "One table of four correlated numbers, loss and distance of 10,000 records; `python tools/site/costs.py` "
        "measures them again. Seconds are CPU time on a shared machine, after compiling: an order of magnitude."
    )
    return "\n\n".join([table, *grows, about])


def _kind(method: Method) -> type:
    if method.has_cells and not method.is_private:
        return method.partitioner_class  # type: ignore[no-any-return]
    return type(method.private)


def _options(method: Method) -> list[str]:
    """Keys of the recipe that this method has and others have not."""
    tables = {"partition": list(method.options), "privacy": list(method.private.options) if method.is_private else []}
    if method.is_private:
        tables["partition"] = []
    kinds = {"partition": _kind(method), "privacy": _kind(method)}
    rows = []
    for table, names in tables.items():
        described = parameters_of(kinds[table]) if names else {}
        for name in names:
            if one := described.get(name):
                values = f"{one.values}; left out: {one.default or 'it must be given'}"
                rows.append(f"| `[{table}] {name}` | {_plain(values)} | {_plain(one.words)} |")
    return ["## Its own keys", "\n".join(["| key | values | |", "|---|---|---|", *rows])] if rows else []


def _lines(method: Method) -> str:
    cells = "" if not method.is_private or not method.has_cells else 300 if method.name == "dp_moments" else 20
    flags = f"--method {method.name}" + f" --k {cells}" * bool(cells) + " --epsilon 1" * method.is_private
    changed = f'"method": "{method.name}"' + f', "k": {cells}' * bool(cells)
    changed += ', "privacy.epsilon": 1.0' * method.is_private
    setup = {
        "insensitive_mdav": ', "space.standardize": "bounds"',
        "optimal_univariate": ', "blocks.form": "contiguous", "blocks.size": 1',
    }.get(method.name, "")
    shell = "" if setup else f"```\nmicroagg release data.csv -r recipe.toml -o out/ {flags}\n```\n\n"
    python = f"release = microagg.release(df, recipe.changed({{{changed}{setup}}}))\n"
    if method.name in WITH_ARRAYS:
        array = "X[:, :1]" if method.name == "optimal_univariate" else "X"
        python += f"labels = microagg.{WITH_ARRAYS[method.name]}.fit({array}).labels_       # of an array\n"
    public = (
        "\n\nIn that recipe every column has publicly known `bounds` or `categories`, or is dropped (`identifier`)."
        if method.is_private
        else ""
    )
    return f"{shell}```python\n{python}```{public}"


def _family() -> list[str]:
    """Moments over other cells, and the numbered methods of the paper."""
    others = [f"`{name}`" for name in METHODS if name.startswith("dp_moments_")]
    numbered = [
        f'| `"{paper}:{number}"` | {_plain(one.summary)} | {_plain(one.guarantee)} |'
        for paper, entries in PAPERS.items()
        for number, one in entries.items()
    ]
    return [
        "## Over other cells",
        f"The same over the cells of another method: {', '.join(others)}.",
        "## The numbered methods of the paper",
        f"All {len(numbered)} are over MDAV's cells. `microagg methods --paper cross_moment` lists them with stages.",
        "\n".join(["| in a recipe | publishes | promises |", "|---|---|---|", *numbered]),
    ]


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", text)


def write() -> None:
    for method in methods():
        path = FOLDER / f"{method.name}.md"
        path.write_text(page_of(method, path.read_text(encoding="utf-8") if path.exists() else ""), encoding="utf-8")
    path = FOLDER / "index.md"
    path.write_text(index(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
