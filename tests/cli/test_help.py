"""Help is shown as it is written: brackets of a recipe's tables are no markup."""

from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from microagg.cli.app import app
from microagg.recipe.recipe import Recipe

COMMANDS = tuple(typer.main.get_command(app).commands)


def shown(*arguments: str) -> str:
    ended = CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    assert ended.exit_code == 0
    return " ".join(ended.output.split())


def test_sweep_names_its_table_of_the_recipe():
    assert "its [sweep] names what to try" in shown("sweep")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_word_of_every_help_is_shown(command):
    output = shown(command)
    known = typer.main.get_command(app).commands[command]
    for written in (known.help or "", *(getattr(option, "help", "") or "" for option in known.params)):
        for word in written.split():
            assert word in output, f"{command} --help loses {word!r}"


def test_a_table_in_brackets_is_one_of_the_recipe():
    for command in COMMANDS:
        for table in re.findall(r"(?<!list)\[([a-z_.]+)\]", shown(command).replace("[required]", "")):
            assert table.partition(".")[0] in Recipe.model_fields, f"{command}: [{table}]"
