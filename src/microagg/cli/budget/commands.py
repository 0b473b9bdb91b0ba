"""``microagg budget``: what several releases of one table spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json, say

if TYPE_CHECKING:
    from microagg.releases.account.account import Account

__all__ = ["budget"]

budget = typer.Typer(
    name="budget",
    help="Add up what differentially private releases of one table spend, and refuse those above a cap.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Data = Annotated[Path, typer.Argument(help="The data file; its ledger lies beside it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@budget.command()
@explains_errors
def start(
    data: Data,
    cap: Annotated[float, typer.Option(help="The largest sum of epsilons, of all releases of this file.")],
    as_json: AsJson = False,
) -> None:
    """Start a ledger beside the data: from then on every private release of the file is recorded by itself."""
    from microagg.releases.account.account import Account

    account = Account.start(data, cap=cap)
    say(f"Wrote {account.ledger.name} beside the data: for you only, keep it there, and do not publish or edit it.")
    say("From now on 'microagg release' of this file records what it spends, and refuses what would exceed the cap.")
    say(f"Releases made before are not in it: enter each with 'microagg budget add {data} EPSILON --note ...'")
    _tell_left(account, as_json)


@budget.command()
@explains_errors
def show(data: Data, as_json: AsJson = False) -> None:
    """Show what was released, what it spent, what is left, and what the sum means."""
    from microagg.releases.account.account import Account

    account = Account.open(data)
    print_json(account.as_dict()) if as_json else typer.echo(str(account))


@budget.command()
@explains_errors
def cap(data: Data, epsilon: Annotated[float, typer.Argument(help="The new cap.")], as_json: AsJson = False) -> None:
    """Declare another cap; the ledger keeps that there was one before."""
    from microagg.releases.account.account import Account

    _tell_left(Account.open(data).set_cap(epsilon), as_json)


@budget.command()
@explains_errors
def add(
    data: Data,
    epsilon: Annotated[float, typer.Argument(help="What it spent, about the original records.")],
    note: Annotated[str, typer.Option(help="What it was, for yourself.")] = "",
    as_json: AsJson = False,
) -> None:
    """Enter a release that microagg did not record: made before the ledger, of a copy, or with another tool."""
    from microagg.releases.account.account import Account

    _tell_left(Account.open(data).add(epsilon, note=note), as_json)


def _tell_left(account: Account, as_json: bool) -> None:
    from microagg.releases.account.amounts import at_least, at_most, plain

    spent, left = plain(at_least(account.spent)), plain(at_most(account.left))
    say(f"{spent} of {plain(account.cap)} is spent, {left} is left.")
    if as_json:
        print_json(account.as_dict())
