"""The ledger of a table: epsilons add up by themselves, the cap holds, and nothing that was drawn is forgotten."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg
from declarations import numeric
from microagg import Account, Recipe
from microagg.errors import GuaranteeError, InputError, MicroaggError, ParameterError, SafeNote, TableError
from microagg.releases import pipeline, strategy
from microagg.releases.account import ledger as ledger_file
from microagg.releases.account.amounts import as_written, at_least, at_most, plain
from microagg.releases.account.entry import Fate
from microagg.releases.account.spending import Spending

TABLE = pa.table({"x": [float(i) for i in range(12)], "y": [float(i % 5) for i in range(12)]})
BOUNDED = {"x": numeric(bounds=[0, 12]), "y": numeric(bounds=[0, 5])}


def private(epsilon: float = 1.0, **changes) -> Recipe:
    content = {"method": "dp_laplace", "privacy": {"epsilon": epsilon}, "attributes": BOUNDED}
    return Recipe(**content | changes)


ALIGNED = {"method": "dp_individual_ranking", "k": 3, "privacy": {"epsilon": 1.0, "form": "aligned"}}
MOMENTS = {"method": "dp_moments", "k": 6, "privacy": {"epsilon": 1.0}}
INDIVIDUAL = {"method": "dp_moments", "k": 6, "privacy": {"epsilon": 1.0, "statistics": "spectra"}}
BESIDE = {"attributes": {**BOUNDED, "y": "confidential"}}
FROM_DATA = {
    "privacy": {"epsilon": 1.0, "bounds": "from_data"},
    "attributes": {"x": numeric(), "y": numeric(bounds=[0, 5])},
}


@pytest.fixture
def data(tmp_path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 5}\n" for i in range(12)))
    return path


def make(data: Path, recipe: Recipe | None = None, **options):
    return microagg.release(TABLE, private() if recipe is None else recipe, source=data, **options)


def ledger(data: Path) -> Path:
    return data.with_name(data.name + ".budget.jsonl")


def test_a_ledger_is_for_its_owner_only(data):
    before = os.umask(0)
    try:
        account = Account.start(data, cap=3)
    finally:
        os.umask(before)
    assert account.ledger == ledger(data)
    assert stat.S_IMODE(ledger(data).stat().st_mode) == 0o600
    make(data)
    assert stat.S_IMODE(ledger(data).stat().st_mode) == 0o600
    ledger(data).chmod(0o644)
    assert "chmod 600" in str(Account.open(data))


def test_without_a_ledger_nothing_is_recorded_and_no_file_appears(data, tmp_path):
    made = make(data)
    made.save(tmp_path / "out")
    assert made.statement.total is None
    assert "total" not in made.statement.as_dict()
    assert made.spending.words == ()
    assert not [path for path in tmp_path.rglob("*") if "budget" in path.name]


def test_releases_are_recorded_and_refused_above_the_cap(data, tmp_path):
    Account.start(data, cap=3)
    make(data).save(tmp_path / "first")
    make(data, private(1.5))
    refused = (
        r"epsilon = 1 would bring what releases of 'data.csv' spent from 2.5 to 3.5, above the cap of 3; the largest "
        r"epsilon that is left is 0.5.*No noise was drawn.*epsilon = 0.5 or less, or raise the cap: microagg budget "
        r"cap .*data.csv 3.5"
    )
    before = ledger(data).read_bytes()
    with pytest.raises(GuaranteeError, match=refused):
        make(data)
    assert ledger(data).read_bytes() == before
    make(data, private(0.5))
    account = Account.open(data)
    assert (account.spent, account.left, account.cap) == (3, 0, 3.0)
    assert [(one.number, one.epsilon, one.fate) for one in account.entries] == [
        (1, 1.0, Fate.WRITTEN),
        (2, 1.5, Fate.UNKNOWN),
        (3, 0.5, Fate.UNKNOWN),
    ]
    assert account.entries[0].folders == ("first",)
    with pytest.raises(GuaranteeError, match=r"nothing is left.*\. Raise the cap"):
        make(data, private(1e-9))
    account.set_cap(4)
    make(data)


def test_a_refusal_comes_before_any_noise(data, monkeypatch):
    Account.start(data, cap=0.5)

    def drawn(seed):
        raise AssertionError("noise was asked for")

    monkeypatch.setattr(strategy, "noise_from", drawn)
    with pytest.raises(GuaranteeError, match="above the cap"):
        make(data)


def test_what_is_refused_before_noise_costs_nothing(data):
    Account.start(data, cap=3)
    outside = private(attributes={"x": numeric(bounds=[0, 5]), "y": numeric(bounds=[0, 5])})
    with pytest.raises(InputError, match="outside"):
        make(data, outside)
    assert Account.open(data).entries == ()


def test_spending_is_on_the_disk_when_the_first_noise_is_drawn(data, monkeypatch):
    Account.start(data, cap=3)
    seen, real = [], strategy.noise_from

    class Watched:
        def __init__(self, noise):
            self.noise = noise

        def laplace(self, *args, **kwargs):
            seen.append(Account.open(data).spent)
            return self.noise.laplace(*args, **kwargs)

    monkeypatch.setattr(strategy, "noise_from", lambda seed: Watched(real(seed)))
    make(data)
    assert seen == [1, 1]


def test_releases_that_fail_after_noise_stay_spent_and_are_marked(data, monkeypatch):
    Account.start(data, cap=3)

    def fail(*_, **__):
        raise RuntimeError("canary")

    monkeypatch.setattr(pipeline, "_put_together", fail)
    with pytest.raises(RuntimeError) as caught:
        make(data)
    (note,) = caught.value.__notes__
    assert isinstance(note, SafeNote)
    assert "epsilon = 1 stays spent in data.csv.budget.jsonl" in note
    account = Account.open(data)
    assert [one.fate for one in account.entries] == [Fate.FAILED]
    assert account.spent == 1
    assert "failed, stays spent" in str(account)
    assert "canary" not in ledger(data).read_text()


def test_a_release_whose_writing_failed_is_marked_until_it_is_written(data, tmp_path, monkeypatch):
    from microagg.releases import release

    Account.start(data, cap=3)
    made = make(data)

    def fail(*_):
        raise OSError("disk")

    with monkeypatch.context() as broken:
        broken.setattr(release, "write_table", fail)
        with pytest.raises(OSError, match="disk"):
            made.save(tmp_path / "out")
    assert [one.fate for one in Account.open(data).entries] == [Fate.FAILED]
    made.save(tmp_path / "out")
    made.save(tmp_path / "again")
    (entry,) = Account.open(data).entries
    assert (entry.fate, entry.folders) == (Fate.WRITTEN, ("out", "again"))
    assert Account.open(data).spent == 1  # one draw of noise, wherever it is written
    assert entry.id == made.manifest.id
    assert not [path for path in (tmp_path / "out").iterdir() if "budget" in path.name]


@pytest.mark.parametrize(
    "changes",
    [ALIGNED, MOMENTS, INDIVIDUAL, BESIDE, FROM_DATA],
    ids=["aligned", "moments", "individual", "part", "bounds"],
)
def test_releases_that_do_not_cover_the_original_records_are_listed_apart_and_count_against_the_cap(data, changes):
    Account.start(data, cap=2.5)
    make(data)
    made = make(data, private(**changes))
    account = Account.open(data)
    assert not made.statement.guarantees[0].covers_records
    assert [one.number for one in account.on_records] == [1]
    assert [one.number for one in account.apart] == [2]
    assert (account.spent, account.spent_on_records) == (2, 1)
    said = " ".join(str(account).split())
    assert "private for the original records with epsilon = 1:" in said
    assert "Whoever sees one of them has no promise from the sum above." in said
    assert "Their epsilons, 1 in all, count against the cap all the same" in said
    assert " ".join(made.statement.guarantees[0].target.split()) in said
    assert any("no part of what the others" in line for line in made.spending.words)
    with pytest.raises(GuaranteeError):
        make(data, private(**changes))


def test_a_k_anonymous_release_is_listed_when_it_is_written_and_spends_nothing(data, tmp_path):
    Account.start(data, cap=1)
    make(data)
    made = make(data, Recipe(k=3, attributes={"x": numeric(), "y": "confidential"}))
    assert len(Account.open(data).entries) == 1
    made.save(tmp_path / "out")
    made.save(tmp_path / "again")
    account = Account.open(data)
    (entry,) = account.apart
    assert (entry.epsilon, entry.promises, entry.folders) == (None, ("k-anonymity (k = 3)",), ("out", "again"))
    assert account.spent == 1
    assert "no epsilon" in str(account)
    assert "Their epsilons" not in str(account)


def test_a_seeded_release_is_listed_and_not_counted(data):
    Account.start(data, cap=1)
    made = make(data, seed=1)
    make(data, seed=2)
    account = Account.open(data)
    assert account.spent == account.spent_on_records == 0
    assert [one.seeded for one in account.apart] == [True, True]
    assert "must never be published" in " ".join(str(account).split())
    assert "not counted" in made.spending.words[0]


def test_expenses_entered_by_hand_count_even_above_the_cap(data):
    account = Account.start(data, cap=1).add(1.5, note="a \x1b[31mhistogram")
    assert (account.spent, account.spent_on_records, account.left) == (Fraction(3, 2), Fraction(3, 2), 0)
    assert "taken at its word" in str(account)
    assert "\x1b" not in str(account)
    with pytest.raises(GuaranteeError, match="nothing is left"):
        make(data, private(0.1))
    with pytest.raises(ParameterError, match="note"):
        account.add(1, note="x" * 501)


@pytest.mark.parametrize("cap", [0, -1, float("nan"), float("inf"), 1e7, "3", True])
def test_a_cap_is_an_epsilon(data, cap):
    with pytest.raises(ParameterError, match="cap must be a finite number"):
        Account.start(data, cap=cap)
    assert not ledger(data).exists()


def test_three_tenths_are_three_tenths(data):
    Account.start(data, cap=0.3)
    for _ in range(3):
        make(data, private(0.1))
    assert Account.open(data).left == 0


EPSILONS = st.floats(min_value=1e-9, max_value=1e5, allow_nan=False)


@settings(max_examples=40, deadline=None)
@given(epsilons=st.lists(EPSILONS, max_size=12), cap=EPSILONS)
def test_totals_add_up_exactly(tmp_path_factory, epsilons, cap):
    path = tmp_path_factory.mktemp("data") / "data.csv"
    path.write_text("x\n1\n")
    account = Account.start(path, cap=cap)
    for epsilon in epsilons:
        account = account.add(epsilon)
    total = sum((Fraction(repr(one)) for one in epsilons), Fraction(0))
    read = Account.open(path)
    assert read.spent == read.spent_on_records == account.spent == total
    assert read.left == max(Fraction(repr(cap)) - total, 0)
    assert as_written(read.as_dict()["spent"]) >= total
    left = read.as_dict()["left"]
    assert as_written(left) <= read.left
    if left > 0:  # what a refusal calls the largest that is left does fit
        assert read.add(left).spent <= Fraction(repr(cap))


@given(st.fractions(min_value=0, max_value=10**6))
def test_amounts_are_shown_on_the_safe_side(exact):
    assert as_written(at_most(exact)) <= exact <= as_written(at_least(exact))
    assert Fraction(plain(at_least(exact))) >= exact


def test_the_statement_carries_the_total_if_asked(data, tmp_path):
    Account.start(data, cap=10).add(0.5)
    make(data, private(**ALIGNED))
    make(data, seed=3)
    folder = make(data, state_total=True).save(tmp_path / "out", report=True)
    statement = json.loads((folder / "statement.json").read_text())
    assert statement["total"] == {"epsilon": 1.5, "releases": 2, "others": 1}
    words = " ".join((folder / "statement.txt").read_text().split())
    assert "together they are differentially private for the original records with that epsilon" in words
    assert "One release is no part of that" in words
    assert "sum of epsilon = 1.5" in (folder / "report.html").read_text()
    for file in folder.iterdir():  # nothing else of the ledger is published
        assert Account.open(data).salt not in file.read_text()
        assert "budget.jsonl" not in file.read_text()


@pytest.mark.parametrize(
    ("options", "recipe", "message"),
    [
        ({}, private(), "no ledger is kept for 'data.csv'.*microagg budget start"),
        ({"seed": 1}, private(), "fixed seed is not counted"),
        ({}, Recipe(k=3, attributes={"x": numeric(), "y": "confidential"}), "mdav has no epsilon"),
    ],
)
def test_a_total_that_there_is_not_cannot_be_stated(data, options, recipe, message):
    with pytest.raises(InputError, match=message):
        make(data, recipe, state_total=True, **options)
    with pytest.raises(InputError, match="needs source="):
        microagg.release(TABLE, private(), state_total=True)


def test_a_changed_data_file_is_told_and_all_releases_count(data):
    Account.start(data, cap=3)
    make(data)
    assert Account.open(data).changed == ()
    data.write_text(data.read_text() + "3,3\n")
    make(data)
    account = Account.open(data)
    assert account.changed == (1,)
    assert account.spent == 2
    assert "data.csv has changed since release 1 was made" in " ".join(str(account).split())
    data.unlink()
    assert "data.csv is not there" in str(Account.open(data))


def test_the_fingerprint_is_salted(data):
    import hashlib

    Account.start(data, cap=3)
    make(data)
    assert hashlib.sha256(data.read_bytes()).hexdigest() not in ledger(data).read_text()


def test_a_link_leads_to_the_ledger_beside_the_file_itself(data, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = elsewhere / "link.csv"
    link.symlink_to(data)
    Account.start(link, cap=1)
    assert ledger(data).exists()
    make(data)
    with pytest.raises(GuaranteeError):
        make(link)
    assert [path.name for path in elsewhere.iterdir()] == ["link.csv"]


def test_a_copy_has_no_ledger(data):
    Account.start(data, cap=1)
    copy = data.with_name("copy.csv")
    copy.write_bytes(data.read_bytes())
    with pytest.raises(InputError, match=r"no ledger is kept for 'copy.csv'"):
        Account.open(copy)


def test_a_ledger_is_started_once_beside_data_and_not_among_published_files(data, tmp_path):
    account = Account.start(data, cap=1)
    before = account.ledger.read_bytes()
    with pytest.raises(InputError, match=r"is there already.*microagg budget cap data.csv"):
        Account.start(data, cap=5)
    assert account.ledger.read_bytes() == before
    with pytest.raises(InputError, match=r"no data file named 'none.csv'"):
        Account.start(tmp_path / "none.csv", cap=1)
    with pytest.raises(InputError, match="is a ledger: name the data file"):
        Account.open(account.ledger)
    folder = make(data).save(tmp_path / "out")
    with pytest.raises(InputError, match="the folder of a release"):
        Account.start(folder / "table.csv", cap=1)


# Damage: each changes the file of three releases, and says which line is named.


def _edit(number, old, new):
    def damage(lines):
        assert old in lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(old, new)
        return lines

    return damage


DAMAGES = {
    "an epsilon changed": (_edit(3, '"epsilon": 1.0', '"epsilon": 0.1'), 3, "changed after it was written"),
    "the last line changed": (_edit(4, '"epsilon": 1.0', '"epsilon": 0.1'), 4, "changed after it was written"),
    "the cap changed": (_edit(1, '"cap": 5.0', '"cap": 9.0'), 1, "changed after it was written"),
    "written otherwise": (_edit(2, '"epsilon": 1.0', '"epsilon": 1.00'), 2, "changed after it was written"),
    "a line taken out": (lambda lines: lines[:1] + lines[2:], 2, "lines were taken out or put in"),
    "the start taken out": (lambda lines: lines[1:], 1, "lines were taken out or put in"),
    "a line twice": (lambda lines: [*lines, lines[-1]], 5, "lines were taken out or put in"),
    "lines exchanged": (lambda lines: [lines[0], lines[2], lines[1], lines[3]], 2, "lines were taken out or put in"),
    "no JSON": (lambda lines: [lines[0], "hello", *lines[1:]], 2, "not a line that microagg wrote"),
    "no object": (lambda lines: [lines[0], "[]", *lines[1:]], 2, "not a line that microagg wrote"),
    "a blank line": (lambda lines: [*lines, ""], 5, "not a line that microagg wrote"),
    "nothing": (lambda lines: [], 1, "it is empty"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_refused_with_its_line_and_what_mends_it(data, name):
    Account.start(data, cap=5)
    for _ in range(3):
        make(data)
    damage, number, why = DAMAGES[name]
    lines = damage(ledger(data).read_text().splitlines())
    ledger(data).write_text("".join(f"{line}\n" for line in lines))
    for use in (lambda: make(data), lambda: Account.open(data)):
        with pytest.raises(TableError, match=rf"damaged in line {number}: .*{why}.*microagg budget add data.csv"):
            use()
    anonymous = Recipe(k=3, attributes={"x": numeric(), "y": "confidential"})
    with pytest.raises(TableError, match="damaged"):
        make(data, anonymous)


def test_a_line_cut_off_in_the_middle_is_refused_and_can_be_taken_out(data):
    Account.start(data, cap=5)
    make(data)
    make(data)
    whole = ledger(data).read_bytes()
    ledger(data).write_bytes(whole[:-40])
    with pytest.raises(TableError, match=r"line 3: it is cut off.*take the rest of that line out"):
        make(data)
    ledger(data).write_bytes(whole[: whole[:-1].rindex(b"\n") + 1])
    make(data)
    assert Account.open(data).spent == 2


def test_a_line_of_unknown_meaning_is_refused(data):
    Account.start(data, cap=5)
    with ledger_file.opened(ledger(data), to_write=True) as opened:
        opened.append({"event": "refund", "epsilon": 1.0})
    with pytest.raises(TableError, match="line 2: it says what this version"):
        make(data)


def test_a_ledger_of_another_format_is_refused(data):
    ledger_file.create_ledger(ledger(data), {"event": "start", "format": 99})
    with pytest.raises(TableError, match="begun by another version"):
        make(data)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_file_is_refused(data, kind):
    if kind == "link":
        ledger(data).symlink_to("nowhere")
    elif kind == "folder":
        ledger(data).mkdir()
    else:
        os.mkfifo(ledger(data))
    with pytest.raises(TableError, match="a link, a folder or a pipe"):
        make(data)


def test_a_line_that_cannot_be_written_leaves_the_ledger_as_it_was(data, monkeypatch):
    Account.start(data, cap=5)
    before, write = ledger(data).read_bytes(), os.write
    monkeypatch.setattr(ledger_file.os, "write", lambda handle, content: write(handle, content[:10]))
    with pytest.raises(TableError, match=r"No space left on device. Nothing was recorded"):
        make(data)
    assert ledger(data).read_bytes() == before


def test_a_drive_without_locks_is_refused(data, monkeypatch):
    Account.start(data, cap=5)

    def no_locks(*_):
        raise OSError("no locks")

    monkeypatch.setattr(ledger_file.fcntl, "flock", no_locks)
    with pytest.raises(TableError, match="cannot be locked on this drive"):
        make(data)


def test_what_became_of_a_release_may_be_missing_but_not_what_it_spent(data, tmp_path):
    Account.start(data, cap=5)
    made = make(data)
    ledger(data).unlink()
    with pytest.warns(UserWarning, match="recorded, but not what became of it"):
        made.save(tmp_path / "out")
    assert (tmp_path / "out" / "table.csv").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_ledger_that_may_only_be_read_is_shown_and_refuses_releases(data):
    Account.start(data, cap=5)
    ledger(data).chmod(0o400)
    assert Account.open(data).spent == 0
    with pytest.raises(TableError, match="cannot be opened: Permission denied"):
        make(data)


def test_a_ledger_that_cannot_be_opened_refuses_releases(data, monkeypatch):
    Account.start(data, cap=5)
    open_file = os.open

    def denied(path, flags, *mode, **more):
        if str(path).endswith(".budget.jsonl") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return open_file(path, flags, *mode, **more)

    monkeypatch.setattr(ledger_file.os, "open", denied)
    with pytest.raises(TableError, match=r"cannot be opened: Permission denied \(it is kept by another user"):
        make(data)
    with pytest.raises(TableError, match="cannot be made: Permission denied"):
        Account.start(data.with_name(data.name), cap=1)


# Several processes. Each waits for the same signal, so that all ask at once.

RELEASE = """
import os, sys, time
import pyarrow as pa, microagg
from microagg.releases import strategy
data, gate, wish = sys.argv[1:]
table = pa.table({"x": [float(i) for i in range(12)], "y": [float(i % 5) for i in range(12)]})
bounded = {name: {"role": "quasi_identifier", "kind": "numeric", "bounds": [0, 12]} for name in "xy"}
recipe = microagg.Recipe(method="dp_laplace", privacy={"epsilon": 1.0}, attributes=bounded)
real = strategy.noise_from
def noise(seed):  # all have passed the first look at the ledger, and none has paid
    open(f"{gate}.{os.getpid()}", "w").close()
    while not os.path.exists(gate):
        time.sleep(0.01)
    return real(seed)
strategy.noise_from = noise
if wish == "die":
    from microagg.releases import pipeline
    pipeline._put_together = lambda *_: os.kill(os.getpid(), 9)
try:
    microagg.release(table, recipe, source=data)
except microagg.GuaranteeError as error:
    sys.exit("refused" if "above the cap" in str(error) else "other")
"""


def _start(data: Path, gate: Path, wish: str = "live") -> subprocess.Popen:
    source = str(Path(microagg.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", RELEASE, str(data), str(gate), wish],
        env={**os.environ, "PYTHONPATH": source},
        stderr=subprocess.PIPE,
        text=True,
    )


def _open_when_waiting(gate: Path, count: int) -> None:
    import time

    for _ in range(6_000):
        if len(list(gate.parent.glob(f"{gate.name}.*"))) == count:
            break
        time.sleep(0.01)
    gate.touch()


def test_of_two_releases_at_once_only_one_passes_the_cap(data, tmp_path):
    Account.start(data, cap=1.5)
    gate = tmp_path / "gate"
    running = [_start(data, gate) for _ in range(2)]
    _open_when_waiting(gate, 2)
    said = [process.communicate(timeout=120)[1].strip().splitlines()[-1:] for process in running]
    assert sorted(process.returncode for process in running) == [0, 1], said
    assert ["refused"] in said
    assert Account.open(data).spent == 1


def test_a_process_killed_after_noise_was_drawn_has_spent(data, tmp_path):
    Account.start(data, cap=1.5)
    gate = tmp_path / "gate"
    process = _start(data, gate, "die")
    _open_when_waiting(gate, 1)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    account = Account.open(data)
    assert (account.spent, [one.fate for one in account.entries]) == (1, [Fate.UNKNOWN])
    assert "no folder is known, stays spent" in str(account)
    with pytest.raises(GuaranteeError):
        make(data)


def test_many_threads_never_lose_a_line(data):
    from concurrent.futures import ThreadPoolExecutor

    account = Account.start(data, cap=1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: account.add(0.1), range(40)))
    assert Account.open(data).spent == 4


def test_a_spending_without_a_ledger_does_nothing(tmp_path):
    spending = Spending()
    spending.pay()
    with spending.of_writing(tmp_path), spending.noting_failure():
        pass
    assert spending.total is None
    assert list(tmp_path.iterdir()) == []


def test_an_account_is_told_for_programs_too(data, tmp_path):
    Account.start(data, cap=3)
    make(data).save(tmp_path / "out")
    told = json.loads(json.dumps(Account.open(data).as_dict(), default=str))
    assert (told["cap"], told["spent"], told["left"], told["spent_on_original_records"]) == (3.0, 1.0, 2.0, 1.0)
    (release,) = told["releases"]
    assert release["counted"] is True
    assert release["fate"] == "written"
    assert issubclass(TableError, MicroaggError)


def test_sweeps_and_evaluations_spend_nothing(data, tmp_path):
    Account.start(data, cap=3)
    recipe = private().changed({"sweep": {"methods": ["dp_laplace"], "k": [2], "epsilon": [1.0], "repeats": 1}})
    microagg.sweep(TABLE, recipe, folder=tmp_path / "frontier", source=data)
    assert Account.open(data).entries == ()
