"""From written parts to a folder in its place: counted, stated, hashed, signed, and recorded where a ledger is kept."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from microagg.engines.passes import Engine, Source
from microagg.engines.tasks import CountHeap, ScatterPart
from microagg.errors import InputError
from microagg.methods.output import Stages
from microagg.recipe.recipe import Recipe
from microagg.releases.account.ledger import is_kept, ledger_of
from microagg.releases.account.spending import Spending
from microagg.releases.folder.atomic import whole_or_nothing
from microagg.releases.folder.orphans import PARTIAL, hidden_folder, holding
from microagg.releases.folder.receipt import Receipt
from microagg.releases.folder.signing import SIGNATURE, sign_manifest
from microagg.releases.release import FILES, MANIFEST, STATEMENT, STATEMENT_TEXT
from microagg.releases.strategy import strategy_of
from microagg.statements.manifest import InputDigest, Manifest, sha256_of_file
from microagg.statements.parts import COUNTING, PartsCount, PartsQuestion, question_of
from microagg.statements.promises import describe_schema
from microagg.statements.statement import Statement
from microagg.tables.parts.files import read_part

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "FilesRelease",
    "Order",
    "Original",
    "Parts",
    "count_together",
    "put_in_place",
    "secret_of",
    "spending_of",
    "staging_beside",
]


class Original(Source, Protocol):
    """The table that is released.

    Attributes
    ----------
    names : list of str
        Columns that are published, in their order.
    n_columns : int
        Of the original.
    paths : tuple of Path
        Its files, as far as it lies in files.
    """

    names: list[str]
    n_columns: int
    paths: tuple[Path, ...]

    def digest(self) -> InputDigest:
        """Its fingerprint."""
        ...


@dataclass(frozen=True)
class Order:
    """Where a release goes, and how: as for :func:`microagg.release_files`."""

    folder: Path
    seed: int | None = None
    overwrite: bool = False
    sign: str | Path | None = None
    state_total: bool = False


@dataclass(frozen=True)
class FilesRelease:
    """A release that was written.

    Attributes
    ----------
    folder : Path
    statement : Statement
        As written.
    manifest : Manifest
    engine : str
    n_cells : int
    information_loss : float or None
        100 SSE/SST of the cells, in the space they were formed in; None of a differentially private release.
    receipt : Path
        To keep, not to publish.
    words : tuple of str
        What else the data holder should know.
    """

    folder: Path
    statement: Statement
    manifest: Manifest = field(repr=False)
    engine: str
    n_cells: int
    information_loss: float | None
    receipt: Path
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parts:
    """What was written and counted, and what is to be said of it."""

    paths: tuple[Path, ...]
    statement: Statement
    stages: Stages
    n_input: int
    n_cells: int
    information_loss: float


@dataclass(frozen=True)
class WrittenParts:
    """The files of a release, one piece each, to be read back."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]

    @property
    def n_pieces(self) -> int:
        return len(self.paths)

    @property
    def n_rows(self) -> int | None:
        return None

    def read(self, piece: int) -> Iterator[pa.Table]:
        yield read_part(self.paths[piece], self.names)


def count_together(
    engine: Engine, parts: Sequence[Path], attributes: Sequence[str], recipe: Recipe, *, singles: bool = True
) -> PartsCount:
    """Count on all written files together, by an engine."""
    question: PartsQuestion = question_of(parts, attributes, recipe, singles=singles)
    written = WrittenParts(tuple(parts), question.columns)
    scattered = engine.scatter(written, ScatterPart(question), question.n_heaps, COUNTING)
    heaps = [[number] for number in range(question.n_heaps)]
    return question.join(scattered.collect(heaps, CountHeap(question), COUNTING))


def put_in_place(
    original: Original, recipe: Recipe, engine: str, make: Callable[[Path], Parts], order: Order
) -> FilesRelease:
    """Have parts made in a hidden folder, say what they are, and give the folder its place.

    Parameters
    ----------
    original : Original
    recipe : Recipe
    engine : str
        Its name.
    make : function
        Writes the parts into a folder, counts them, and raises if they do not hold what is promised.
    order : Order
    """
    folder, digest = order.folder, original.digest()
    spending = spending_of(original, recipe, order)
    spending.know(sha256=digest.sha256)
    beside: dict[str, str] = {}
    with (
        spending.of_writing(folder),
        whole_or_nothing(folder, overwrite=order.overwrite, ours=FILES, beside=beside) as partial,
    ):
        made = make(partial)
        date = recipe.about.day
        made = replace(made, statement=replace(made.statement, about=recipe.about.of_release(date)))
        (partial / STATEMENT).write_text(made.statement.as_json(), encoding="utf-8")
        (partial / STATEMENT_TEXT).write_text(str(made.statement), encoding="utf-8")
        written = (*made.paths, partial / STATEMENT, partial / STATEMENT_TEXT)
        manifest = Manifest(
            date=date,
            recipe=recipe.as_dict(),
            stages=(describe_schema(recipe), *made.stages.as_list(recipe.entry, recipe.k)),
            input={
                "n_records": made.n_input,
                "n_columns": original.n_columns,
                **strategy_of(recipe).describe_input(digest),
            },
            output={
                "tables": [path.name for path in made.paths],
                "sha256": {path.name: sha256_of_file(path) for path in written},
            },
            seeded=order.seed is not None,
            id=spending.id,
        )
        (partial / MANIFEST).write_text(manifest.as_json(), encoding="utf-8")
        if order.sign is not None:
            signature = sign_manifest((partial / MANIFEST).read_bytes(), order.sign)
            (partial / SIGNATURE).write_text(signature, encoding="utf-8")
        published = {file.name: sha256_of_file(file) for file in sorted(partial.iterdir())}
        receipt = Receipt(digest, manifest.id, published)
        beside[receipt.name_beside(folder)] = receipt.as_json()
    place = folder.with_name(receipt.name_beside(folder))
    return FilesRelease(
        folder, made.statement, manifest, engine, made.n_cells, made.information_loss, place, spending.words
    )


def spending_of(original: Original, recipe: Recipe, order: Order) -> Spending:
    """What the release does to the ledger of its file.

    Raises
    ------
    InputError
        If there are several files, and a ledger is kept of one of them.
    """
    if len(original.paths) == 1:
        return Spending.of(original.paths[0], recipe, seed=order.seed, stated=order.state_total)
    for path in original.paths:
        if is_kept(ledger_of(path)):
            raise InputError(
                f"a ledger is kept of {path.name}, one of {len(original.paths):,} files: it could not tell what was "
                "spent on the others. Release the files one by one, or put the table into one file"
            )
    return Spending.of(None, recipe, seed=order.seed, stated=order.state_total)


def secret_of(seed: int | None) -> bytes:
    """What the run's chance comes from: the system's source of randomness unless a seed is given."""
    if seed is None:
        return secrets.token_bytes(32)
    return hashlib.sha256(f"microagg, fixed for research: {int(seed)}".encode()).digest()


@contextmanager
def staging_beside(folder: Path) -> Iterator[Path]:
    """A hidden folder for records on their way, for their owner only; if the run is killed, the next one removes it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = hidden_folder(folder, PARTIAL)
    with holding(staging):
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)
