"""Jobs that nobody watches: an end in time, logs for programs, and the exit codes that the docs list."""

import json
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import typer
from pyarrow import parquet
from typer.testing import CliRunner

from microagg.cli import terminal
from microagg.cli.app import app
from microagg.cli.batch.log import tell
from microagg.cli.batch.time_limit import ends_in_time, with_searches_in_time
from microagg.recipe.recipe import Recipe
from microagg.releases import pipeline
from microagg.releases.check.check import check_release
from optional_packages import need

PAGE = Path(__file__).parents[2] / "docs" / "batch_jobs.md"
CANARY = 918273645


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=3000) for name in "abc"} | {"s": [CANARY + i % 7 for i in range(3000)]}
    parquet.write_table(pa.table(columns), "people.parquet")
    attributes = "".join(f'{name} = {{role = "quasi_identifier", kind = "numeric"}}\n' for name in "abc")
    confidential = 's = {role = "confidential", kind = "nominal"}\n'
    for method, more in (("mdav", ""), ("near_optimal", '[partition]\neffort = "best"\n')):
        Path(f"{method}.toml").write_text(f'k = 4\nmethod = "{method}"\n{more}[attributes]\n{attributes}{confidential}')
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_search_that_was_cut_is_released_and_the_statement_says_so(files):
    recipe = Path("near_optimal.toml")
    recipe.write_text(recipe.read_text().replace("effort", "time_limit = 0.3\neffort"))
    done = run("release", "people.parquet", "-r", recipe, "-o", "out", "--time-limit", "300", "--no-report")
    assert done.exit_code == 0, done.output
    statement = json.loads(Path("out/statement.json").read_text())
    assert any("was stopped by its time limit of 0.3 s" in remark for remark in statement["remarks"])
    assert all(finding.holds for finding in check_release(Path("out")))


def test_searches_leave_time_to_write_what_they_find(files):
    recipe = Recipe.load("near_optimal.toml")
    assert with_searches_in_time(recipe) == recipe
    limits = []

    @ends_in_time(lambda limit: None)
    def command():
        two = recipe.changed({"blocks": {"form": "given", "attributes": [["a"], ["b", "c"]]}})
        hidden = recipe.changed({"protect": {"s": {"distinct_l": 2}}, "rearrange.time_limit": 1})
        for one in (recipe, two, hidden, Recipe.load("mdav.toml")):
            changed = with_searches_in_time(one)
            limits.append((changed.partition.get("time_limit"), changed.rearrange.time_limit))

    command(time_limit=1000.0)
    (whole, none), (half, _), (_, own), plain = limits
    assert 390 < whole <= 400
    assert 190 < half <= 200
    assert (none, own, plain) == (None, 1, (None, None))


def test_what_does_not_end_in_time_ends_with_nothing_and_says_why(files, monkeypatch):
    def never(*args, **more):
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(pipeline, "release", never)
    done = run("release", "people.parquet", "-r", "mdav.toml", "-o", "out", "--time-limit", "0.3")
    assert done.exit_code == terminal.TIME_OVER
    assert "the time limit of 0.3 s is over; nothing was written" in done.stderr
    assert {path.name for path in files.iterdir()} == {"people.parquet", "mdav.toml", "near_optimal.toml"}


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_a_time_limit_is_a_time(files, seconds):
    done = run("release", "people.parquet", "-r", "mdav.toml", "-o", "out", "--time-limit", seconds)
    assert (done.exit_code, "--time-limit is a number of seconds" in done.stderr) == (2, True)


def test_logs_are_json_lines_without_values_and_end_with_the_exit_code(files):
    done = run("release", "people.parquet", "-r", "mdav.toml", "-o", "out", "--log-json", "--json", "--no-report")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert all({"at", "event", "text"} <= line.keys() for line in lines)
    assert lines[0]["text"].startswith("Wrote out: 3000 records")
    assert (lines[-1]["event"], lines[-1]["exit_code"]) == ("end", 0)
    assert json.loads(done.stdout)["n_records"] == 3000
    again = run("release", "people.parquet", "-r", "mdav.toml", "-o", "out", "--log-json")
    error, end = (json.loads(line) for line in again.stderr.splitlines())
    assert (error["event"], end["exit_code"]) == ("error", 2)
    assert "exists" in error["text"]
    assert str(CANARY)[:6] not in done.stderr + again.stderr


@pytest.mark.parametrize("form", ["--log-json", "plain"])
@pytest.mark.parametrize(
    "place", ["/site-packages/numpy/core.py", "/home/me/microagg/.venv/site-packages/numpy/core.py"]
)
def test_warnings_of_libraries_are_named_and_not_quoted(files, monkeypatch, form, place):
    usual = pipeline.release

    def warning(*args, **more):
        warnings.warn_explicit(f"value {CANARY}", RuntimeWarning, place, 1)
        warnings.warn_explicit("words of ours", UserWarning, pipeline.__file__, 1)
        return usual(*args, **more)

    monkeypatch.setattr(pipeline, "release", warning)
    words = () if form == "plain" else (form,)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = run("release", "people.parquet", "-r", "mdav.toml", "-o", "out", "--no-report", *words)
    told = done.stderr.splitlines()[:2]
    if form == "plain":
        assert told == ["warning: a library gave a RuntimeWarning", "warning: words of ours"]
    else:
        heard = [(line["event"], line["text"]) for line in map(json.loads, told)]
        assert heard == [("warning", "a library gave a RuntimeWarning"), ("warning", "words of ours")]
    assert str(CANARY) not in done.stderr


def test_every_command_takes_the_forms_of_its_log_and_of_its_result():
    def leaves(command, name):
        more = getattr(command, "commands", {})
        return (
            [one for sub, found in more.items() for one in leaves(found, f"{name} {sub}")]
            if more
            else [(name, command)]
        )

    for name, command in leaves(typer.main.get_command(app), "microagg"):
        flags = {flag for option in command.params for flag in option.opts}
        assert "--log-json" in flags, name
        assert ("--json" in flags) == (name != "microagg studio"), name  # its result is a page in a browser


def test_commands_that_write_files_print_what_they_wrote_as_json(files):
    run("release", "people.parquet", "-r", "mdav.toml", "-o", "out", "--no-report")
    for words, expected in (
        (("report", "people.parquet", "out", "-o", "page.html"), {"page": "page.html", "numbers": "page.json"}),
        (("keygen", "key"), {"private": "key.pem", "public": "key.pub.pem"}),
        (("budget", "start", "people.parquet", "--cap", "2"), {}),
        (("budget", "cap", "people.parquet", "3"), {}),
        (("budget", "add", "people.parquet", "1"), {}),
    ):
        if words[0] == "keygen":
            need("cryptography")
        done = run(*words, "--json", "--log-json")
        assert done.exit_code == 0, done.output
        printed = json.loads(done.stdout)
        assert expected.items() <= printed.items()
        assert all(Path(name).is_file() for name in expected.values())
        assert json.loads(done.stderr.splitlines()[-1])["exit_code"] == 0
    assert printed == json.loads(run("budget", "show", "people.parquet", "--json").stdout)


def test_after_a_command_the_log_is_for_people_again(files, capsys):
    run("check", "nothing", "--log-json")
    tell("a sentence")
    assert capsys.readouterr().err == "a sentence\n"


def test_the_docs_list_every_exit_code():
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)}
    names = ("NOT_MET", "BAD_INPUT", "NO_REPORT", "INTERNAL", "TIME_OVER", "INTERRUPTED", "PIPE_CLOSED")
    assert listed == {0} | {getattr(terminal, name) for name in names}
    constants = {value for name, value in vars(terminal).items() if name.isupper() and isinstance(value, int)}
    assert constants == listed - {0}


def test_a_wrong_flag_is_bad_input():
    assert run("release", "--no-such-flag").exit_code == terminal.BAD_INPUT


def test_without_a_terminal_progress_is_plain_lines(files):
    """A process of its own: its standard error is a pipe."""
    code = (
        "import sys, time, microagg._progress_lines as lines\n"
        "lines.EVERY = 0.0\n"
        "from microagg._progress import report\n"
        "from microagg.cli.terminal import shows_progress\n"
        "from microagg.cli.batch.log import log_as_json\n"
        "with log_as_json(sys.argv[1] == 'json'), shows_progress():\n"
        "    report('searching cells: loses 3.1 %', 0.4)\n"
    )
    for form in ("plain", "json"):
        done = subprocess.run([sys.executable, "-c", code, form], capture_output=True, text=True, check=True)
        line = done.stderr.splitlines()[0]
        text = json.loads(line)["text"] if form == "json" else line
        assert text == "searching cells: 40 % (loses 3.1 %)"
        assert "\x1b" not in done.stderr
        assert not done.stdout


def test_a_shell_completes_commands_and_flags(monkeypatch):
    monkeypatch.setenv("_MICROAGG_COMPLETE", "complete_bash")
    for typed, place, word in (("microagg rel", 1, "release"), ("microagg release --time", 2, "--time-limit")):
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(place))
        assert CliRunner().invoke(app, prog_name="microagg").stdout.split() == [word]
