"""A release: table, statement and manifest, and the one way to write them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from microagg._notebook.html import html_of_rows, html_of_sections
from microagg._notebook.picture import Picture
from microagg.errors import ReportWarning, place_of
from microagg.methods.output import Block
from microagg.privacy.verify import Recount, recount, require_k, require_public, values_out_of_type
from microagg.recipe.output import Formulas, follow_formula_policy
from microagg.recipe.recipe import Recipe
from microagg.releases.account.spending import Spending
from microagg.releases.folder.atomic import refuse_existing, whole_or_nothing
from microagg.releases.folder.delivery import Delivery, delivery_to
from microagg.releases.folder.receipt import Receipt
from microagg.releases.folder.report import MANIFEST, REPORT, REPORT_JSON, statement_in, write_beside_release
from microagg.releases.folder.signing import SIGNATURE, sign_manifest
from microagg.releases.input import numbers_of_text, read_own
from microagg.releases.strategy import strategy_of
from microagg.releases.units import require_units, units_of
from microagg.statements.exposure import Exposure
from microagg.statements.manifest import InputDigest, Manifest, sha256_of_file
from microagg.statements.requirements import count_requirements, require_requirements
from microagg.statements.statement import Statement
from microagg.tables.formats.registry import format_of, writable_format
from microagg.tables.frames import Frame
from microagg.tables.labels import with_needed_labels
from microagg.tables.plain import parse_text_like
from microagg.tables.text.dialect import Dialect
from microagg.tables.text.formulas import unescape_formulas
from microagg.tables.write import write_table

if TYPE_CHECKING:
    import pyarrow as pa

    from microagg.reports.document import Report

__all__ = ["FILES", "MANIFEST", "REPORT", "REPORT_JSON", "STATEMENT", "Block", "Release", "read_as_written"]

STATEMENT = "statement.json"
STATEMENT_TEXT = "statement.txt"
FILES = (MANIFEST, STATEMENT, STATEMENT_TEXT, REPORT, REPORT_JSON, SIGNATURE, "table.", "table-")


@dataclass(frozen=True, eq=False)
class Release:
    """A table made safe to publish, with what is promised of it.

    Two releases are never equal, whatever their tables: each is itself alone.

    Attributes
    ----------
    table : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Of the library of the input, with its dtypes and column order; in a differentially private release protected
        columns have the types that the recipe decides.
    statement : Statement
    manifest : Manifest
    recipe : Recipe
    blocks : tuple of Block
        The attributes that share cells, with the cell of each *input* record; one block unless the recipe says
        otherwise, none if the method has no cells of records. Internal: it must not be published.
    information_loss : float or None
        100 SSE/SST of the cells in the space of the quasi-identifiers, whatever else guided them. None of a
        differentially private release: the number would come from the records without noise.
    original : Frame or None
        The input, for reports. Internal, as `blocks`.
    origins : ndarray or None
        For each released record its place in the input; None if rows are not records. Internal.
    exposure : Exposure or None
        What k does not hide in a k-anonymous release, counted exactly. Internal; the statement has it rounded.
    spending : Spending
        What the ledger of the data knows of it, if one is kept. Internal.
    """

    frame: Frame = field(repr=False)
    recipe: Recipe = field(repr=False)
    statement: Statement
    manifest: Manifest = field(repr=False)
    digest: InputDigest = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    information_loss: float | None
    original: Frame | None = field(default=None, repr=False)
    origins: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    exposure: Exposure | None = field(default=None, repr=False)
    spending: Spending = field(default_factory=Spending, repr=False, compare=False)

    @property
    def table(self) -> Any:
        return self.frame.native

    def __repr__(self) -> str:
        return f"<Release: {len(self.frame.names)} columns; {repr(self.statement)[1:-1]}>"

    def _repr_html_(self) -> str:
        named = self.recipe.attributes
        rows = [
            (name, named[name].role if name in named else "", self.frame.table.schema.field(name).type)
            for name in self.frame.names
        ]
        columns = html_of_rows(("published column", "role", "type"), rows)
        return html_of_sections(
            "Release: .table is the table, .save(folder) writes it", columns, self.statement._repr_html_()
        )

    def plot(self, *, original: bool = False) -> Picture:
        """Draw how the values of each published column are spread; needs the extra ``plot``.

        Parameters
        ----------
        original : bool, default False
            Whether the records before the release are drawn behind, where there are some; such a picture is internal.
        """
        from microagg._notebook.columns import draw_columns

        before = self.original if original else None
        return draw_columns(
            {name: self.frame.column(name).array for name in self.frame.names},
            {} if before is None else {name: before.column(name).array for name in before.names},
        )

    @property
    def partition(self) -> npt.NDArray[np.int64]:
        """Cell of each input record (one column per block if there are several). Internal, as `blocks`."""
        if len(self.blocks) == 1:
            return self.blocks[0].labels
        return np.array([block.labels for block in self.blocks], dtype=np.int64).T

    @property
    def n_cells(self) -> int:
        """The number of cells, summed over blocks."""
        return sum(block.n_cells for block in self.blocks)

    def save(
        self,
        folder: str | Path,
        *,
        format: str = "csv",
        report: bool = False,
        overwrite: bool = False,
        sign: str | Path | None = None,
        to: str | Delivery | None = None,
    ) -> Path:
        """Write table, statement and manifest into a new folder, whole or not at all.

        The table is read back from the written file and the guarantee counted again on what was read; if it does
        not hold, nothing is left behind. Beside the folder goes a receipt (see :meth:`receipt_path`), for the data
        holder only: it shows which input the release was made from, and which record each row stands for.

        Parameters
        ----------
        folder : path
            Must not exist, unless `overwrite`, and then be an earlier release or empty.
        format : {"csv", "csv.gz", "tsv", "jsonl", "parquet", "feather", "arrows", "sav", "dta", "xlsx"}, default "csv"
            Or the name of any other registered format that is written (``microagg.tables.formats.registry``).
        report : bool, default False
            Write the public report (``report.html``, ``report.json``), too. Should it fail, the release is written
            without it, and a ReportWarning says so.
        overwrite : bool, default False
        sign : path, optional
            A private Ed25519 key (PEM) to sign with: ``signature.json`` lets readers who have the public key tell who
            published. Needs ``pip install 'microagg[sign]'``.
        to : str, optional
            The address of a table in a database, ``"sqlite:///file.db?table=t"`` or ``"postgresql://..."``, into which
            the released table goes as well. It is read back and the guarantee counted on what the database returns,
            in one transaction, which is committed once the folder is in its place. `overwrite` replaces a table that
            an earlier release wrote, and no other.
        """
        refuse_existing(Path(folder), overwrite, FILES)
        if isinstance(to, str):
            with delivery_to(to, overwrite=overwrite) as opened:
                return self.save(folder, format=format, report=report, overwrite=overwrite, sign=sign, to=opened)
        folder = Path(folder).absolute()
        file_format, strategy = writable_format(format), strategy_of(self.recipe)
        strategy.require_room_in(file_format)
        name = f"table.{format}"
        beside: dict[str, str] = {}
        with (
            self.spending.of_writing(folder),
            whole_or_nothing(folder, overwrite=overwrite, ours=FILES, beside=beside) as partial,
        ):
            table, remarks = follow_formula_policy(
                with_needed_labels(self.frame.table), self.recipe.output.formulas, file_format
            )
            write_table(table, partial / name)
            statement = self._statement_of_written(partial / name, remarks)
            for count in statement.recounts:
                require_k(count, f"the written file {name!r}")
            require_requirements(statement.requirements, self.recipe, f"the written file {name!r}")
            self._require_units(partial / name)
            written = read_as_written(partial / name)
            require_public(values_out_of_type(written), f"the written file {name!r}")
            strategy.require_paid(statement.budget)
            written = read_as_written(partial / name, self.recipe)
            require_public(strategy.findings(written), f"the written file {name!r}")
            (partial / STATEMENT).write_text(statement.as_json(), encoding="utf-8")
            (partial / STATEMENT_TEXT).write_text(str(statement), encoding="utf-8")
            files = {file: sha256_of_file(partial / file) for file in (name, STATEMENT, STATEMENT_TEXT)}
            failure = self._write_report(partial, name, statement, files) if report else ""
            if report and not failure:
                files |= {file: sha256_of_file(partial / file) for file in (REPORT, REPORT_JSON)}
            manifest = replace(self.manifest, output={"table": name, "sha256": files})
            (partial / MANIFEST).write_text(manifest.as_json(), encoding="utf-8")
            if sign is not None:
                (partial / SIGNATURE).write_text(
                    sign_manifest((partial / MANIFEST).read_bytes(), sign), encoding="utf-8"
                )
            published = {file.name: sha256_of_file(file) for file in sorted(partial.iterdir())}
            receipt = Receipt(self.digest, self.manifest.id, published, self.origins)
            beside[receipt.name_beside(folder)] = receipt.as_json()
            if to is not None:
                to.put(self.frame.table, self.recipe, statement, self.manifest.id)
        if to is not None:
            to.commit(folder.name)
        if failure:
            warnings.warn(
                f"the report could not be made ({failure}); the release in {folder.name!r} is whole without it. "
                "'microagg report' with MICROAGG_DEBUG=1 shows what happened",
                ReportWarning,
                stacklevel=2,
            )
        return folder

    def _write_report(self, folder: Path, table: str, statement: Statement, files: Mapping[str, str]) -> str:
        """Write the public report; if it cannot be made, return where it failed: a release does not depend on it."""
        try:
            made = self._report(files, statement.as_dict(), written=folder / table)
            page, numbers = made.as_html(), made.as_json()
        except Exception as error:
            return place_of(error)
        (folder / REPORT).write_text(page, encoding="utf-8")
        (folder / REPORT_JSON).write_text(numbers, encoding="utf-8")
        return ""

    def report(
        self,
        path: str | Path,
        *,
        internal: bool = False,
        full: bool = False,
        overwrite: bool = False,
        sign: str | Path | None = None,
    ) -> Path:
        """Write a report that a person can read, print and sign, and beside it the same numbers as JSON.

        Parameters
        ----------
        path : path ending in ".html"
            In the folder of this release only as ``report.html``; the manifest there is then brought up to date.
        internal : bool, default False
            False writes the public form: no value of a record, nothing exact of the original. True adds figures of
            the original, of single cells and of single records; it is never written into a folder of a release.
        full : bool, default False
            Take all default measures on all records, which may take long; otherwise a quick choice, for large
            tables on a sample.
        overwrite : bool, default False
        sign : path, optional
            A private key to sign the folder of this release with again; without it a signed folder is not changed.
        """

        def make(files: Mapping[str, str]) -> Report:
            # In a folder its own statement is quoted: files add remarks, and what was counted is what was written.
            folder = Path(path).absolute().parent
            if not files:
                return self._report(files, internal=internal, full=full)
            (table,) = (folder / name for name in files if name.startswith("table."))
            return self._report(files, statement_in(folder), written=table, internal=internal, full=full)

        return write_beside_release(
            make,
            Path(path),
            internal=internal,
            overwrite=overwrite,
            release_id=self.manifest.id,
            sign=sign,
        )

    def _report(
        self,
        files: Mapping[str, str],
        statement: Mapping[str, Any] | None = None,
        *,
        written: Path | None = None,
        internal: bool = False,
        full: bool = False,
    ) -> Report:
        """The report; on a table that was written it is about that table as it is read, as a check will be."""
        from microagg.releases.report_results import make_report
        from microagg.reports.source import ReportRequest

        released, original = self._tables_to_measure(written)
        return make_report(
            ReportRequest(
                released,
                self.recipe,
                original,
                self.origins,
                self.statement.as_dict() if statement is None else statement,
                self.manifest.as_dict(),
                self.blocks,
                files,
                internal,
                full,
            )
        )

    def _tables_to_measure(self, written: Path | None) -> tuple[Frame, Frame | None]:
        """The released and the original table to measure: text that was kept as it is written is read as it will be."""
        released = self.frame if written is None else Frame.wrap(read_own(written, self.recipe))
        if written is None:
            released = _framed(released, numbers_of_text(released.table, self.recipe))
        original = self.original
        if original is not None:
            original = _framed(original, parse_text_like(numbers_of_text(original.table, self.recipe), released.table))
        return released, original

    def receipt_path(self, folder: str | Path) -> Path:
        """Where the receipt goes: beside the folder, never in it, under a name no other release takes."""
        folder = Path(folder)
        return folder.with_name(Receipt(self.digest, self.manifest.id).name_beside(folder))

    def _statement_of_written(self, path: Path, remarks: tuple[str, ...]) -> Statement:
        written = read_as_written(path, self.recipe)
        exposure = None if self.exposure is None else tuple(self.exposure.on_written(written, self.recipe).public())
        return replace(
            self.statement,
            recounts=self._recounts_of_written(written),
            requirements=count_requirements(read_own(path, self.recipe), self.recipe, written),
            remarks=(*self.statement.remarks, *remarks),
            exposure=exposure,
        )

    def _require_units(self, path: Path) -> None:
        """Raise unless k units share every combination that was written; nobody but the data holder can count it."""
        if self.recipe.unit is None or not strategy_of(self.recipe).is_counted:
            return
        assert self.original is not None
        assert self.origins is not None
        units = units_of(self.original, self.recipe)
        assert units is not None
        blocks = [block.attributes for block in self.blocks]
        written = read_as_written(path, self.recipe)
        require_units(written, blocks, units.take(self.origins), self.recipe.k, f"the written file {path.name!r}")

    def _recounts_of_written(self, written: pa.Table) -> tuple[Recount, ...]:
        counted = [guarantee for guarantee in self.statement.guarantees if guarantee.counted]
        return tuple(recount(written, guarantee.attributes, self.recipe.k) for guarantee in counted)


def read_as_written(path: Path, recipe: Recipe | None = None, dialect: Dialect | None = None) -> pa.Table:
    """Read a released file as a reader of its text would: in CSV every field is what is written, nothing else.

    If the recipe of the release has formulas escaped, the escape is undone. Without a dialect the file is plain, as
    microagg writes it.
    """
    file_format = format_of(path)
    table = file_format.read_as_written(path, dialect)
    is_escaped = recipe is not None and recipe.output.formulas is Formulas.ESCAPE and file_format.is_text
    return unescape_formulas(table) if is_escaped else table


def _framed(frame: Frame, table: pa.Table) -> Frame:
    return frame if table is frame.table else Frame.wrap(table)
