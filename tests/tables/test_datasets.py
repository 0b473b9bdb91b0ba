"""Reference tables: where they are looked for, how they are fetched, and that nothing unchecked is ever used.

No test needs the network: the public sources are played by a server on this machine. The raw UCI files are
rebuilt from the reference CSV files, byte for byte (their published SHA-256 says so).
"""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from microagg import datasets
from microagg.errors import InputError, ParameterError, TableError
from microagg.tables.reference.sources import SOURCES
from microagg.tables.reference.store import find
from optional_packages import need

RDA = {"census": "/CASCrefmicrodata.rda", "tarragona": "/Tarragona.rda", "eia": "/EIA.rda"}
UCI = ("adult", "breast_cancer", "heart", "water")
N_MISSING = {"adult": 2799 + 2809 + 857, "breast_cancer": 16, "heart": 4 + 2, "water": 591}

Reference = Callable[[str], Path]


@pytest.fixture(scope="session")
def reference() -> Reference:
    """Path of a table's CSV in the folder or the cache of whoever runs the tests."""
    here = {name: find(source)[1] for name, source in SOURCES.items()}

    def path_or_skip(name: str) -> Path:
        path = here[name]
        if path is None:
            pytest.skip(f"needs the table {name} (microagg datasets --fetch {name})")
        return path

    return path_or_skip


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache that is not yet there, no data folder, and temporary files where they can be seen."""
    monkeypatch.delenv("MICROAGG_DATA", raising=False)
    monkeypatch.setenv("MICROAGG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache"


class Server(ThreadingHTTPServer):
    """Serves ``files`` (path: content); those in ``cut_short`` break off in the middle."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.cut_short: set[str] = set()
        self.requested: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requested.append(self.path)
        content = self.server.files.get(self.path, b"")
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if self.path in self.server.cut_short else content)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output empty."""


@pytest.fixture
def server(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that stands for the hosts of all sources and holds no file yet; the cache is empty."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as server:
        for name, source in SOURCES.items():
            raw_files = tuple(
                dataclasses.replace(raw, url=f"http://127.0.0.1:{server.server_port}/{_base_name(raw.url)}")
                for raw in source.raw_files
            )
            monkeypatch.setitem(SOURCES, name, dataclasses.replace(source, raw_files=raw_files))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _base_name(url: str) -> str:
    return url.rpartition("/")[2]


def _raw_lines(rows: list[list[str]], separator: str = ",") -> str:
    return "\n".join(separator.join(field or "?" for field in row) for row in rows)


def _raw_uci_files(name: str, reference: Reference) -> dict[str, bytes]:
    """Undo the documented changes: the files as UCI serves them, by their path on the server."""
    # None of these files quotes a field, so commas are enough to take them apart.
    rows = [line.split(",") for line in reference(name).read_text().splitlines()[1:]]
    if name == "adult":
        train = [row[:-1] for row in rows if row[-1] == "train"]
        test = [[*row[:-2], f"{row[-2]}."] for row in rows if row[-1] == "test"]
        texts = {
            "/adult.data": _raw_lines(train, ", ") + "\n\n",
            "/adult.test": "|1x3 Cross validator\n" + _raw_lines(test, ", ") + "\n\n",
        }
    elif name == "breast_cancer":
        texts = {"/breast-cancer-wisconsin.data": _raw_lines(rows) + "\n"}
    elif name == "heart":
        rows = [[f"{f}.0" if f and "." not in f else f for f in row[:-1]] + row[-1:] for row in rows]
        texts = {"/processed.cleveland.data": _raw_lines(rows) + "\n"}
    else:
        texts = {"/water-treatment.data": _raw_lines(rows) + "\n" * 70}
    return {path: text.encode() for path, text in texts.items()}


def _r_file(name: str, csv_file: Path, folder: Path, numbers: str = "int32", text: str = "category") -> bytes:
    """Save the table as R would, with columns of the given numpy and pandas types."""
    rdata = need("rdata")
    pd = need("pandas")
    frame = pd.read_csv(csv_file, keep_default_na=False)
    types = {column: text if kind == "string" else numbers for column, kind in SOURCES[name].types.items()}
    frame = frame.astype(types).set_axis(pd.RangeIndex(1, len(frame) + 1))
    rdata.write_rda(folder / "saved.rda", {"table": frame})
    return (folder / "saved.rda").read_bytes()


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars"])
@pytest.mark.parametrize("name", SOURCES)
def test_every_table_loads_in_every_library(name: str, kind: str, reference: Reference) -> None:
    need(kind)
    reference(name)
    table = getattr(datasets, f"load_{name}")(kind=kind)
    names = table.column_names if kind == "pyarrow" else list(table.columns)
    assert table.shape == (SOURCES[name].n_records, len(SOURCES[name].types))
    assert names == list(SOURCES[name].types)


@pytest.mark.parametrize("name", SOURCES)
def test_only_the_empty_field_is_missing(name: str, reference: Reference) -> None:
    reference(name)
    table = getattr(datasets, f"load_{name}")()
    assert sum(column.null_count for column in table.columns) == N_MISSING.get(name, 0)


def test_types_are_stable_and_whole_numbers_stay_whole(reference: Reference) -> None:
    need("pandas")
    reference("eia")
    eia = {field.name: str(field.type) for field in datasets.load_eia().schema}
    assert eia == dict.fromkeys(eia, "int64") | {"UTILNAME": "string", "STATE": "string"}
    reference("heart")
    heart = {column: str(kind) for column, kind in datasets.load_heart(kind="pandas").dtypes.items()}
    assert heart == dict.fromkeys(heart, "int64") | {"oldpeak": "float64", "ca": "Int64", "thal": "Int64"}


@pytest.mark.parametrize("name", UCI)
def test_rebuilt_uci_files_have_the_published_hash(name: str, reference: Reference) -> None:
    rebuilt = _raw_uci_files(name, reference)
    published = {f"/{_base_name(raw.url)}": raw.sha256 for raw in SOURCES[name].raw_files}
    assert {path: hashlib.sha256(content).hexdigest() for path, content in rebuilt.items()} == published


@pytest.mark.parametrize("name", UCI)
def test_fetched_uci_files_become_the_pinned_one(name: str, reference: Reference, cache: Path, server: Server) -> None:
    server.files = _raw_uci_files(name, reference)
    fetched = datasets.fetch(name)
    assert fetched.read_bytes() == reference(name).read_bytes()
    assert list(cache.iterdir()) == [fetched]


@pytest.mark.parametrize("types", [("int32", "category"), ("float64", "object")], ids="-".join)
@pytest.mark.parametrize("name", RDA)
def test_fetched_r_files_become_the_pinned_one(
    name: str, types: tuple[str, str], reference: Reference, server: Server, tmp_path: Path
) -> None:
    server.files[RDA[name]] = _r_file(name, reference(name), tmp_path, *types)
    assert datasets.fetch(name).read_bytes() == reference(name).read_bytes()


def test_a_cached_file_is_not_fetched_again(reference: Reference, server: Server) -> None:
    server.files = _raw_uci_files("heart", reference)
    assert datasets.path_of("heart") == datasets.path_of("heart") == datasets.fetch("heart")
    assert len(server.requested) == 1


def test_folder_without_the_file_falls_through_to_the_source_and_then_the_cache(
    reference: Reference, cache: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files = _raw_uci_files("heart", reference)
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path))
    assert datasets.path_of("heart").parent == cache
    server.files.clear()
    assert datasets.load_heart().num_rows == 303


def test_available_says_where_each_table_is(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    for place, file_name in ((folder, "census.csv"), (cache, "census.csv"), (cache, "adult.csv")):
        place.mkdir(exist_ok=True)
        (place / file_name).touch()
    monkeypatch.setenv("MICROAGG_DATA", str(folder))
    where = {dataset.name: dataset.where for dataset in datasets.available()}
    assert where == dict.fromkeys(SOURCES, "not here") | {"census": "folder", "adult": "cache"}


@pytest.mark.skipif(sys.platform != "linux", reason="the XDG variable is read on Linux")
@pytest.mark.usefixtures("cache")
def test_the_cache_follows_the_xdg_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MICROAGG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "microagg").mkdir()
    (tmp_path / "microagg" / "eia.csv").touch()
    assert [dataset.name for dataset in datasets.available() if dataset.where == "cache"] == ["eia"]


@pytest.mark.parametrize("variable", ["MICROAGG_DATA", "MICROAGG_CACHE"])
def test_a_found_file_with_another_content_is_refused(
    variable: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    (tmp_path / "census.csv").write_text("AFNLWGT\n1\n")
    with pytest.raises(TableError, match=r"census\.csv is not the reference file .* its SHA-256 is"):
        datasets.load_census()


def test_fetching_replaces_a_damaged_file_of_the_cache(reference: Reference, cache: Path, server: Server) -> None:
    server.files = _raw_uci_files("heart", reference)
    cache.mkdir()
    (cache / "heart_disease_cleveland.csv").touch()
    assert datasets.fetch("heart").read_bytes() == reference("heart").read_bytes()


def test_a_download_with_another_hash_is_refused(server: Server, tmp_path: Path) -> None:
    server.files["/processed.cleveland.data"] = b"63.0,1.0\n"
    with pytest.raises(TableError, match="does not give the file with SHA-256"):
        datasets.fetch("heart")
    assert list(tmp_path.iterdir()) == []


def test_an_r_file_with_another_value_is_refused(
    reference: Reference, cache: Path, server: Server, tmp_path: Path
) -> None:
    changed = tmp_path / "changed.csv"
    changed.write_text(reference("tarragona").read_text().replace("\n0,0,6670,", "\n1,0,6670,"))
    server.files[RDA["tarragona"]] = _r_file("tarragona", changed, tmp_path)
    with pytest.raises(TableError, match=r"is not the reference file tarragona\.csv.*Nothing was kept"):
        datasets.fetch("tarragona")
    assert not cache.exists()


def test_a_file_that_is_no_r_file_is_refused(server: Server, tmp_path: Path) -> None:
    need("rdata")
    server.files[RDA["eia"]] = b"RDX3\n<html>not found</html>"
    with pytest.raises(TableError, match=r"EIA\.rda is not an R file"):
        datasets.fetch("eia")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "path"), [("heart", "/processed.cleveland.data"), ("eia", RDA["eia"])])
def test_an_interrupted_download_leaves_nothing(name: str, path: str, server: Server, tmp_path: Path) -> None:
    need("rdata")
    server.files[path] = b"x" * 100_000
    server.cut_short.add(path)
    with pytest.raises(TableError, match="could not be fetched"):
        datasets.fetch(name)
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_source_is_told_in_one_message_with_the_line_that_helps(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TableError, match="HTTP status 404"):
        datasets.load_water()
    server.shutdown()
    server.server_close()
    with pytest.raises(TableError, match=r"microagg datasets --fetch water.*MICROAGG_DATA") as caught:
        datasets.load_water()
    assert caught.value.__suppress_context__
    assert capfd.readouterr() == ("", "")


def test_an_unknown_name_or_kind_is_answered_with_the_nearest() -> None:
    for function in (datasets.path_of, datasets.fetch):
        with pytest.raises(ParameterError, match="Did you mean 'census'"):
            function("cencus")
    with pytest.raises(ParameterError, match="Did you mean 'pandas'"):
        datasets.load_census(kind="panda")  # type: ignore[arg-type]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_answered_with_the_install_line(
    library: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=f'pip install "{library}"'):
        datasets.load_census(kind=library)  # type: ignore[arg-type]


def test_a_missing_reader_is_told_before_anything_is_downloaded(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(InputError, match=r'pip install "microagg\[datasets\]"'):
        datasets.fetch("census")
    assert server.requested == []


def test_a_data_folder_that_does_not_exist_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROAGG_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(TableError, match="which is not a folder"):
        datasets.path_of("census")


def test_a_cache_that_cannot_be_written_is_told(reference: Reference, cache: Path, server: Server) -> None:
    server.files = _raw_uci_files("heart", reference)
    cache.touch()
    with pytest.raises(TableError, match=r"could not be written.*MICROAGG_CACHE"):
        datasets.fetch("heart")


@pytest.mark.parametrize("name", SOURCES)
def test_docstrings_tell_columns_and_licence(name: str) -> None:
    text = " ".join((getattr(datasets, f"load_{name}").__doc__ or "").split())
    assert [column for column in SOURCES[name].types if column not in text] == []
    assert "Origin: " in text
    assert f"Licence: {SOURCES[name].licence.partition(' (')[0]}" in text
    assert str(SOURCES[name].n_records) in text


def test_import_is_light() -> None:
    program = "import sys, microagg.datasets; print({'pooch', 'pyarrow', 'pandas'} & set(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "set()"
