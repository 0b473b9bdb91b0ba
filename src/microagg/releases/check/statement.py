"""Whether a statement says what its recipe, its table and its manifest make true, and nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

from microagg._halt import TIME_LIMIT
from microagg.errors import InputError
from microagg.methods.searches import CUT, OF_SEARCH
from microagg.privacy.budget import Expense
from microagg.privacy.verify import Finding
from microagg.private.findings import check_private_statement
from microagg.recipe.choices import MissingPolicy
from microagg.recipe.output import ESCAPED, KEPT, Formulas
from microagg.releases.check.ledger import fault_of_expenses
from microagg.releases.check.published import PublishedFolder
from microagg.releases.check.remarks import fault_of_remarks
from microagg.releases.check.total import check_total
from microagg.releases.folder.json_files import same
from microagg.releases.release import STATEMENT, STATEMENT_TEXT, read_as_written
from microagg.statements.promises import NOISE_FROM_SEED
from microagg.statements.statement import Statement
from microagg.tables.formats.registry import format_of

__all__ = ["check_statement"]

_LEFT_OUT = re.compile(r"(\d+) records with .+ were left out")
_SURPLUS = re.compile(r"(\d+) records of units with .+ were left out by chance")


def check_statement(release: PublishedFolder) -> list[Finding]:
    """Everything of a statement that a reader can work out again."""
    try:
        statement = Statement.from_dict(release.statement)
        again = json.loads(json.dumps(statement.as_dict()))
        words = str(statement)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return [Finding("statement", False, "is not there, damaged, or promises what was not counted")]
    due = release.recipe.about.of_release(str(release.manifest.get("date")))
    if not same(dict(statement.about), due):
        return [Finding("statement", False, "is about another release than its recipe and manifest")]
    if not same(again, release.statement):
        return [Finding("statement", False, "says something that does not follow from the rest of it")]
    return [
        _check_promise_and_ledger(release, statement),
        *check_total(release, statement),
        _check_counts(release, statement),
        _check_seed(release, statement),
        _check_remarks(release, statement),
        _check_words(release, words),
    ]


def _check_promise(release: PublishedFolder, statement: Statement) -> Finding:
    """The guarantees must be those of the recipe on the blocks of the manifest, to the word."""
    blocks = [(tuple(block["attributes"]), tuple(block.get("spiked", ()))) for block in release.blocks]
    try:
        expected = release.strategy.guarantees(blocks)
    except KeyError:
        return Finding("statement", False, "promises something about attributes that the recipe does not have")
    if release.same_version:
        fits = same([one.as_dict() for one in statement.guarantees], [one.as_dict() for one in expected])
    else:
        fits = same(
            *([(g.model, g.parameters, g.attributes) for g in some] for some in (statement.guarantees, expected))
        )
    if not fits:
        return Finding("statement", False, "does not promise what the recipe makes true, or not on what was checked")
    if not statement.guarantees:
        return Finding("statement", True, "states no guarantee")
    words = (
        ""
        if release.same_version
        else f"; its words are those of {release.manifest.get('microagg')} and were not compared"
    )
    if not statement.for_publication:
        return Finding("statement", True, f"for research, not for publication (made with a fixed seed){words}")
    return Finding("statement", True, f"promises what the recipe asks for{words}")


def _check_promise_and_ledger(release: PublishedFolder, statement: Statement) -> Finding:
    promise = _check_promise(release, statement)
    if not (release.is_private and promise.holds):
        return promise
    paid = check_private_statement(
        release.folder / STATEMENT, release.recipe, release.table, same_words=release.same_version
    )
    fault = _fault_of_ledger(release, statement) if paid.holds else ""
    return Finding("statement", False, fault) if fault else paid


def _fault_of_ledger(release: PublishedFolder, statement: Statement) -> str:
    """Whether the ledger is one, and states the noise that the method draws for such a recipe."""
    budget = statement.budget
    known = {one.name for one in fields(Expense)}
    if budget is None or set(budget) != {"epsilon", "spent", "expenses"}:
        return "its ledger is damaged"
    if any(set(one) != known or type(one["epsilon"]) not in (int, float) for one in budget["expenses"]):
        return "its ledger holds something that no ledger holds"
    if not release.same_version:  # whose words and roundings this one does not know
        return ""
    try:
        return fault_of_expenses(release, budget, release.made_again)
    except (LookupError, TypeError, ValueError, AssertionError, ArithmeticError, InputError):
        return "its ledger cannot be worked out again: recipe, manifest and table do not go together"


def _check_counts(release: PublishedFolder, statement: Statement) -> Finding:
    n_rows = release.n_rows
    if not (isinstance(statement.n_records, int) and statement.n_records == n_rows):
        return Finding("recounts", False, f"the statement is about another number of records than {n_rows}")
    if not same([one.as_dict() for one in statement.recounts], [one.as_dict() for one in release.recounts]):
        return Finding("recounts", False, "the statement counted something else than the table has")
    if not same([one.as_dict() for one in statement.requirements], [one.as_dict() for one in release.required]):
        return Finding("recounts", False, "the statement counted other confidential values than the table has")
    if (statement.budget is not None) is not release.is_private:
        return Finding("recounts", False, "the statement has a budget, and the method none, or the other way round")
    n_counts = len(release.recounts) + len(release.required)
    counted = f"{n_counts} counts" if n_counts else "the number of records"
    return Finding("recounts", True, f"{counted} of the statement found again on the table")


def _check_seed(release: PublishedFolder, statement: Statement) -> Finding:
    seeded = release.manifest.get("seeded")
    if not isinstance(seeded, bool) or seeded is not statement.seeded:
        return Finding("seed", False, "manifest and statement differ on whether chance was real")
    # To the word it is compared with the other remarks, if this version wrote it.
    says_so = any(remark.startswith(NOISE_FROM_SEED) for remark in statement.remarks)
    if release.is_private and says_so is not seeded:
        return Finding("seed", False, "the statement does not say what its noise came from")
    return Finding("seed", True, "fixed: for research, not for publication" if seeded else "none: chance was real")


def _check_remarks(release: PublishedFolder, statement: Statement) -> Finding:
    """Remarks that must be there by the recipe, the table and the size of the input, and those that then may not."""
    remarks, recipe = statement.remarks, release.recipe
    if release.same_version:
        try:
            fault = fault_of_remarks(release, remarks)
        except (LookupError, TypeError, ValueError, AssertionError, ArithmeticError, InputError):
            fault = "they cannot be made again: recipe, manifest and table do not go together"
        if fault:
            return Finding("remarks", False, fault)
    left_out = [int(match[1]) for remark in remarks if (match := _LEFT_OUT.fullmatch(remark))]
    if recipe.missing.policy is not MissingPolicy.SUPPRESS and left_out:
        return Finding("remarks", False, "one speaks of records left out, but the recipe leaves none out")
    surplus = [int(match[1]) for remark in remarks if (match := _SURPLUS.fullmatch(remark))]
    if surplus and (recipe.unit is None or not release.is_private):
        return Finding("remarks", False, "one speaks of units with too many records, and the recipe limits none")
    fault = _fault_of_sizes(release, sum(left_out) + sum(surplus))
    if fault:
        return Finding("remarks", False, fault)
    was_cut = any(TIME_LIMIT in block.get("search", {}).get("stopped_by", {}) for block in release.blocks)
    if was_cut is not any(remark.startswith(OF_SEARCH) and CUT in remark for remark in remarks):
        return Finding("remarks", False, "statement and manifest differ on whether a search for cells was cut")
    if len(set(remarks)) < len(remarks):
        return Finding("remarks", False, "one is there twice")
    fault = _fault_of_formulas(release, remarks)
    return Finding("remarks", not fault, fault or "those that recipe and table ask for are there")


def _fault_of_sizes(release: PublishedFolder, left_out: int) -> str:
    """Whether the records of the input are those of the table and those that were left out."""
    n_input = release.manifest["input"]["n_records"]
    if release.rows_are_statistics:
        return ""
    if n_input != release.n_rows + left_out:
        return f"{n_input} records of the input, {release.n_rows} rows and {left_out} left out do not add up"
    return ""


def _fault_of_formulas(release: PublishedFolder, remarks: tuple[str, ...]) -> str:
    """Compare what the remarks say about text that begins like a formula with what the file has."""
    path, policy = release.folder / release.table_name, release.recipe.output.formulas
    file_format = format_of(path)
    found = file_format.count_formula_cells(path, release.table)
    expected = {Formulas.KEEP: KEPT, Formulas.ESCAPE: ESCAPED}.get(policy)
    stated = [remark for remark in remarks if remark.startswith((KEPT, ESCAPED))]
    if policy is Formulas.REFUSE and found:
        return "the recipe refuses text that begins like a formula, and the table has some"
    if policy is Formulas.ESCAPE and found and file_format.count_formula_cells(path, read_as_written(path)):
        return "the recipe has text escaped that begins like a formula, and the table has some that is not"
    if bool(found) is not bool(stated) or any(expected is None or not remark.startswith(expected) for remark in stated):
        return "what they say about text that begins like a formula is not what the table has"
    return ""


def _check_words(release: PublishedFolder, words: str) -> Finding:
    """The text for people must be what the statement for programs says."""
    path = release.folder / STATEMENT_TEXT
    try:
        written: Any = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return Finding("words of the statement", False, f"{STATEMENT_TEXT} is not there or no text")
    if not release.same_version:
        detail = f"not compared: written by microagg {release.manifest.get('microagg')}"
        return Finding("words of the statement", True, detail)
    detail = (
        f"{STATEMENT_TEXT} says what {STATEMENT} does" if written == words else f"{STATEMENT_TEXT} says something else"
    )
    return Finding("words of the statement", written == words, detail)
