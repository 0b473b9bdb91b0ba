"""Where a release goes: a folder, and with it standard output or a table of a database."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.cli.streams.sources import STREAM
from microagg.cli.terminal import drop_standard_output
from microagg.errors import InputError

if TYPE_CHECKING:
    from microagg.releases.folder.delivery import Delivery
    from microagg.tables.databases.database import Database

__all__ = ["Destination"]


@dataclass(frozen=True)
class Destination:
    """The folder of a release, and what gets its table besides.

    Attributes
    ----------
    folder : Path
    to_stream : bool
        Whether the table goes to standard output, too.
    address : str or None
        Of the table in a database; never shown.
    table : str
        Its name, for messages.
    """

    folder: Path
    to_stream: bool = False
    address: str | None = None
    table: str = ""

    @classmethod
    def of(cls, output: str, papers: Path | None, *, as_json: bool) -> Destination:
        """What the flags say.

        Raises
        ------
        InputError
            If a table would go out without its papers, or two results would be on one stream.
        """
        from microagg.tables.databases.address import Address, is_address

        is_stream, has_address = output == STREAM, is_address(output)
        if not (is_stream or has_address):
            if papers is not None:
                raise InputError("--papers is for a table that goes to standard output (-o -) or into a database")
            return cls(Path(output))
        where = "standard output" if is_stream else "a database"
        if papers is None:
            raise InputError(
                f"a table alone says nothing of what is promised: with {where} as output, say where statement, "
                "manifest, receipt and a copy of the table go: --papers out/"
            )
        if is_stream and as_json:
            raise InputError("standard output is taken by the table: leave out --json, or write into a folder")
        if is_stream:
            return cls(papers, to_stream=True)
        return cls(papers, address=output, table=Address.parse(output).table)

    @property
    def is_folder_alone(self) -> bool:
        return not self.to_stream and self.address is None

    @property
    def usual_format(self) -> str | None:
        """The format of the copy beside a table of a database: one that keeps its types."""
        return None if self.address is None else "parquet"

    @contextmanager
    def delivery(self, database: Database | None, *, overwrite: bool) -> Iterator[Delivery | None]:
        """The way into the database, open before anything is spent; None if there is none."""
        from microagg.releases.folder.delivery import delivery_to

        if self.address is None:
            yield None
            return
        with delivery_to(self.address, overwrite=overwrite, database=database) as opened:
            yield opened

    def send(self, folder: Path, name: str) -> None:
        """Send the bytes of the table that was counted to standard output, if it goes there."""
        if not self.to_stream:
            return
        try:
            with (folder / name).open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            drop_standard_output()
            raise InputError(
                f"standard output did not take the table ({error.strerror}). The release is whole in {folder.name!r}, "
                f"and {name} there is what was to go out"
            ) from None

    def words(self) -> str:
        """Where the release is, for a person."""
        if self.to_stream:
            return f"standard output and {self.folder}"
        return str(self.folder) if self.address is None else f"the table {self.table!r} and {self.folder}"
