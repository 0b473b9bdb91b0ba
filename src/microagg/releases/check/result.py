"""``microagg.check``: what a reader can find out about a release, or about any table, in one object."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg._notebook.html import html_of_rows, html_of_sections
from microagg.errors import InputError
from microagg.privacy.verify import Finding
from microagg.recipe.recipe import Recipe
from microagg.releases.check.check import check_release, check_table
from microagg.tables.databases.address import is_address
from microagg.tables.databases.spool import fetched

__all__ = ["CheckResult", "check"]


@dataclass(frozen=True)
class CheckResult:
    """What was found, in order.

    Attributes
    ----------
    findings : tuple of Finding
        Each has a `name`, whether it `holds`, and a `detail`.
    """

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether all of it holds."""
        return all(finding.holds for finding in self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {"holds": self.holds, "findings": [finding.as_dict() for finding in self.findings]}

    def __repr__(self) -> str:
        broken = sum(not finding.holds for finding in self.findings)
        return f"<CheckResult: {len(self.findings)} findings, {broken} of them do not hold>"

    def __str__(self) -> str:
        return "\n".join(f"{'ok  ' if one.holds else 'FAIL'}  {one.name}: {one.detail}" for one in self.findings)

    def _repr_html_(self) -> str:
        rows = [("ok" if one.holds else "FAIL", one.name, one.detail) for one in self.findings]
        return html_of_sections(
            "Check: " + ("it holds" if self.holds else "it FAILS"), html_of_rows(("", "what", ""), rows)
        )


def check(
    target: str | os.PathLike[str],
    recipe: Recipe | None = None,
    *,
    receipt: str | Path | None = None,
    signed_by: str | Path | None = None,
    original: Any = None,
) -> CheckResult:
    """Work out again what the folder of a release says, or count a table against a recipe; as ``microagg check``.

    Parameters
    ----------
    target : path
        The folder of a release, or a table: a file, or the address of one in a database.
    recipe : Recipe, optional
        What the columns of a table are, and which k it must keep; a folder brings its own.
    receipt : path, optional
        What the data holder kept of the release; default: the receipts beside the folder.
    signed_by : path, optional
        A public key that the release must be signed by.
    original : path, address of a database's table, or dataframe, optional
        The input, for its holder: counts the units of ``[unit]`` again.

    Examples
    --------
    >>> import pathlib, tempfile, microagg
    >>> recipe = microagg.Recipe(k=2, attributes={"age": {"role": "quasi_identifier", "kind": "numeric"}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "released.csv"
    ...     _ = path.write_text("age\\n20\\n20\\n61\\n")
    ...     microagg.check(path, recipe).holds
    False
    """
    if isinstance(target, str) and is_address(target):
        with fetched(target) as file:
            return check(file, recipe, receipt=receipt, signed_by=signed_by, original=original)
    path = Path(target)
    if not path.exists():
        raise InputError(f"there is no file or folder named {path.name!r}")
    if path.is_dir():
        if recipe is not None:
            raise InputError("a release folder brings its own recipe; a recipe is for files")
        return CheckResult(tuple(check_release(path, receipt=receipt, signed_by=signed_by, original=original)))
    if receipt is not None or signed_by is not None or original is not None:
        raise InputError("receipt, signed_by and original are for the folder of a release, not for a file")
    if recipe is None:
        raise InputError("to check a file, say what its columns are: recipe = Recipe.load('recipe.toml')")
    return CheckResult(tuple(check_table(path, recipe)))
