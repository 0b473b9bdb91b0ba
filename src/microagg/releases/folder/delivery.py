"""The table of a release into a database: written, read back, counted, and committed once its papers are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from microagg.errors import GuaranteeError, InputError, TableError
from microagg.privacy.verify import recount, require_k, require_public, values_out_of_type
from microagg.recipe.recipe import Recipe
from microagg.releases.input import numbers_of_text
from microagg.releases.strategy import strategy_of
from microagg.statements.requirements import count_requirements, require_requirements
from microagg.statements.statement import Statement
from microagg.tables.databases.address import Address
from microagg.tables.databases.database import MARK, Database, connected
from microagg.tables.databases.storable import same_records
from microagg.tables.publishable import make_publishable

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Delivery", "delivery_to"]

WHERE = "the table that the database returns"


class Delivery:
    """A table of a database that a release goes into.

    Parameters
    ----------
    address : Address
    database : Database
        Its transaction; the source's, if the table was read from the same database.
    overwrite : bool
        Whether an earlier release may be replaced. A table that microagg did not write never is.
    """

    def __init__(self, address: Address, database: Database, *, overwrite: bool) -> None:
        self._address, self._database = address, database
        self._is_known, self._is_there = True, False
        self._replaces = database.has(address)
        if self._replaces:
            self._refuse_existing(overwrite)

    def _refuse_existing(self, overwrite: bool) -> None:
        name = self._address.table
        if not overwrite:
            raise InputError(f"the table {name!r} exists. Choose another, or pass --overwrite (overwrite=True)")
        if not self._database.mark_of(self._address).startswith(MARK):
            raise InputError(
                f"the table {name!r} was not written by microagg, as its comment does not say so; it is not "
                "overwritten. Choose another"
            )

    def put(self, table: pa.Table, recipe: Recipe, statement: Statement, release_id: str) -> None:
        """Write the released table, read it back and count the promises on what the database returns.

        Raises
        ------
        GuaranteeError
            If what comes back is not what was written, or does not keep a promise.
        TableError
            If the database refuses the table, or would change it.
        """
        database, address = self._database, self._address
        stored = database.storable(make_publishable(table))
        database.write(address, stored, f"{MARK}{release_id}", replaces=self._replaces)
        returned = database.read(address)
        if not same_records(stored, returned):
            raise GuaranteeError(
                f"{database.title} does not return the records that were written into {address.table!r}; the "
                "transaction was rolled back. Nothing was written"
            )
        self._require_promises(returned, recipe, statement)

    def _require_promises(self, returned: pa.Table, recipe: Recipe, statement: Statement) -> None:
        for guarantee in statement.guarantees:
            if guarantee.counted:
                require_k(recount(returned, guarantee.attributes, recipe.k), WHERE)
        strategy = strategy_of(recipe)
        if strategy.is_counted:
            counts = count_requirements(numbers_of_text(returned, recipe), recipe, returned)
            require_requirements(counts, recipe, WHERE)
        require_public(values_out_of_type(returned), WHERE)
        require_public(strategy.findings(returned), WHERE)

    def commit(self, folder: str) -> None:
        """Make the table stay; `folder` has the papers of the release by now."""
        try:
            self._is_known = False
            self._database.commit()
            self._is_known = self._is_there = True
        except TableError as error:
            raise TableError(f"{error}. {self.end(folder)}") from None

    def end(self, folder: str) -> str:
        """Where release and table are, once the folder is in its place and the transaction ended, well or not."""
        name = self._address.table
        if self._is_there:
            return f"The release is whole in {folder!r}, and its table {name!r} is in the database"
        if self._is_known or self._database.is_undone():
            return f"The database is as it was before; the release is whole in {folder!r}, without it"
        return (
            f"The release is whole in {folder!r}; whether the database has it, too, is not known. It has, if there "
            f"is a table {name!r} whose comment ends with the id of manifest.json"
        )


@contextmanager
def delivery_to(text: str, *, overwrite: bool, database: Database | None = None) -> Iterator[Delivery]:
    """Open the way into a table of a database, before anything is spent; undone unless it is committed.

    Parameters
    ----------
    text : str
        The address of the table.
    overwrite : bool
    database : Database, optional
        A transaction on the same database that is open already.
    """
    address = Address.parse(text)
    if database is not None:
        yield Delivery(address, database, overwrite=overwrite)
        return
    with connected(address, writes=True) as opened:
        yield Delivery(address, opened, overwrite=overwrite)
