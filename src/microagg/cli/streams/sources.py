"""Tables that a command reads: a file, ``-`` for standard input, or the address of a table in a database."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from microagg.cli.terminal import say

if TYPE_CHECKING:
    from microagg.tables.databases.database import Database

__all__ = ["STREAM", "Sources", "takes_sources"]

R = TypeVar("R")
STREAM = "-"

InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        help="What standard input (-) holds: csv, tsv, parquet, arrows, jsonl ...; default: what its first bytes say.",
        rich_help_panel="How the file is written (overrides the recipe's input table)",
    ),
]


class Sources:
    """What a command reads that is no file, open until the command ends."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._databases: dict[Path, Database] = {}
        self._stream: Path | None = None
        self._spooled: set[Path] = set()

    def open(self, text: str, kind: str | None, writes_to: str | None = None) -> Path:
        """The table that a text names, as a file.

        Parameters
        ----------
        text : str
            A path, ``-`` or an address.
        kind : str or None
            What standard input holds, if the user said so.
        writes_to : str, optional
            The address that the command writes to: if it is of the same database, one transaction does both.
        """
        from microagg.errors import InputError
        from microagg.tables.databases.address import Address, is_address
        from microagg.tables.databases.database import connected
        from microagg.tables.databases.spool import spooled_stream, spooled_table

        if text == STREAM:
            if self._stream is not None:
                raise InputError("standard input (-) can be one table only")
            self._stream = self._stack.enter_context(spooled_stream(sys.stdin.buffer, kind))
            self._spooled.add(self._stream)
            if kind is None:
                say(f"Standard input is read as {self._stream.name.partition('.')[2]} (--input-format says otherwise).")
            return self._stream
        if not is_address(text):
            return Path(text)
        address = Address.parse(text)
        target = None if writes_to is None else Address.parse(writes_to)
        if target is None or not target.in_database_of(address):
            with connected(address) as database:
                path = self._stack.enter_context(spooled_table(database.read(address), address.file_name))
            self._spooled.add(path)
            return path
        database = self._stack.enter_context(connected(address, writes=True))
        if database.is_one(address, target):
            raise InputError(
                "the released table would replace the records that it is made from. Choose another table to write to"
            )
        path = self._stack.enter_context(spooled_table(database.read(address), address.file_name))
        self._spooled.add(path)
        self._databases[path] = database
        return path

    def database_of(self, path: Path) -> Database | None:
        """The open transaction that a table was read in, if the command writes into it."""
        return self._databases.get(path)

    def words_for(self, path: Path) -> str:
        """What to write for a table in a command that is suggested: never an address, which may hold a password."""
        if path == self._stream:
            return STREAM
        return "ADDRESS" if path in self._spooled else str(path)

    def is_file(self, path: Path) -> bool:
        """Whether a table lies in a file, beside which a ledger may be kept."""
        return path not in self._spooled


def takes_sources(*names: str) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let parameters of a command, declared as paths or lists of them, be ``-`` or an address, too.

    A command with a parameter `sources` gets what is open; one with a parameter `output` may write into the database
    that it reads from.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        signature = inspect.signature(command)
        hints = get_type_hints(command, include_extras=True)
        wants = "sources" in signature.parameters
        kept = [
            one.replace(annotation=_as_text(hints[name]) if name in names else hints[name])
            for name, one in signature.parameters.items()
            if name != "sources"
        ]
        more = inspect.Parameter("input_format", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=InputFormat)

        @functools.wraps(command)
        def with_sources(*args: Any, **values: Any) -> R:
            kind = values.pop("input_format", None)
            with ExitStack() as stack:
                sources = Sources(stack)
                target = _target(values.get("output"))
                for name in names:
                    given = values.get(name)
                    if isinstance(given, list):
                        values[name] = [sources.open(str(one), kind, target) for one in given]
                    elif given is not None:
                        values[name] = sources.open(str(given), kind, target)
                return command(*args, **(values | {"sources": sources} if wants else values))

        with_sources.__signature__ = signature.replace(parameters=[*kept, more])  # type: ignore[attr-defined]
        with_sources.__annotations__ = {one.name: one.annotation for one in (*kept, more)}
        return with_sources

    return decorate


def _target(output: Any) -> str | None:
    from microagg.tables.databases.address import is_address

    return output if isinstance(output, str) and is_address(output) else None


def _as_text(hint: Any) -> Any:
    """The same option or argument, whose value typer leaves as it is: a path would lose the slashes of an address."""
    kind, *details = get_args(hint)
    texts = {Path: str, list[Path]: list[str]}
    return Annotated[(texts.get(kind, str | None), *details)]
