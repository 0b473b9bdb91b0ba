"""The papers of the repository agree with each other and with the package: versions, commands, extras, requirements."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import microagg
from optional_packages import need

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
PAPERS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def commands() -> set[str]:
    """The targets of the Makefile that `make help` lists."""
    return set(re.findall(r"^([a-z-]+):.*##", text("Makefile"), re.MULTILINE))


def changes() -> dict[str, str]:
    """What the changelog says of each version, the newest first."""
    return dict(
        re.findall(r"^## \[([^\]]+)\][^\n]*\n(.*?)(?=^## \[|\Z)", text("CHANGELOG.md"), re.DOTALL | re.MULTILINE)
    )


def test_the_citation_is_of_this_version_and_licence():
    cited = need("yaml").safe_load(text("CITATION.cff"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == microagg.__version__
    assert cited["license"] == PROJECT["project"]["license"]
    assert {"message", "title", "authors"} <= set(cited)


def test_the_newest_entry_of_the_changelog_is_of_this_version():
    assert next(iter(changes())) == microagg.__version__


def test_every_version_says_which_results_changed():
    assert changes()
    for version, said in changes().items():
        section = re.search(r"^### Changed results\n(.*?)(?=^### |\Z)", said, re.DOTALL | re.MULTILINE)
        assert section, version
        assert section[1].strip(), f"{version}: an empty section says nothing; write None"


def test_headings_of_the_changelog_are_the_usual_ones():
    usual = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Changed results"}
    assert set(re.findall(r"^### (.+)$", text("CHANGELOG.md"), re.MULTILINE)) <= usual


def test_every_command_of_the_makefile_is_documented_and_no_other():
    documented = set(re.findall(r"^\| `make ([a-z-]+)` \|", text("CONTRIBUTING.md"), re.MULTILINE))
    assert documented == commands()


def test_the_readme_names_every_command():
    named = set(re.findall(r"^make ([a-z-]+)", text("README.md"), re.MULTILINE))
    (others,) = re.findall(r"^\[The others\]\(CONTRIBUTING\.md\): `make (.*)$", text("README.md"), re.MULTILINE)
    assert named | set(re.findall(r"[a-z-]+", others)) == commands() - {"help"}


def test_commands_that_make_nothing_are_phony():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text("Makefile").replace("\\\n", ""), re.MULTILINE)
    assert commands() <= set(phony.split())


@pytest.mark.parametrize("paper", PAPERS)
def test_extras_that_are_named_exist(paper):
    named = {
        extra.strip()
        for listed in re.findall(r"(?:microagg|\.)\[([a-z, -]+)\]", text(paper))
        for extra in listed.split(",")
    }
    named |= set(re.findall(r"extra `([a-z-]+)`", text(paper)))
    if listed := re.search(r"^`pip install \.`.*?Extras: (.*?), as in", text(paper), re.DOTALL | re.MULTILINE):
        named |= set(re.findall(r"`([a-z-]+)`", listed[1]))
    assert named <= set(EXTRAS)
    assert bool(named) == (paper in ("README.md", "CHANGELOG.md"))


def test_the_makefile_names_no_package():
    required = {
        re.match(r"[A-Za-z0-9_-]+", requirement)[0].lower()
        for listed in (PROJECT["project"]["dependencies"], *EXTRAS.values(), *GROUPS.values())
        for requirement in listed
    } - {"microagg"}
    installed = [line for line in text("Makefile").splitlines() if re.search(r"\$\(INSTALL\)|pip install", line)]
    assert installed
    for line in installed:
        words = set(re.findall(r"[a-z0-9_-]+", re.sub(r"\$\([A-Z]+\)/bin/\w+|-m pip", "", line)))
        assert not words & required, line


def test_a_dependency_group_is_printed_or_the_groups_are_named():
    script = [sys.executable, str(ROOT / "tools" / "dependency_group.py")]
    for group, requirements in GROUPS.items():
        printed = subprocess.run([*script, group], capture_output=True, text=True, check=True).stdout
        assert printed.splitlines() == requirements
    wrong = subprocess.run([*script, "orakel"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "it has hooks, oldest, oracle" in wrong.stderr


def test_every_dependency_has_a_lowest_version():
    requirements = [*PROJECT["project"]["dependencies"], *(one for listed in GROUPS.values() for one in listed)]
    requirements += [one for name, listed in EXTRAS.items() if name != "bench" for one in listed]
    for requirement in requirements:
        assert ">=" in requirement or requirement.startswith("microagg["), requirement


def test_the_python_of_the_classifiers_the_requirement_and_the_types_is_one():
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    claimed = [one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"] if ":: Python :: 3." in one]
    assert lowest in claimed
    assert PROJECT["tool"]["mypy"]["python_version"] == lowest
    assert f"Python {lowest}+" in text("README.md")
    assert f"Python {lowest}+" in text("CONTRIBUTING.md")


def test_hooks_run_what_lint_runs_from_the_environment_of_the_clone():
    hooks = need("yaml").safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"]  # nothing is fetched
    run = {" ".join(hook["entry"].split()[:2]) for hook in hooks[0]["hooks"]}
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", text("Makefile"), re.MULTILINE)
    linted = {" ".join(line.replace("$(BIN)", ".venv/bin").split()[:2]) for line in recipe.splitlines()}
    assert {one.removesuffix(" .") for one in run} == {one.removesuffix(" .") for one in linted}


def test_continuous_integration_lints_first_and_then_tests_all():
    run = text(".ci/run")
    assert run.index("make lint") < run.index("make test PYTEST_OPTIONS=--complete")


def test_reference_tables_that_tests_need_are_those_of_the_package():
    declared = PROJECT["tool"]["microagg"]["test-data"]
    assert set(declared["tables"]) == {entry.name for entry in microagg.datasets.available()}


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_name_only_files_that_exist(paper):
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text(paper)):
        assert "://" in link or (ROOT / link).exists(), link
    for path in re.findall(r"`((?:docs|tests|tools|src|benchmarks|examples)/[\w./-]*\w)`", text(paper)):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("complete", [False, True], ids=["plain", "complete"])
def test_what_the_machine_lacks_fails_a_complete_run_and_is_named_last(tmp_path, complete):
    (tmp_path / "test_lacking.py").write_text(
        "import pytest\n\ndef test_a():\n    pytest.skip('needs a telescope')\n\n"
        "def test_b():\n    pytest.skip('means nothing here')\n\ndef test_c():\n    pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    command += ["--confcutdir", str(ROOT), "-p", "conftest", str(tmp_path), *(["--complete"] if complete else [])]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT / "tests")
    closing, *lacking = ended.stdout.splitlines()[-2 if complete else -1 :]
    assert closing.startswith("1 passed, 2 skipped"), ended.stdout + ended.stderr
    assert ended.returncode == int(complete)
    assert lacking == (["not on this machine: a telescope"] if complete else [])
