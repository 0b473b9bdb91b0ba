"""Random tables, recipes and formats: what is written is counted here again, with other means than microagg's."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyreadstat
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

import microagg
from campaigns.campaign import Campaign
from fuzzed_recipes import chosen_method, fuzzed_recipe, kinds_of
from fuzzed_tables import FuzzedColumn, fuzzed_column
from microagg.errors import InputError, MicroaggError, RecipeError
from microagg.methods.catalogue import METHODS
from microagg.releases.check.check import check_release
from microagg.releases.input import read_table
from microagg.tables.write import write_table
from optional_packages import polars as pl

Rng = np.random.Generator

FORMATS = ("csv", "csv.gz", "tsv", "parquet", "feather", "sav", "dta")
_ODD_NAMES = ("net income", "größe", "a,b", 'q"t', "x" * 40, "if", "1st", "=sum", "tab\tname")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EVALUATED, _REPORTED = 0.1, 0.08  # shares of the cases


def case(number: int) -> str:
    """Make a table, a recipe and a place to write to from a number; release, write, and count."""
    rng = np.random.default_rng([16, number])
    method = chosen_method(rng)
    columns, roles = _columns(rng, method)
    table = pa.table({name: column.array for name, column in columns.items()})
    arguments = fuzzed_recipe(rng, method, columns, roles)
    try:
        recipe = microagg.Recipe(**arguments)
    except RecipeError:
        return "refused recipe"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="each cell of .* publishes .* statistics")
        return _release_and_count(Path(folder), table, recipe, columns, rng, number)


def _columns(rng: Rng, method: str) -> tuple[dict[str, FuzzedColumn], dict[str, str]]:
    n = int(rng.choice([rng.integers(1, 9), rng.integers(8, 61), rng.integers(60, 301)], p=[0.1, 0.75, 0.15]))
    n_protected = 1 if method == "optimal_univariate" and rng.random() < 0.7 else int(rng.integers(1, 5))
    n_beside = int(rng.integers(0, 3)) if not METHODS[method].is_private else int(rng.random() < 0.15)
    odd = rng.random() < 0.1
    columns, roles = {}, {}
    for place in range(n_protected + n_beside):
        protected = place < n_protected
        name = str(rng.choice(_ODD_NAMES)) + str(place) if odd else f"v{place}"
        kinds = kinds_of(method) if protected else ("numeric", "nominal")
        columns[name] = fuzzed_column(rng, n, kinds=kinds)
        beside = str(rng.choice(["confidential", "non_confidential", "identifier"], p=[0.6, 0.2, 0.2]))
        roles[name] = "quasi_identifier" if protected else beside
    return columns, roles


def _release_and_count(
    folder: Path, table: pa.Table, recipe: Any, columns: dict[str, FuzzedColumn], rng: Rng, number: int
) -> str:
    written_as = str(rng.choice(FORMATS))
    try:
        given, source = _given(folder, table, recipe, written_as, rng)
        made = microagg.release(given, recipe, seed=number, source=source)
    except MicroaggError as error:
        _say_nothing_of_records(error, table)
        return "refused"
    if made.information_loss is not None:
        assert -1e-6 <= made.information_loss < math.inf, "the loss is no share"
    out = folder / "out"
    try:
        made.save(out, format=written_as, report=bool(rng.random() < _REPORTED))
    except InputError:  # not a GuaranteeError: what was made must hold where it can be written at all
        assert not out.exists(), "a refused release left a folder behind"
        return "not written"
    rows = _read(out / f"table.{written_as}", written_as)
    _count(rows, recipe, out)
    if source is None:
        _compare(rows, _as_arrow(given), recipe, columns, written_as)
    broken = [finding for finding in check_release(out) if not finding.holds]
    assert not broken, f"check: {broken}"
    if rng.random() < _EVALUATED:
        try:
            microagg.evaluate(given, made.table, recipe)
        except MicroaggError:
            return "released, not evaluated"
    return "released"


def _say_nothing_of_records(error: MicroaggError, table: pa.Table) -> None:
    """A refusal of long texts that only records have must not quote them."""
    said = str(error)
    for column in table.columns:
        if pa.types.is_string(column.type):
            quoted = [text for text in column.unique().to_pylist() if text and len(text) > 30 and text in said]
            assert not quoted, "a refusal quotes a record"


# What goes in


def _given(folder: Path, table: pa.Table, recipe: Any, written_as: str, rng: Rng) -> tuple[Any, Path | None]:
    """The table as a dataframe of some library, or read from a file of some format."""
    if rng.random() < 0.45:
        return _as_library(table, rng), None
    read_from = str(rng.choice(FORMATS))
    path = folder / f"input.{read_from}"
    if read_from in ("csv", "csv.gz", "tsv"):
        plain = pa.table([_undone(column) for column in table.columns], names=table.column_names)
        buffer = io.BytesIO()
        arrow_csv.write_csv(plain, buffer, arrow_csv.WriteOptions(delimiter="\t" if read_from == "tsv" else ","))
        text = buffer.getvalue()
        path.write_bytes(gzip.compress(text) if read_from == "csv.gz" else text)
    elif read_from == "parquet":
        parquet.write_table(table, path)
    elif read_from == "feather":
        feather.write_feather(table, path)
    else:
        write_table(table, path)
    return read_table(path, recipe, as_text=written_as in ("csv", "csv.gz", "tsv")), path


def _undone(column: pa.ChunkedArray) -> pa.ChunkedArray:
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return column.cast(pa.int64()) if pa.types.is_duration(column.type) else column


def _as_library(table: pa.Table, rng: Rng) -> Any:
    library = rng.choice(["pyarrow", "pandas", "polars"])
    try:
        if library == "pandas":
            return table.to_pandas(date_as_object=bool(rng.random() < 0.5))
        if library == "polars":
            return pl.from_arrow(table)
    except (pa.ArrowException, pl.exceptions.PolarsError, OverflowError, ValueError):
        return table  # not every library holds every value
    return table


def _as_arrow(given: Any) -> pa.Table:
    """What a library made of a table: pandas has no integers beside missing values."""
    if isinstance(given, pl.DataFrame):
        return given.to_arrow()
    return given if isinstance(given, pa.Table) else pa.Table.from_pandas(given, preserve_index=False)


# What came out


def _read(path: Path, written_as: str) -> dict[str, list[Any]]:
    """Columns of a written file, by name; missing as None."""
    if written_as in ("csv", "csv.gz", "tsv"):
        content = path.read_bytes()
        text = (gzip.decompress(content) if written_as == "csv.gz" else content).decode()
        header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if written_as == "tsv" else ",")
        assert all(len(line) == len(header) for line in lines), "a line has too many or too few fields"
        return {name: [line[place] for line in lines] for place, name in enumerate(header)}
    if written_as in ("parquet", "feather"):
        table = parquet.read_table(path) if written_as == "parquet" else feather.read_table(path)
        return {name: _values(table.column(name)) for name in table.column_names}
    reader = pyreadstat.read_sav if written_as == "sav" else pyreadstat.read_dta
    columns, _ = reader(str(path), output_format="dict", disable_datetime_conversion=True)
    return {name: [_comparable(value) for value in values] for name, values in columns.items()}


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_temporal(column.type):  # in nanoseconds: not every format keeps the unit
        step = 10**9 // _PER_SECOND[column.type.unit]
        whole = column.cast(pa.int32() if pa.types.is_time32(column.type) else pa.int64())
        return [None if value is None else value * step for value in whole.to_pylist()]
    return [_comparable(value) for value in column.to_pylist()]


def _comparable(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _count(rows: dict[str, list[Any]], recipe: Any, out: Path) -> None:
    """Identifiers are gone, and every combination that was promised is shared by k records."""
    schema, method = recipe.schema, METHODS[recipe.method]
    assert not set(schema.of_role("identifier")) & set(rows), "an identifier was written"
    if method.is_private or method.partitions == "values" or recipe.aggregate.form == "sampled":
        return
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    (partition,) = (stage for stage in manifest["stages"] if stage["stage"] == "partition")
    blocks = [tuple(block["attributes"]) for block in partition["blocks"]]
    assert sorted(name for block in blocks for name in block) == sorted(schema.quasi_identifiers)
    assert len(blocks) == 1 or method.partitions == "attributes" or recipe.blocks.form != "one"
    for block in blocks:
        counted = Counter(zip(*(rows[name] for name in block), strict=True))
        assert counted, "nothing was written"
        assert min(counted.values()) >= recipe.k, f"k = {recipe.k}, but {min(counted.values())} share a combination"


def _compare(
    rows: dict[str, list[Any]], table: pa.Table, recipe: Any, columns: dict[str, FuzzedColumn], written_as: str
) -> None:
    """As many records as there should be; columns beside as they were; numbers where the original's are."""
    method = METHODS[recipe.method]
    if method.is_private:
        return
    n_written = len(next(iter(rows.values())))
    assert n_written == _n_expected(table, recipe), "records were lost or made up"
    for name in recipe.schema.published:
        original = table.column(name)
        if pa.types.is_integer(original.type) and written_as in ("csv", "csv.gz", "tsv"):
            assert all(text.lstrip("-").isdigit() for text in rows[name] if text not in ("", "NA")), "not whole"
        if written_as not in ("parquet", "feather"):
            continue
        if name not in recipe.schema.quasi_identifiers:
            if n_written == table.num_rows:
                assert Counter(map(str, _values(original))) == Counter(map(str, rows[name])), "a column changed"
        elif columns[name].kind == "numeric":
            _within(name, rows[name], original, recipe, method.partitions)


def _n_expected(table: pa.Table, recipe: Any) -> int:
    if recipe.missing.policy != "suppress":
        return int(table.num_rows)
    names = [*recipe.schema.quasi_identifiers, *recipe.guides, *recipe.aggregate.paired_with]
    complete = np.ones(table.num_rows, dtype=bool)
    for name in names:
        complete &= ~np.array([value is None for value in _values(table.column(name))])
    return int(complete.sum())


def _within(name: str, found: list[Any], original: pa.ChunkedArray, recipe: Any, labels: str) -> None:
    present = [value for value in _values(original) if value is not None]
    published = [value for value in found if value is not None]
    assert not pa.types.is_integer(original.type) or all(isinstance(value, int) for value in published)
    if pa.types.is_time(original.type):
        assert all(0 <= value < 86_400 * 10**9 for value in published), "a time of day that no day has"
    if recipe.aggregate.form == "sampled" or labels == "values" or recipe.attributes[name].resolution is not None:
        return
    if not present:
        assert not published, "values were made up"
        return
    low, high = min(present), max(present)
    whole_floats = pa.types.is_decimal(original.type)
    slack = type(high)(abs(high) / 10**12 + abs(low) / 10**12) if whole_floats else 0
    assert all(low - slack <= value <= high + slack for value in published), "beyond every original value"


CAMPAIGN = Campaign(
    name="k_fuzz",
    promise="Whatever the table, the recipe and the format: k holds on the file as written, or nothing is written.",
    case=case,
    quick=30,
    long=20_000,
    seconds=60.0,
    packages=("pandas", "polars"),
)
