"""What k does not hide, in sentences; made from the statement's entries alone, so that a reader can make them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["LEAST_SHOWN", "TITLE", "UNITS", "coarse_count", "count_of_many", "count_of_many_words", "describe_exposure"]

LEAST_SHOWN = 10
"""The fewest records a public figure may be about, whatever k is."""
UNITS = "units"
"""What was counted of categories, where a unit may have several records."""

TITLE = "What k does not hide:"
_SHOWN = 12


def coarse_count(count: int) -> int:
    """A count in two significant digits.

    Examples
    --------
    >>> coarse_count(18314), coarse_count(41), coarse_count(7)
    (18000, 41, 7)
    """
    return int(float(f"{count:.2g}"))


def count_of_many(count: int, k: int) -> int | None:
    """A count for the public, in two digits; None of one so small that a few records decide it.

    Examples
    --------
    >>> count_of_many(18314, 5), count_of_many(10, 5), count_of_many(9, 5), count_of_many(29, 30)
    (18000, 10, None, None)
    """
    return None if count < max(k, LEAST_SHOWN) else coarse_count(count)


def count_of_many_words(count: int | None, k: int) -> str:
    """The count of :func:`count_of_many` in words."""
    return f"fewer than {max(k, LEAST_SHOWN)}" if count is None else f"about {count}"


def describe_exposure(entries: Sequence[Mapping[str, Any]], *, shown: int = _SHOWN) -> list[str]:
    """Entries as sentences, the first ones of each sort.

    Examples
    --------
    >>> gone = {"what": "categories", "attribute": "job", "before": 9, "after": 8, "vanished": ["smith"], "shrunk": []}
    >>> describe_exposure([gone])
    ["'job' had 9 categories and has 8; vanished: smith"]
    """
    sentences = []
    for what, tell in _TELL.items():
        of_sort = [entry for entry in entries if entry["what"] == what]
        sentences += [tell(entry) for entry in of_sort[:shown]]
        if len(of_sort) > shown:
            sentences.append(f"and the same for {len(of_sort) - shown} more attributes, listed in statement.json")
    return sentences


def _percent(share: float, of: str = "records") -> str:
    if share in (0.0, 1.0):
        return f"{'less than 1' if share == 0 else 'all, or more than 99'} % of the {of}"
    return f"{100 * share:.0f} % of the {of}"


def _agreement(entry: Mapping[str, Any]) -> str:
    if entry["share"] is not None:
        how_many = _percent(entry["share"]) if "records" not in entry else _exactly(entry["records"], entry["share"])
    else:
        how_many = f"{'all but ' if entry['all_but'] else ''}fewer than {entry['fewer_than']} records"
    return (
        f"{how_many} share their published {_shorten(entry['classes_of'])} only with records of the same "
        f"{entry['attribute']!r}: whoever finds someone's class knows it"
    )


def _unique_values(entry: Mapping[str, Any]) -> str:
    return (
        f"{entry['attribute']!r} is published as it is, and {entry['values']} of its values "
        f"({_percent(round(entry['share'], 2))}) occur once: whoever knows one finds its record"
    )


def _categories(entry: Mapping[str, Any]) -> str:
    name = repr(entry["attribute"])
    if entry["before"] is None:
        few = entry["fewer_than"]
        counted = entry.get("counted", "records")
        sentence = f"{name} lost categories that fewer than {few} {counted} had each; {entry['after']} are left"
    else:
        sentence = f"{name} had {entry['before']} categories and has {entry['after']}"
    if entry["vanished"]:
        sentence += f"; vanished: {', '.join(entry['vanished'])}{', ...' if _more(entry) else ''}"
    if entry["shrunk"]:
        lost = [f"{one['category']} ({_lost(one)})" for one in entry["shrunk"]]
        sentence += f"; shrank most: {', '.join(lost)}"
    return sentence


def _lost(one: Mapping[str, Any]) -> str:
    if "before" in one:
        return f"{one['before']} to {one['after']} records"
    return f"by about {100 * one['lost']:.0f} %{' or more' if one['lost'] >= 0.9 else ''}"


def _more(entry: Mapping[str, Any]) -> bool:
    return bool(entry["before"] is None or len(entry["vanished"]) < entry["before"] - entry["after"])


def _exactly(records: int, share: float) -> str:
    return f"{records} records ({100 * share:.1f} %)"


def _shorten(attributes: Sequence[str]) -> str:
    few = 3
    return ", ".join(attributes) if len(attributes) <= few else f"{attributes[0]}, ..., {attributes[-1]}"


_TELL = {"agreement": _agreement, "unique_values": _unique_values, "categories": _categories}
