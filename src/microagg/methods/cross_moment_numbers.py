"""The numbered methods of the cross-moment paper: 1 to 26 and the baselines B1 to B5, as compositions of stages.

The paper draws its numbering as a tree of which the text we have keeps some numbers only; the rest follows from their
order (docs/algorithms/cross_moment.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from microagg.aggregate.content import Content
from microagg.methods.moment_plan import Plan, strategy_shares

__all__ = ["PAPER", "PAPER_METHODS", "PaperMethod"]

PAPER = "cross_moment"

_KEPT = ("mean", "covariance", "coskewness")
_KEPT_OF_ONE = ("mean", "variance", "skewness")


@dataclass(frozen=True)
class PaperMethod:
    """One method of the paper.

    Attributes
    ----------
    number : str
        ``"1"`` to ``"26"``, or ``"B1"`` to ``"B5"``.
    name : str
        What a recipe calls it.
    plan : Plan
    strategy : str or None
        The name of the masking strategy, if kinds of statistics are masked separately.
    each_alone : bool
        True if every attribute gets cells of its own (IR-MDAV, Algorithm 3).
    noise : bool
        False of the baselines.
    """

    number: str
    name: str
    plan: Plan
    strategy: str | None = None
    each_alone: bool = False
    noise: bool = True

    @property
    def summary(self) -> str:
        """In a sentence."""
        kept = list((_KEPT_OF_ONE if self.each_alone else _KEPT)[: self.plan.m + 1])
        if self.plan.m and not self.each_alone and not self.plan.spectra and self.plan.content is Content.PURE:
            kept[1] += " (all elements)"  # how much of the coskewness depends on whether records are drawn
        what = " and ".join([", ".join(kept[:-1]), kept[-1]]) if len(kept) > 1 else kept[0]
        if self.plan.m and not self.each_alone and self.plan.content is Content.VARIANCES:
            what += " (of each attribute alone)"
        if self.plan.spectra:
            what += " as spectra"
        cells = "each attribute's own MDAV cells" if self.each_alone else "MDAV cells"
        if not self.noise:
            return f"{what[0].upper()}{what[1:]} of {cells}, without noise."
        masked = "" if not self.plan.m else ", masked jointly" if self.strategy is None else ", masked separately"
        return f"{what[0].upper()}{what[1:]} of {cells}{masked}{f' ({self.strategy})' if self.strategy else ''}."


def _numbered() -> Iterator[PaperMethod]:
    number = iter(range(1, 27))

    def entry(
        m: int, *, spectra: bool = False, content: Content = Content.PURE, strategy: str | None = None
    ) -> PaperMethod:
        shares = None if strategy is None else strategy_shares(strategy, m)
        words = ["idp" if spectra else "dp", "mdav", _KEPT[m]]
        if m:
            words += ["spectra"] if spectra else [str(content)]
            words += ["joint"] if strategy is None else [strategy]
        plan = Plan(m, spectra=spectra, content=content, shares=shares)
        return PaperMethod(str(next(number)), "_".join(words), plan, strategy)

    def alone(m: int, strategy: str | None = None) -> PaperMethod:
        words = [
            "dp",
            "each",
            _KEPT_OF_ONE[m],
            *(["joint"] if m and strategy is None else []),
            *([strategy] if strategy else []),
        ]
        shares = None if strategy is None else strategy_shares(strategy, m)
        return PaperMethod(str(next(number)), "_".join(words), Plan(m, shares=shares), strategy, each_alone=True)

    strategies = ("balanced", "mean_first")
    yield entry(0)
    for m in (1, 2):
        for content in Content:
            yield entry(m, content=content)
        for content in Content:
            for strategy in strategies:
                yield entry(m, content=content, strategy=strategy)
    for m in (1, 2):
        yield entry(m, spectra=True)
        for strategy in strategies:
            yield entry(m, spectra=True, strategy=strategy)
    yield alone(0)
    for m in (1, 2):
        yield alone(m)
        for strategy in strategies:
            yield alone(m, strategy)
    yield PaperMethod("B1", "mdav_mean", Plan(0), noise=False)
    kept = [(m, content) for m in (1, 2) for content in Content]
    for place, (m, content) in enumerate(kept, start=2):
        yield PaperMethod(f"B{place}", f"mdav_{_KEPT[m]}_{content}", Plan(m, content=content), noise=False)


PAPER_METHODS: dict[str, PaperMethod] = {method.number: method for method in _numbered()}
