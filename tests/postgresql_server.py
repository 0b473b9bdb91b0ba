"""A PostgreSQL server of its own for tests, in a folder that goes with it; reached through a socket in that folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from optional_packages import need

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")


def _programs() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = (folder for place in _PLACES for folder in sorted(Path("/").glob(place[1:]), reverse=True))
    return next((folder for folder in folders if (folder / "initdb").is_file()), None)


def _as_another() -> list[str]:
    """The words before a command that PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("needs a user named postgres, as PostgreSQL does not run as root")
    return ["runuser", "-u", "postgres", "--"]


class Server:
    """A running server."""

    def __init__(self, folder: Path, superuser: str) -> None:
        self._folder, self._user = folder, superuser

    def address(self, table: str, **more: str) -> str:
        """The address of a table, as a user would write it."""
        return self._database(**more, table=table)

    def _database(self, **more: str) -> str:
        return f"postgresql:///postgres?{urlencode({'host': str(self._folder), 'user': self._user, **more})}"

    def run(self, *statements: str) -> list[tuple]:
        """Run SQL, and return the rows of the last statement."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self._database(), autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def running() -> Iterator[Server]:
    """Start a server, or skip with what the machine lacks."""
    need("adbc_driver_postgresql")
    programs = _programs()
    if programs is None:
        pytest.skip("needs PostgreSQL (apt-get install postgresql)")
    before = _as_another()
    with tempfile.TemporaryDirectory(
        prefix="pg-", dir="/tmp", ignore_cleanup_errors=True
    ) as name:  # sockets' names are short
        folder = Path(name)
        if before:
            shutil.chown(folder, "postgres")

        def run(program: str, *words: str) -> None:
            done = subprocess.run(
                [*before, str(programs / program), "-D", str(folder / "data"), *words],
                cwd="/tmp",
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, done.stderr

        run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections=20 -c shared_buffers=16MB"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield Server(folder, "postgres")
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
