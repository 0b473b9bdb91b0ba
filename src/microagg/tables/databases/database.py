"""What a database must do for a table to be read from it and written into it, and how its refusals are told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from microagg.errors import MicroaggError, TableError
from microagg.tables.databases.address import Address

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MARK", "Database", "connected", "quoted"]

MARK = "Released by microagg, "  # before the id of the release, in the comment of every table that is written

_DRIVERS = {
    "sqlite": "microagg.tables.databases.sqlite:Sqlite",
    "postgresql": "microagg.tables.databases.postgresql:Postgresql",
}


def quoted(*names: str | None) -> str:
    """Names as SQL takes them, whatever is in them.

    Examples
    --------
    >>> quoted("public", 'a"; drop table b')
    '"public"."a""; drop table b"'
    """
    for name in names:
        if name is not None and "\0" in name:
            raise TableError("a name in a database cannot hold a NUL character")
    return ".".join('"' + name.replace('"', '""') + '"' for name in names if name is not None)


class Database(ABC):
    """One transaction on a database: it begins with the connection and ends with `commit`, or as if it never was.

    Attributes
    ----------
    title : str
        What people call it.
    """

    title: ClassVar[str]

    @abstractmethod
    def __init__(self, address: Address, *, writes: bool) -> None:
        """Connect and begin; `writes` says whether anything will be written."""

    @abstractmethod
    def has(self, address: Address) -> bool:
        """Whether there is a table, a view or anything else of this name."""

    @abstractmethod
    def is_one(self, address: Address, other: Address) -> bool:
        """Whether two addresses name one table, however they are written."""

    @abstractmethod
    def mark_of(self, address: Address) -> str:
        """The comment of a table; empty if it has none."""

    @abstractmethod
    def read(self, address: Address) -> pa.Table:
        """All records, each column in the Arrow type that the database states."""

    @abstractmethod
    def storable(self, table: pa.Table) -> pa.Table:
        """The table in the types that the database keeps, to the last digit; refuse one that it would change."""

    @abstractmethod
    def write(self, address: Address, table: pa.Table, mark: str, *, replaces: bool) -> None:
        """Create the table with a comment, and fill it with what `storable` gave."""

    @abstractmethod
    def commit(self) -> None:
        """Make everything that was written stay."""

    @abstractmethod
    def is_undone(self) -> bool:
        """After a `commit` that ended with an error or an interrupt: whether it is certain that nothing stays."""

    @abstractmethod
    def close(self) -> None:
        """End the transaction; what was not committed is gone."""

    @contextmanager
    def told(self, doing: str) -> Iterator[None]:
        """Turn an error of a driver into one that quotes neither the address nor a value."""
        try:
            yield
        except (MicroaggError, MemoryError):
            raise
        except Exception as error:
            raise TableError(f"{self.title} refused to {doing}: {self.reason_of(error)}") from None

    def reason_of(self, error: Exception) -> str:
        """Why, in words that hold nothing of the message of the error."""
        return type(error).__name__


@contextmanager
def connected(address: Address, *, writes: bool = False) -> Iterator[Database]:
    """A transaction on the database of an address, which is rolled back unless it was committed."""
    module, name = _DRIVERS[address.kind].split(":")
    database: Database = getattr(import_module(module), name)(address, writes=writes)
    try:
        yield database
    finally:
        database.close()
