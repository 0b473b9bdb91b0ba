"""Draws from what at least k records (or units, where one may have several) share, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg._typing import BoolArray, FloatArray, IntArray
from microagg.aggregate.centroid import Cells
from microagg.aggregate.pairing import pair_draws
from microagg.aggregate.sampling import Uniforms
from microagg.aggregate.shared_values.dealing import deal_quietly
from microagg.aggregate.shared_values.intervals import MISSING, find_shared_numbers
from microagg.aggregate.shared_values.model import LabelModel, calibrated, fit_labels
from microagg.aggregate.shared_values.ranks import draw_codes, pool_rare
from microagg.aggregate.shared_values.tilt import tilted_places
from microagg.aggregate.units import count_units, counted_word, units_per_code
from microagg.errors import GuaranteeError
from microagg.releases.representatives import filled_in, round_draws
from microagg.schema.attribute import Kind
from microagg.schema.encode import EncodedColumn
from microagg.statements.exposure_text import count_of_many

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SharedDraws", "draw_shared"]


@dataclass(frozen=True)
class SharedDraws:
    """Draws of a block, and what was pooled for them.

    Attributes
    ----------
    columns : dict of ndarray
        By attribute, on the scale of its values; NaN is missing.
    n_pooled : dict of int
        By attribute, how many records' (or units') category was told as a more frequent one.
    units : ndarray of shape (n_records,) or None
        Whose each record is.
    """

    columns: dict[str, FloatArray]
    n_pooled: dict[str, int]
    units: IntArray | None = None

    def arrays(self, measured: Sequence[EncodedColumn]) -> dict[str, pa.Array]:
        """The draws as columns of their own types."""
        return {column.name: column.publish(self.columns[column.name]) for column in measured}

    def facts(self, measured: Sequence[EncodedColumn], k: int) -> dict[str, Any]:
        """How often draws equal records, and about how many had a category that was pooled; for the manifest."""
        originals = [np.where(filled_in(column), np.nan, _as_published(column, column.values)) for column in measured]
        drawn = [_as_published(column, self.columns[column.name]) for column in measured]
        equal = _equal_shares(originals, drawn, self.units)
        pooled = {name: count_of_many(count, k) for name, count in self.n_pooled.items()}
        return {"equal": equal} | ({"pooled": pooled} if pooled else {})


def _as_published(column: EncodedColumn, values: FloatArray) -> FloatArray:
    """Numbers as the file shows them, rounded and of the column's own type; codes of categories as they are."""
    if column.kind is not Kind.NUMERIC:
        return values
    array = column.publish(round_draws(column, values))
    return replace(column.column, array=array, counted_from=column.column.origin).numbers()


def _equal_shares(
    originals: Sequence[FloatArray], drawn: Sequence[FloatArray], units: IntArray | None = None
) -> dict[str, float]:
    """Shares of draws that equal a record, and one that no other equals; and the same of records without a part.

    A record without a part is each record in turn, beside the others: it equals one of them if two or more are equal,
    and one that no other equals if exactly two are. With `units` the others are the records of other units, and no
    other equals one if all records that are equal to it are of its own unit.
    """
    n_records = len(originals[0])
    keys = np.zeros(2 * n_records, dtype=np.int64)
    for before, after in zip(originals, drawn, strict=True):
        codes = np.unique(np.concatenate([before, after]), return_inverse=True)[1]
        keys = np.unique(keys * (int(codes.max()) + 1) + codes, return_inverse=True)[1].astype(np.int64)
    counts = units_per_code(keys[:n_records], int(keys.max()) + 1, units)
    of_records, of_draws = counts[keys[:n_records]], counts[keys[n_records:]]
    return {
        "released": float((of_draws > 0).mean()),
        "released_unique": float((of_draws == 1).mean()),
        "untouched": float((of_records > 1).mean()),
        "untouched_unique": float((of_records == 2).mean()),
    }


@dataclass(frozen=True)
class _Coded:
    """One attribute as ordered codes, and the numbers that stand for each code."""

    column: EncodedColumn
    codes: IntArray
    places: FloatArray
    n_pooled: int = 0


def draw_shared(
    measured: Sequence[EncodedColumn],
    cells: Cells,
    uniforms: Uniforms,
    k: int,
    paired: Sequence[EncodedColumn],
    *,
    share: int | None = None,
    rare: int = 1,
    units: IntArray | None = None,
) -> SharedDraws:
    """Draw records whose numbers at least k records share, or come from mean and spread of at least k.

    With `units`, which say whose each record is, k, `share` and `rare` count units.
    """
    X = np.column_stack([column.values for column in measured])
    categories = [len(column.labels) if column.kind is Kind.NOMINAL else 0 for column in measured]
    fitted = (
        fit_labels(X, one.values, k, classes=one.kind is Kind.NOMINAL, n_categories=categories, units=units)
        for one in paired
    )
    models = [model for model in fitted if model is not None]
    coded = [_code(column, cells, k, share, rare, models, units) for column in measured]
    codes = draw_codes(np.column_stack([one.codes for one in coded]), cells, uniforms)
    drawn = np.full(codes.shape, np.nan)
    chances = [uniforms(len(codes)) for _ in coded]
    for j, one in enumerate(coded):
        there = codes[:, j] != MISSING
        at = (chances[j][there] * one.places.shape[1]).astype(np.int64)
        drawn[there, j] = one.places[codes[there, j], at]
    if models:
        for j, one in enumerate(coded):
            if one.places.shape[1] > 1:
                drawn[:, j] = _tilted(one, codes[:, j], chances[j], drawn, j, k, models, units)
        drawn = drawn[_dealt(coded, drawn, codes, models, cells, uniforms)]
    return SharedDraws(
        {one.column.name: np.ascontiguousarray(drawn[:, j]) for j, one in enumerate(coded)},
        {one.column.name: one.n_pooled for one in coded if one.n_pooled},
        units,
    )


def _code(
    column: EncodedColumn,
    cells: Cells,
    k: int,
    share: int | None,
    rare: int,
    models: Sequence[LabelModel],
    units: IntArray | None,
) -> _Coded:
    if count_units(units, ~column.missing) < k:  # then every cell has a record that lacks it, and publishes none
        return _Coded(column, np.full(len(column.values), MISSING, dtype=np.int64), np.full((1, 1), np.nan))
    imputed = filled_in(column)
    if column.kind is Kind.NUMERIC:
        if count_units(units, ~column.missing & ~imputed) < k:
            raise GuaranteeError(
                f"column {column.name!r} has numbers of fewer than k = {k} {counted_word(units)}, so none can be "
                'published. Nothing was written. Leave it out, or set [missing] policy = "own_cell" or "suppress"'
            )
        what = f"column {column.name!r}"
        found = find_shared_numbers(column.values, k, share=share, units=units, filled_in=imputed, what=what)
        return _Coded(column, found.codes, found.places(lambda numbers: round_draws(column, numbers)))
    codes = np.where(column.missing, MISSING, np.nan_to_num(column.values)).astype(np.int64)
    ordered = column.kind is Kind.ORDINAL
    codes, n_pooled = pool_rare(codes, rare, cells, name=column.name, ordered=ordered, units=units, filled_in=imputed)
    if ordered:
        return _Coded(column, codes, np.arange(len(column.labels), dtype=np.float64)[:, None], n_pooled)
    order = _by_label(codes, len(column.labels), models)
    rank = np.argsort(order)
    return _Coded(column, np.where(codes == MISSING, MISSING, rank[codes]), order.astype(np.float64)[:, None], n_pooled)


def _by_label(codes: IntArray, n_codes: int, models: Sequence[LabelModel]) -> IntArray:
    """Categories in the order of their mean labels, along the line on which these differ most."""
    if not models:
        return np.arange(n_codes)
    means = []
    for model in models:
        rows = model.known & (codes != MISSING)
        counts = np.bincount(codes[rows], minlength=n_codes)
        overall = model.labels[model.known].mean(axis=0)
        for term, centre in zip(model.labels.T, overall, strict=True):
            sums = np.bincount(codes[rows], weights=term[rows] - centre, minlength=n_codes)
            means.append(np.sqrt(model.weight) * sums / np.maximum(counts, 1))
    table = np.column_stack(means)
    counts = np.bincount(codes[codes != MISSING], minlength=n_codes)
    axis = np.linalg.eigh((table * counts[:, None]).T @ table)[1][:, -1]
    axis = axis if axis[np.argmax(np.abs(axis))] > 0 else -axis
    return np.argsort(table @ axis, kind="stable")


def _tilted(
    one: _Coded,
    codes: IntArray,
    chance: FloatArray,
    drawn: FloatArray,
    j: int,
    k: int,
    models: Sequence[LabelModel],
    units: IntArray | None,
) -> FloatArray:
    """The draws of one attribute, with places that lead the models to the labels of each interval.

    The chance that chose a place among all alike chooses among those with weights, so that what no model tells apart
    stays where it was. Of places that no model tells apart one is tried, since with many classes trees are many.
    """
    result = drawn[:, j].copy()
    regions = _regions(one.places, [model.cuts(j) for model in models])
    n_regions = regions[:, -1] + 1
    rows = np.flatnonzero((codes != MISSING) & (n_regions[codes] > 1))
    if not len(rows):
        return result
    by_code = np.argsort(codes[rows], kind="stable")
    rows = rows[by_code]
    tries = n_regions[codes[rows]]
    begins = np.concatenate([[0], np.cumsum(tries)])
    tried = np.repeat(drawn[rows], tries, axis=0)
    tried_codes = np.repeat(codes[rows], tries)
    nth = np.arange(len(tried)) - np.repeat(begins[:-1], tries)
    firsts = np.zeros_like(regions)  # of each region its first place
    of_code, place = np.nonzero(np.diff(regions, axis=1, prepend=-1))
    firsts[of_code, regions[of_code, place]] = place
    tried[:, j] = one.places[tried_codes, firsts[tried_codes, nth]]
    odds = [model.expected(tried) for model in models]
    due = [_mean_labels(one.codes, len(one.places), model, k, units) for model in models]
    starts = np.flatnonzero(np.diff(codes[rows], prepend=-2))
    for first, last in zip(starts, [*starts[1:], len(rows)], strict=True):
        code = codes[rows[first]]
        told = [place for place, mean in enumerate(due) if not np.isnan(mean[code]).any()]
        if not told:
            continue
        scales = [np.sqrt(models[place].weight) for place in told]
        wanted = np.concatenate([scale * due[place][code] for scale, place in zip(scales, told, strict=True)])
        of_draws = [
            scale * odds[place][begins[first] : begins[last]].reshape(last - first, n_regions[code], -1)
            for scale, place in zip(scales, told, strict=True)
        ]
        at = tilted_places(
            np.concatenate(of_draws, axis=2)[:, regions[code]],
            wanted,
            chance[rows[first:last]],
        )
        result[rows[first:last]] = one.places[code, at]
    return result


def _mean_labels(codes: IntArray, n_codes: int, model: LabelModel, k: int, units: IntArray | None) -> FloatArray:
    """The mean label of the records of each code; NaN where fewer than k of them (or of units) have one."""
    rows = model.known & (codes != MISSING)
    counts = np.bincount(codes[rows], minlength=n_codes)
    sums = [np.bincount(codes[rows], weights=term[rows], minlength=n_codes) for term in model.labels.T]
    means: FloatArray = np.column_stack(sums) / np.maximum(counts, 1)[:, None]
    means[units_per_code(codes[rows], n_codes, None if units is None else units[rows]) < k] = np.nan
    return means


def _regions(places: FloatArray, cuts: Sequence[FloatArray | None]) -> IntArray:
    """Places of a code that no model tells apart have one number, counted from 0: no tree has a cut between them."""
    told = [cut for cut in cuts if cut is not None]
    side = np.searchsorted(np.unique(np.concatenate(told)), places, side="left") if len(told) == len(cuts) else places
    regions: IntArray = np.cumsum(np.diff(side, axis=1, prepend=side[:, :1]) != 0, axis=1)
    return regions


def _dealt(
    coded: Sequence[_Coded],
    drawn: FloatArray,
    codes: IntArray,
    models: Sequence[LabelModel],
    cells: Cells,
    uniforms: Uniforms,
) -> IntArray:
    """Which draw each record gets: by chance with the models' odds, and then with less noise than chance has."""
    labels: list[FloatArray] = []
    known: list[BoolArray] = []
    odds: list[FloatArray] = []
    wanted: list[FloatArray] = []
    offered: list[FloatArray] = []
    for model in models:
        expected = calibrated(model.expected(drawn), model, cells.labels)
        scale = np.sqrt(model.weight)
        labels.append(model.labels * scale)
        known.append(np.repeat(model.known[:, None], expected.shape[1], axis=1))
        odds.append(expected * scale)
        one, other = model.log_likelihood(expected)
        wanted.append(one)
        offered.append(other)
    dealt = pair_draws(np.hstack(wanted), np.hstack(offered), cells, uniforms)
    # Numbers as ranks; categories in the order of their labels.
    ranks = codes.copy()
    for j, attribute in enumerate(coded):
        if attribute.column.kind is Kind.NUMERIC:
            ranks[:, j] = np.unique(drawn[:, j], return_inverse=True)[1]
    return deal_quietly(np.hstack(labels), np.hstack(known), np.hstack(odds), ranks, dealt, cells, uniforms)
