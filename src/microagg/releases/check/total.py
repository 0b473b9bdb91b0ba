"""Whether the total that a statement carries can be one: the ledger that it comes from stays with the data holder."""

from __future__ import annotations

from collections.abc import Callable

from microagg.privacy.verify import Finding
from microagg.releases.check.published import PublishedFolder
from microagg.statements.statement import Statement

__all__ = ["check_total"]


def check_total(release: PublishedFolder, statement: Statement) -> list[Finding]:
    """The sum is not below the release's own epsilon, and counts it where it belongs; none if no total is stated."""
    total = statement.total
    if total is None:
        return []
    if not release.is_private or release.recipe.privacy is None or statement.seeded:
        return [Finding("total", False, "is stated of a release that spends nothing")]
    own, covered = release.recipe.privacy.epsilon, all(one.covers_records for one in statement.guarantees)
    faults: dict[str, Callable[[], bool]] = {
        "has no release, and yet an epsilon, or the other way round": lambda: (
            bool(total.releases) != bool(total.epsilon)
        ),
        "does not count this release": lambda: not (total.releases if covered else total.others),
        "is below the release's own epsilon": lambda: covered and total.epsilon < own,
        "is of this release alone, and another epsilon": lambda: (
            covered and total.releases == 1 and total.epsilon != own
        ),
        "is of several releases, and no more than the epsilon of this one": lambda: (
            covered and total.releases > 1 and total.epsilon <= own
        ),
    }
    for fault, is_so in faults.items():
        if is_so():
            return [Finding("total", False, fault)]
    return [
        Finding(
            "total",
            True,
            f"epsilon = {total.epsilon:.15g} in {total.releases} releases, {total.others} others: can be true; only "
            "the data holder's ledger can show that it is",
        )
    ]
