"""The ``microagg`` command. Each command's file is imported here; what it needs, when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from microagg._version import __version__
from microagg.cli.budget.commands import budget
from microagg.cli.check import check
from microagg.cli.datasets import datasets
from microagg.cli.demo import demo
from microagg.cli.evaluate import evaluate
from microagg.cli.explain.explain import explain
from microagg.cli.explain.measures import measures
from microagg.cli.init import init
from microagg.cli.keygen import keygen
from microagg.cli.methods import methods
from microagg.cli.release import release
from microagg.cli.report import report
from microagg.cli.reproduce.command import reproduce
from microagg.cli.risk.command import risk
from microagg.cli.studio.command import studio
from microagg.cli.sweep import sweep
from microagg.cli.tradeoff import tradeoff

__all__ = ["COMMANDS", "app", "main", "register_command"]

app = typer.Typer(
    name="microagg",
    help="Publish a table about people or firms without exposing any of them.",
    no_args_is_help=True,
    add_completion=True,
    # Help is shown as it is written: markup would take the [sweep] of a recipe for a style, and leave it out.
    rich_markup_mode=None,
    # A pretty traceback prints local variables, which hold records.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Publish a table about people or firms without exposing any of them."""


COMMANDS: tuple[Callable[..., None], ...] = (
    init,
    risk,
    release,
    check,
    evaluate,
    report,
    tradeoff,
    sweep,
    methods,
    measures,
    explain,
    reproduce,
    datasets,
    keygen,
    studio,
    demo,
)


def register_command(command: Callable[..., None]) -> Callable[..., None]:
    """Add a command: its function's name is that of the command, its docstring the help."""
    app.command()(command)
    return command


for _command in COMMANDS:
    register_command(_command)
app.add_typer(budget)


def main() -> None:
    """Run the command line."""
    app()
