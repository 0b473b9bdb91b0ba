"""What the commands share: results on standard output, everything for a person on standard error."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn, ParamSpec, TypeVar

import typer

from microagg._progress import shown_by
from microagg._progress_lines import lines_of_progress
from microagg.cli.batch import time_limit
from microagg.cli.batch.log import ERROR, PROGRESS, is_json, takes_log_form, tell
from microagg.cli.streams.addresses import refuse_addresses
from microagg.errors import GuaranteeError, InputError, MicroaggError, SafeNote, place_of

__all__ = [
    "Aligned",
    "Key",
    "ReceiptFile",
    "drop_standard_output",
    "ends_in_time",
    "explains_errors",
    "fail",
    "hears_report_warnings",
    "if_interrupted",
    "print_json",
    "say",
    "shows_progress",
    "write_internal_report",
]

P = ParamSpec("P")
R = TypeVar("R")

NOT_MET = 1
BAD_INPUT = 2
PIPE_CLOSED = 141  # what a shell reports for a program whose output nobody reads
NO_REPORT = 3
INTERNAL = 70  # EX_SOFTWARE of sysexits.h
TIME_OVER = 124  # what timeout(1) reports
INTERRUPTED = 130  # what a shell reports of a program ended by Ctrl-C

# How a command learns which rows of two tables belong together.
Aligned = Annotated[
    bool | None,
    typer.Option(
        "--aligned/--shuffled",
        help="Whether row i of both tables is the same record; by default found out from unchanged columns.",
    ),
]
Key = Annotated[str | None, typer.Option(help="A column of both tables that shows which rows belong together.")]
ReceiptFile = Annotated[
    Path | None,
    typer.Option(
        "--receipt", help="The receipt of the release, which shows the same; by default the one beside its folder."
    ),
]


def say(message: str) -> None:
    """Tell the person something, on standard error."""
    tell(message)


def print_json(content: Any) -> None:
    """Print a result for a program, on standard output."""
    text = json.dumps(content, indent=2, ensure_ascii=False, default=str)
    try:
        typer.echo(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_standard_output()
        raise InputError(
            f"standard output did not take the result ({error.strerror}); what the command was to write into files is "
            "written"
        ) from None


def drop_standard_output() -> None:
    """Leave nothing that would be written in vain when the command ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, code: int) -> NoReturn:
    """Say why and stop."""
    tell(message if is_json() else f"error: {message}", ERROR)
    raise typer.Exit(code)


def _interrupted() -> str:
    return "interrupted"


class _Interrupts:
    """Interrupts of the running command: how many, and the message about them."""

    def __init__(self) -> None:
        self.count = 0
        self.message = _interrupted
        self.limit: float | None = None

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Count interrupts, as libraries may make another error of one, or nothing at all."""
        self.count, self.message, self.limit = 0, _interrupted, None
        usual = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or usual is signal.SIG_IGN:
            yield
            return
        signal.signal(signal.SIGINT, self._hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def _hear(self, number: int, frame: Any) -> None:
        self.count += 1
        raise KeyboardInterrupt

    def ring(self, limit: float) -> None:
        """Take note that a time limit is over: the command ends as if it were interrupted."""
        self.count += 1
        self.limit = limit

    def end(self) -> NoReturn:
        message = self.message()
        if self.limit is None:
            tell(message, ERROR)
            raise typer.Exit(INTERRUPTED)
        tell(message.replace("interrupted", f"the time limit of {self.limit:g} s is over", 1), ERROR)
        raise typer.Exit(TIME_OVER)


_interrupts = _Interrupts()


def if_interrupted(message: Callable[[], str]) -> None:
    """Set the message for an interrupt of the running command; ends it if it was interrupted and nobody noticed."""
    _interrupts.message = message
    if _interrupts.count:
        raise KeyboardInterrupt


def explains_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn errors into a sentence and an exit code; ``docs/batch_jobs.md`` lists them. Adds ``--log-json``.

    An unforeseen error says where it happened and withholds its message, which might hold values of records;
    with ``MICROAGG_DEBUG=1`` it comes with its traceback.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with _interrupts.heard():
                refuse_addresses(kwargs)
                return command(*args, **kwargs)
        except KeyboardInterrupt as error:
            _say_notes(error)
            _interrupts.end()
        except GuaranteeError as error:
            _say_notes(error)
            fail(str(error), NOT_MET)
        except MicroaggError as error:
            _say_notes(error)
            fail(str(error), BAD_INPUT)
        except BrokenPipeError:  # whoever reads has seen enough, as in `microagg methods | head`
            drop_standard_output()
            raise typer.Exit(PIPE_CLOSED) from None
        except OSError as error:
            _say_notes(error)
            fail(f"{error.strerror or type(error).__name__}: {Path(str(error.filename or '')).name!r}", BAD_INPUT)
        except typer.Exit:
            raise
        except Exception as error:
            _say_notes(error)
            if _interrupts.count:  # in the middle of an import, say
                _interrupts.end()
            if os.environ.get("MICROAGG_DEBUG"):
                raise
            fail(
                f"{place_of(error)}; nothing was written. Its message is withheld, as it "
                "may hold values of records: set MICROAGG_DEBUG=1 to see it",
                INTERNAL,
            )

    return takes_log_form(guarded)


def ends_in_time(command: Callable[..., R]) -> Callable[..., R]:
    """Add ``--time-limit`` to a command."""
    return time_limit.ends_in_time(_interrupts.ring)(command)


def _say_notes(error: BaseException) -> None:
    """Say what was noted on an error by us; notes of others may hold values of records."""
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, SafeNote):
            say(f"Note: {note}")


@contextmanager
def hears_report_warnings() -> Iterator[list[str]]:
    """Collect warnings about a report that could not be made; other warnings go on as they would."""
    from microagg.errors import ReportWarning

    found: list[str] = []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ReportWarning)
        yield found
    for one in heard:
        if issubclass(one.category, ReportWarning):
            found.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def write_internal_report(write: Callable[[], object], folder: Path) -> list[str]:
    """Write the internal report of a release that is complete; if that fails, a sentence for whoever asked for it."""
    try:
        write()
    except MicroaggError as error:
        why = str(error)
    except Exception as error:
        if os.environ.get("MICROAGG_DEBUG"):
            raise
        why = place_of(error)
    else:
        return []
    return [f"the internal report could not be made ({why}); the release in {folder.name!r} is whole without it"]


@contextmanager
def _results_kept_apart() -> Iterator[None]:
    """Send to standard error what compiled libraries say on standard output meanwhile, as solvers may do."""
    import ctypes

    standard_output, standard_error = 1, 2
    sys.stdout.flush()
    kept = os.dup(standard_output)
    os.dup2(standard_error, standard_output)
    try:
        yield
    finally:
        sys.stdout.flush()
        if os.name == "posix":
            ctypes.CDLL(None).fflush(None)  # what they said may still wait in the C library
        os.dup2(kept, standard_output)
        os.close(kept)


@contextmanager
def shows_progress() -> Iterator[None]:
    """Show the progress of long work: a bar on a terminal, else a line now and then. Results are kept apart from it."""
    with _results_kept_apart(), _progress_bar():
        yield


@contextmanager
def _progress_bar() -> Iterator[None]:
    if is_json() or not sys.stderr.isatty():
        with lines_of_progress(lambda line: tell(line, PROGRESS)):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, Any] = {}

        def listen(task: str, share: float) -> None:
            # What follows the colon changes as the work goes on: one bar, with the latest of it.
            name = task.partition(":")[0]
            if name not in tasks:
                tasks[name] = progress.add_task(task, total=1.0)
            progress.update(tasks[name], completed=share, description=task)

        with shown_by(listen):
            yield
