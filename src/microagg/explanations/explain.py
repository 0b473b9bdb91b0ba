"""``microagg.explain``: what a name means."""

from __future__ import annotations

import re

from microagg.errors import ParameterError, did_you_mean, shown
from microagg.explanations.explanation import Explained, Explanation
from microagg.explanations.of_catalogues import explained_guarantees, explained_measures, explained_methods
from microagg.explanations.of_keys import COLUMN, explained_keys
from microagg.methods.catalogue import find_method
from microagg.privacy.guarantee import EPSILON_DP, K_ANONYMITY
from microagg.privacy.requirement import REQUIREMENTS

__all__ = ["all_explanations", "explain"]

_MOST_NEAR = 3


def explain(name: str) -> Explanation:
    """What a measure, method, guarantee or key of the recipe means, in plain words.

    Parameters
    ----------
    name : str
        As reports, statements and recipes say it, in any case: ``"SSE_SST"``, ``"mdav"``, ``"k-anonymity"``,
        ``"missing.policy"``. The end of a name will do where nothing has that name: ``"policy"``.

    Returns
    -------
    Explanation
        Its `also` has what else is called so.

    Raises
    ------
    ParameterError
        If nothing is called so; the message names what is near.

    Examples
    --------
    >>> import microagg
    >>> one = microagg.explain("SSE_SST")
    >>> str(one.kind), one.range
    ('measure', '0 and above, without limit')
    >>> microagg.explain("missing.policy").default
    '"error"'
    """
    every, wanted = all_explanations(), _normal(name)
    wanted = _ABBREVIATED.get(wanted, wanted)
    method = find_method(name)  # which also knows short names and numbers of papers
    meant = _BY_LETTER.get(wanted, ())
    same = [
        one
        for one in every
        if wanted in _spellings(one) or one.name in meant or (method is not None and one.name == method.name)
    ]
    same = same or _of_a_column(every, wanted)
    ending = [one for one in every if one not in same and _ends_with(one, wanted)]
    if not same and not ending:
        known = dict.fromkeys(word for one in every for word in (one.name, one.name.rpartition(".")[2]))
        near = did_you_mean(name, known, most=_MOST_NEAR, any_case=True)
        raise ParameterError(f"nothing is called {shown(name)}.{near} 'microagg explain' lists what can be explained")
    first, *others = same or ending
    return first.joined_by(tuple(others), tuple(dict.fromkeys(one.name for one in ending)) if same else ())


_ABBREVIATED = {"dp": "epsilon differential privacy", "idp": "epsilon individual differential privacy"}


def _by_letter() -> dict[str, tuple[str, ...]]:
    """The guarantees that a letter of theirs, or their key in the recipe, stands for: ``l``, ``t``, ``distinct_l``."""
    found: dict[str, tuple[str, ...]] = {"epsilon": (EPSILON_DP,), "k": (K_ANONYMITY,)}
    for one in REQUIREMENTS.values():
        for letter in (_normal(one.letter), _normal(one.key)):
            found[letter] = (*found.get(letter, ()), one.model)
    return found


def all_explanations() -> list[Explanation]:
    """Everything that can be explained: measures, methods, guarantees, recipe keys."""
    return [*explained_measures(), *explained_methods(), *explained_guarantees(), *explained_keys()]


def _normal(name: str) -> str:
    """A name without case, brackets, and how its parts are joined.

    Examples
    --------
    >>> _normal("[missing]"), _normal("k-Anonymity"), _normal("protect.<column>.t_closeness")
    ('missing', 'k anonymity', 'protect.<column>.t closeness')
    """
    return " ".join(re.sub(r"[-_\s]+", " ", re.sub(r"[\[\]()\"',]", "", name)).lower().split())


def _spellings(one: Explanation) -> tuple[str, ...]:
    """What it may be called: a key of a column also without the column, or by its last part."""
    own = _normal(one.name)
    return (own,) if COLUMN not in own else (own, own.replace(f".{COLUMN}", ""), own.rpartition(f"{COLUMN}.")[2])


def _of_a_column(every: list[Explanation], wanted: str) -> list[Explanation]:
    """Keys of a column that is named, as in ``attributes.age.bounds``; the table itself if none of them is meant."""
    found = []
    for one in every:
        before, column, after = _normal(one.name).partition(COLUMN)
        named = len(wanted) > len(before) + len(after)
        if column and named and wanted.startswith(before) and wanted.endswith(after):
            found.append(one)
    return [one for one in found if not one.name.endswith(COLUMN)] or found


def _ends_with(one: Explanation, wanted: str) -> bool:
    """Whether this is the end of a key's name, or the last words of a guarantee's."""
    if one.kind is Explained.KEY:
        return _normal(one.name).endswith(f".{wanted}")
    return one.kind is Explained.GUARANTEE and len(wanted) > 1 and _normal(one.name).endswith(f" {wanted}")


_BY_LETTER = _by_letter()
