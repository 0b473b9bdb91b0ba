"""What the command line can do, Python can: every command has a name in microagg."""

import inspect

import pytest
import typer

import microagg
from documented import ROOT
from microagg.cli.app import app

# A command, and what does it from Python.
IN_PYTHON = {
    "init": "init",
    "risk": "risk",
    "release": "release",
    "check": "check",
    "evaluate": "evaluate",
    "report": "report",
    "tradeoff": "tradeoff",
    "sweep": "sweep",
    "reproduce": "reproduce",
    "methods": "list_methods",
    "measures": "list_measures",
    "explain": "explain",
    "datasets": "datasets",
    "keygen": "make_keys",
    "budget": "Account",
}
A_TOUR = {"demo", "studio"}  # of other commands: on data that it makes up, and in a browser

# Flags of commands that are parameters of another name, or lie elsewhere.
ELSEWHERE = {
    "check": {"k": "Recipe.changed", "target": "target"},
    "report": {"output": "path", "pdf": "printed by a browser: the command line alone"},
    "risk": {"data": "table", "threshold": "thresholds"},
    "init": {"data": "table", "output": "Draft.save", "overwrite": "Draft.save"},
}


def commands():
    return typer.main.get_command(app).commands


def test_every_command_has_a_name_in_python():
    assert set(commands()) == set(IN_PYTHON) | A_TOUR
    for name in IN_PYTHON.values():
        assert name in microagg.__all__
        assert getattr(microagg, name) is not None


def test_a_command_that_is_called_otherwise_in_python_is_explained():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    otherwise = {command: name for command, name in IN_PYTHON.items() if command != name}
    assert otherwise == microagg._OF_COMMANDS
    for command, name in otherwise.items():
        assert f"`{command}`" in page
        assert f"`microagg.{name}`" in page
        with pytest.raises(AttributeError, match=rf"is microagg\.{name} in Python"):
            microagg.__getattr__(command)


def test_every_flag_of_the_commands_that_have_functions_of_their_own_is_a_parameter():
    from microagg.cli.input_flags import _OPTIONS

    of_every_command = {*_OPTIONS, "help", "log_json", "time_limit", "as_json", "input_format", "recipe"}
    for command, elsewhere in ELSEWHERE.items():
        parameters = set(inspect.signature(getattr(microagg, IN_PYTHON[command])).parameters)
        flags = {option.name for option in commands()[command].params} - of_every_command
        assert flags <= parameters | set(elsewhere), command


def test_lists_name_what_the_commands_print():
    assert {row["name"] for row in microagg.list_methods()} >= {"mdav", "near_optimal"}
    assert {row["name"] for row in microagg.list_measures()} >= {"SSE_SST", "k"}
