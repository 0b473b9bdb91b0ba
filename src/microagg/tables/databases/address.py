"""Addresses of tables in databases: ``sqlite:///file.db?table=t``, ``postgresql://user@host/db?table=schema.t``.

An address may hold a password. So nothing here, and nothing that uses it, ever shows one: messages name the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from microagg.errors import TableError

__all__ = ["Address", "is_address"]

_KINDS = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql"}
_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})")


def is_address(text: str) -> bool:
    """Whether a text names something in a database, not a file.

    Examples
    --------
    >>> is_address("sqlite:///survey.db?table=people"), is_address("survey.csv")
    (True, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


@dataclass(frozen=True)
class Address:
    """Where a table is.

    Attributes
    ----------
    kind : {"sqlite", "postgresql"}
    database : str
        What the driver connects to; may hold a password and is never shown.
    schema : str or None
    table : str

    Examples
    --------
    >>> Address.parse("postgresql://ann:secret@host/db?sslmode=require&table=public.people")
    Address(kind='postgresql', schema='public', table='people')
    >>> Address.parse('sqlite:///survey.db?table="odd.name"').table
    'odd.name'
    """

    kind: str
    database: str = field(repr=False)
    schema: str | None
    table: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address.

        Raises
        ------
        TableError
            If it is none; the message does not quote it.
        """
        try:
            parts = urlsplit(text)
            given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise TableError(f"the address of the table cannot be read. {_HELP}") from None
        if "#" in text:  # what follows would be no part of the address, and the table another one
            raise TableError(f"an address has no #: where a name or a password has one, write %23. {_HELP}")
        kind = _KINDS.get(parts.scheme.lower())
        if kind is None:
            raise TableError(f"tables are read from sqlite:// and postgresql:// addresses. {_HELP}")
        names = [value for key, value in given if key == "table"]
        found = _NAME.fullmatch(names[0]) if len(names) == 1 else None
        if found is None:
            raise TableError(f"the address does not say which table: end it with ?table=NAME. {_HELP}")
        schema, table = (None if one is None else _unquoted(one) for one in found.groups())
        assert table is not None
        others = [part for part in parts.query.split("&") if unquote(part.partition("=")[0]) != "table"]
        if kind == "sqlite":
            if parts.netloc or others or not parts.path.strip("/"):
                raise TableError(f"the address of an SQLite file has three slashes and nothing but the table. {_HELP}")
            if schema not in (None, "main"):
                raise TableError("a table of an SQLite file has no schema: leave it out")
            return cls(kind, unquote(parts.path[1:]), None, table)
        query = f"?{'&'.join(others)}" if others else ""  # urlunsplit would drop the slashes before an empty host
        return cls(kind, f"postgresql://{parts.netloc}{parts.path}{query}", schema, table)

    def in_database_of(self, other: Address) -> bool:
        """Whether both tables are in one database, as far as the addresses tell."""
        if self.kind != other.kind or self.database == other.database:
            return self.kind == other.kind
        own, others = Path(self.database), Path(other.database)
        return self.kind == "sqlite" and own.exists() and others.exists() and own.samefile(others)

    @property
    def file_name(self) -> str:
        """The name of the table as a file may have it, for messages."""
        return re.sub(r"[^\w.-]", "_", self.table)[:100].lstrip(".") or "table"


_HELP = (
    "Examples: 'sqlite:///survey.db?table=people', 'postgresql://user@host/database?table=schema.people'; a password "
    "belongs into PGPASSWORD or ~/.pgpass"
)


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
