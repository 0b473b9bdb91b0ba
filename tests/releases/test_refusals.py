"""What must be refused: with a clear error, nothing written, and no value of a record in the message."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import Recipe
from microagg.errors import InputError, TableError
from optional_packages import pandas as pd

CANARY = 987654.125
WORD = "canary-word"


def refusal(table, recipe):
    with pytest.raises(InputError) as caught:
        microagg.release(table, recipe)
    message = str(caught.value)
    assert str(CANARY) not in message
    assert "987654" not in message
    assert WORD not in message
    return message


@pytest.mark.parametrize("k", [-1, 0, 1])
def test_k_below_two(k):
    with pytest.raises(InputError, match="k: "):
        Recipe(k=k, attributes={"x": numeric()})


def test_k_above_the_number_of_records():
    assert "k = 5 needs at least 5 records; the table has 4" in refusal(
        pa.table({"x": [1, 2, 3, 4]}), Recipe(k=5, attributes={"x": numeric()})
    )


def test_an_undeclared_column_comes_with_the_line_to_add():
    message = refusal(pa.table({"x": [1, 2], "net income": [3, 4]}), Recipe(k=2, attributes={"x": numeric()}))
    assert "column 'net income' is not declared" in message
    assert '[attributes."net income"]' in message


def test_an_unknown_column_comes_with_near_misses():
    message = refusal(
        pa.table({"income": [1, 2], "age": [3, 4]}), Recipe(k=2, attributes={"incom": numeric(), "age": numeric()})
    )
    assert "declares 'incom', but the table has no such column. Did you mean 'income'?" in message


def test_a_column_name_used_twice():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["x", "x"])
    assert "more than one column" in refusal(frame, Recipe(k=2, attributes={"x": numeric()}))


def test_column_names_that_are_not_text():
    assert "column names must be text" in refusal(pd.DataFrame([[1], [2]]), Recipe(k=2, attributes={"0": numeric()}))


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values(bad):
    message = refusal(pa.table({"x": [1.0, bad, CANARY]}), Recipe(k=2, attributes={"x": numeric()}))
    assert "column 'x' holds 1 infinite values" in message


def test_text_in_a_numeric_attribute_is_counted():
    message = refusal(pa.table({"x": ["1", "2.5e3", WORD, None]}), Recipe(k=2, attributes={"x": numeric()}))
    assert "column 'x' is declared numeric but holds text: 1 of 3 values are not numbers" in message


def test_booleans_in_a_numeric_attribute():
    assert "holds bool" in refusal(pa.table({"x": [True, False]}), Recipe(k=2, attributes={"x": numeric()}))


def test_a_mixed_object_column():
    frame = pd.DataFrame({"x": pd.Series([1, WORD, CANARY], dtype=object)})
    assert "column 'x' mixes types" in refusal(frame, Recipe(k=2, attributes={"x": numeric()}))


def test_a_value_outside_declared_bounds():
    message = refusal(pa.table({"x": [1.0, 2.0, CANARY]}), Recipe(k=2, attributes={"x": numeric(bounds=[0, 10])}))
    assert "column 'x' has 1 values outside its declared bounds" in message


def test_a_date_outside_declared_bounds():
    table = pa.table({"x": [dt.date(2000, 1, 1), dt.date(1890, 1, 1)]})
    recipe = Recipe(k=2, attributes={"x": numeric(bounds=[dt.date(1900, 1, 1), dt.date(2020, 1, 1)])})
    assert "1 values outside" in refusal(table, recipe)


def test_number_bounds_of_a_date():
    table = pa.table({"x": [dt.date(2000, 1, 1), dt.date(1890, 1, 1)]})
    assert "must be dates" in refusal(table, Recipe(k=2, attributes={"x": numeric(bounds=[0, 1])}))


def test_an_undeclared_category():
    table = pa.table({"c": ["a", "b", WORD]})
    message = refusal(table, Recipe(k=2, attributes={"c": nominal(categories=["a", "b"])}))
    assert "column 'c' has 1 categories that are not among the declared ones" in message


def test_a_category_that_is_not_in_the_taxonomy():
    table = pa.table({"c": ["a", "b", WORD]})
    message = refusal(table, Recipe(k=2, attributes={"c": nominal(taxonomy={"a": "all", "b": "all"})}))
    assert "column 'c' has 1 categories that are not in its taxonomy" in message


def test_text_categories_without_an_order():
    message = refusal(pa.table({"c": ["low", WORD]}), Recipe(k=2, attributes={"c": ordinal()}))
    assert "categories = [first, ..., last]" in message


def test_sampling_weights_that_are_missing_or_not_positive():
    table = pa.table({"x": [1, 2, 3, 4], "w": [1.0, 0.0, None, 2.0]})
    recipe = Recipe(k=2, sampling_weight="w", attributes={"x": numeric(), "w": "non_confidential"})
    assert "2 of 4 are missing or not above 0" in refusal(table, recipe)


def test_suppressing_down_to_fewer_than_k_records():
    table = pa.table({"x": [1.0, None, None, 2.0]})
    recipe = Recipe(k=3, missing={"policy": "suppress"}, attributes={"x": numeric()})
    assert "only 2 records are complete" in refusal(table, recipe)


@pytest.mark.parametrize("table", [[[1, 2]], {"x": [1, 2]}, np.zeros((2, 2))])
def test_what_is_not_a_dataframe(table):
    assert "expected a pandas, polars or pyarrow table" in refusal(table, Recipe(k=2, attributes={"x": numeric()}))


def test_a_lazy_frame_says_what_to_call():
    from optional_packages import polars as pl

    assert ".collect()" in refusal(pl.LazyFrame({"x": [1, 2]}), Recipe(k=2, attributes={"x": numeric()}))


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_seed_that_is_not_a_whole_number(seed):
    with pytest.raises(InputError, match="seed must be a whole number"):
        microagg.release(pa.table({"x": [1, 2]}), Recipe(k=2, attributes={"x": numeric()}), seed=seed)


def test_an_output_path_that_exists(tmp_path):
    made = microagg.release(pa.table({"x": [1, 2]}), Recipe(k=2, attributes={"x": numeric()}))
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="'out' exists"):
        made.save(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert list((tmp_path / "out").iterdir()) == []
    assert made.save(tmp_path / "out", overwrite=True).is_dir()


def test_a_format_that_cannot_be_written(tmp_path):
    made = microagg.release(pa.table({"x": [1, 2]}), Recipe(k=2, attributes={"x": numeric()}))
    with pytest.raises(InputError, match=r"format must be one of .*parquet.*Did you mean 'parquet'"):
        made.save(tmp_path / "out", format="parqet")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_when_the_written_file_breaks_the_guarantee(tmp_path, monkeypatch):
    made = microagg.release(pa.table({"x": [1, 2, 8, 9]}), Recipe(k=2, attributes={"x": numeric()}))

    def write_wrongly(table, path):
        path.write_text("x\n1\n2\n8\n8\n")

    monkeypatch.setattr("microagg.releases.release.write_table", write_wrongly)
    with pytest.raises(microagg.GuaranteeError, match=r"written file 'table\.csv'.*rarest.*has 1 records, and 2 of 4"):
        made.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_partition_with_a_cell_below_k_is_never_released(monkeypatch):
    """The recount stands on its own: were a partitioner wrong, nothing would come out."""
    from microagg.partition.mdav import MDAV

    def one_record_each(self, X, y=None):  # `fit` itself would refuse
        self.labels_, self.n_cells_, self.sse_ = np.arange(len(X)), len(X), 0.0
        return self

    monkeypatch.setattr(MDAV, "fit", one_record_each)
    with pytest.raises(microagg.GuaranteeError, match="does not hold on the table as it would be written"):
        microagg.release(pa.table({"x": [1, 2, 8, 9]}), Recipe(k=2, attributes={"x": numeric()}))


def test_an_error_is_a_value_error_for_scikit_learn_users():
    assert issubclass(TableError, ValueError)
