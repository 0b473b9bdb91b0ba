"""Judge a release: two tables and a schema in, measures of utility and risk out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from microagg._progress import report
from microagg._validation import Integer, Real, check_parameters
from microagg.errors import ParameterError, TableError, did_you_mean
from microagg.evaluation.alignment import Rows, align, rows_of_kind
from microagg.evaluation.context import Context
from microagg.evaluation.definition import Definition, choose
from microagg.evaluation.measures import all_measures
from microagg.evaluation.pairs import pair, same_values
from microagg.evaluation.result import Evaluation, PerRecord, RowKind
from microagg.evaluation.utility.training import fitting
from microagg.schema.schema import Schema
from microagg.tables.frames import Frame
from microagg.tables.missing_codes import frame_without_codes
from microagg.tables.phrases import columns_phrase

__all__ = ["evaluate", "judge", "reads_bounds"]


def evaluate(
    original: Any,
    released: Any,
    schema: Any = None,
    *,
    measures: str | Iterable[str] | None = None,
    aligned: bool | None = None,
    key: str | None = None,
    origins: Any = None,
    rows: str | None = None,
    lambda_: float = 0.5,
    known: Iterable[Iterable[str]] | None = None,
    holdout: Any = None,
    target: str | None = None,
    test: Any = None,
    model: Any = "gradient_boosting",
    per_record: bool = False,
    seed: int = 0,
) -> Evaluation:
    """Measure utility and risk of a released table, made by microagg or by any other tool.

    Parameters
    ----------
    original : pandas.DataFrame, polars.DataFrame or pyarrow.Table
    released : Release, pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A release knows which record each of its rows came from, though it is shuffled, and its own recipe; a table of
        any other tool does not.
    schema : Schema or Recipe, optional
        What each column is; may be left out for a Release. Confidential attributes are measured if they have a kind.
    measures : str or iterable of str, optional
        Names of measures or of groups of them, "utility", "risk" or "all". By default those marked so in
        ``docs/measures.md``; "utility" and "risk" are the halves of these.
    aligned : bool, optional
        Whether row i of both tables is the same record. By default this is found out from the columns that are
        published as they are. Measures that need it say so where it is not so.
    key : str, optional
        A column of both tables, all values different, that shows which rows belong together; instead of `aligned`.
        The release may lack records of the original.
    origins : array of int, optional
        For each released record its place in the original, as in ``release.origins``; instead of `aligned` or `key`.
    rows : {"records", "drawn", "means", "ranks"}, optional
        What a row of the release is. In private marginals it is a rank: its values do not belong together, and only
        measures of each attribute alone have a value. If it is a cell's repeated mean, or was drawn from a model,
        structure can be measured, but no risk of records. By default as the release or recipe says, and records where
        only a schema is given.
    lambda_ : float in [0, 1], default 0.5
        The weight of D_Y in D.
    known : iterable of sets of str, optional
        Sets of quasi-identifiers that an intruder may know, for the measures that average over such sets; by default
        all sets, or a sample of them.
    holdout : table, optional
        Records of the same population that had no part in the release, with the original's columns.
    target : str, optional
        An attribute that a model trained on the release shall predict from the quasi-identifiers; needs `test` or
        `holdout`.
    test : table, optional
        Records that had no part in the release, to test the model on; default: the holdout.
    model : {"gradient_boosting", "logistic_regression"} or a scikit-learn estimator
    per_record : bool, default False
        Keep values for single records in ``Evaluation.per_record``. They are internal: never publish them.
    seed : int, default 0
        Fixes the draws of measures that sample (random queries, random sets of attributes).

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import pyarrow as pa, microagg
    >>> people = pa.table({"age": [20, 22, 61, 64], "pay": [1.0, 2.0, 3.0, 5.0]})
    >>> recipe = microagg.Recipe(k=2, output={"order": "kept"}, attributes={
    ...     "age": {"role": "quasi_identifier", "kind": "numeric"}, "pay": {"role": "confidential", "kind": "numeric"}})
    >>> found = microagg.evaluate(people, microagg.release(people, recipe))
    >>> round(found["D_Y"].value, 3), round(found["distance_linkage"].value, 2)
    (0.286, 0.5)
    """
    check_parameters("evaluate", {"lambda_": Real(0.0, 1.0), "seed": Integer(0)}, {"lambda_": lambda_, "seed": seed})
    if rows is not None and rows not in [str(kind) for kind in RowKind]:
        raise ParameterError(f"rows must be one of {', '.join(RowKind)}. Got {rows!r} instead.")
    if target is None and test is not None:
        raise ParameterError(
            "target and test belong together: what to predict, and records to test on that had no part in the release"
        )
    if target is not None and test is None and holdout is None:
        raise ParameterError(
            "target and test belong together: what to predict, and records to test on that had no part in the release"
        )
    made = released if hasattr(released, "frame") and hasattr(released, "origins") else None
    recipe = made.recipe if schema is None and made is not None else schema
    schema = getattr(recipe, "schema", recipe)
    if not isinstance(schema, Schema):
        raise ParameterError("schema must be a microagg.Schema or a Recipe")
    given = Frame.wrap(original)
    codes = getattr(getattr(recipe, "input", None), "missing", {})
    before, after = frame_without_codes(given, codes), made.frame if made is not None else Frame.wrap(released)
    after = frame_without_codes(after, codes)
    apart = None if holdout is None else frame_without_codes(Frame.wrap(holdout), codes)
    _check_columns(before, after, apart, schema)
    if made is not None and rows is not None and rows != str(made.recipe.rows):
        raise ParameterError(f"rows of this release are {made.recipe.rows}: leave out rows = {rows!r}")
    if rows is None:
        rows = getattr(made.recipe if made is not None else recipe, "rows", "records")
    kind = RowKind(str(rows))
    if made is not None and aligned is None and key is None and origins is None:
        _check_is_input(given, made)
        origins = made.origins
    known_rows = rows_of_kind(kind)
    if kind is RowKind.RECORDS:
        known_rows = align(before, after, schema, aligned=aligned, key=key, origins=origins)
    tests = apart if test is None else frame_without_codes(Frame.wrap(test), codes)
    options = {
        "lambda_": lambda_,
        "known": _check_known(known, schema),
        "target": target,
        "test": tests,
        "model": model,
        "sampling_weight": getattr(recipe, "sampling_weight", None),
        "unit": getattr(getattr(recipe, "unit", None), "key", None),
        "bounds_from_data": reads_bounds(recipe),
    }
    return judge(
        before,
        after,
        schema,
        known_rows,
        measures=measures,
        holdout=apart,
        options=options,
        per_record=per_record,
        seed=seed,
    )


def judge(
    before: Frame,
    after: Frame,
    schema: Schema,
    rows: Rows,
    *,
    measures: str | Iterable[str] | None = None,
    holdout: Frame | None = None,
    options: Mapping[str, Any] | None = None,
    per_record: bool = False,
    seed: int = 0,
) -> Evaluation:
    """Measure a released table of which it is known what its rows are; :func:`evaluate` finds that out."""
    usual: dict[str, Any] = {
        "lambda_": 0.5,
        "known": (),
        "target": None,
        "test": None,
        "model": "gradient_boosting",
        "sampling_weight": None,
        "unit": None,
        "bounds_from_data": False,
    }
    options = usual | dict(options or {})
    _check_columns(before, after, holdout, schema)
    chosen = choose(all_measures(), measures)
    if options["target"] is not None:
        names = {one.name for one in chosen}
        chosen += [one for one in fitting(schema, options["target"]) if one.name not in names]
    reads = bool(options["bounds_from_data"])
    pairs = tuple(pair(before, after, name, schema[name], bounds_from_data=reads) for name in schema.quasi_identifiers)
    return _walk(chosen, Context(before, after, schema, pairs, rows, holdout, options, per_record, seed))


def reads_bounds(recipe: Any) -> bool:
    """Whether a recipe takes the domain of numbers from the data: errors are then measured by that domain."""
    return str(getattr(getattr(recipe, "privacy", None), "bounds", "")) == "from_data"


def _check_is_input(before: Frame, made: Any) -> None:
    """Places of records mean something only in the table that the release was made from."""
    if made.original is None or before.table.equals(made.original.table):
        return
    same = before.n_records == made.original.n_records and all(
        name in before.names and same_values(before.column(name), made.original.column(name))
        for name in made.original.names
    )
    if not same:
        raise TableError(
            "the original is not the table that the release was made from: give that one, or say how rows belong "
            "together (aligned or key)"
        )


def _check_known(known: Iterable[Iterable[str]] | None, schema: Schema) -> tuple[tuple[str, ...], ...]:
    """The sets of attributes an intruder may know, each in the order of the schema."""
    if known is None:
        return ()
    found = []
    for one in known:
        if isinstance(one, str):
            raise ParameterError(
                f"known must be sets of quasi-identifiers, such as [['age', 'sex']]. Got {one!r} in it."
            )
        names = set(one)
        unknown = sorted(names.difference(schema.quasi_identifiers))
        if unknown:
            hint = did_you_mean(unknown[0], schema.quasi_identifiers)
            raise ParameterError(f"known names {unknown[0]!r}, which is not a quasi-identifier.{hint}")
        if not names:
            raise ParameterError("known has an empty set: leave it out")
        found.append(tuple(name for name in schema.quasi_identifiers if name in names))
    if not found:
        raise ParameterError("known has no set of quasi-identifiers: leave it out for all sets")
    return tuple(found)


def _walk(chosen: list[Definition], context: Context) -> Evaluation:
    found, records = [], {}
    for i, definition in enumerate(chosen):
        report(f"measuring: {definition.name}", i / len(chosen))
        measure, values = definition.measure(context)
        found.append(measure)
        if context.per_record and values is not None:
            records[definition.name] = values
    report("measuring", 1.0)
    return Evaluation(tuple(found), PerRecord(records) if context.per_record else None)


def _check_columns(before: Frame, after: Frame, holdout: Frame | None, schema: Schema) -> None:
    if not schema.quasi_identifiers:
        raise ParameterError("the schema declares no quasi-identifier: there is nothing to compare")
    for frame, which in ((before, "original"), (after, "released"), (holdout, "holdout")):
        if frame is None:
            continue
        absent = [name for name in schema.quasi_identifiers if name not in frame.names]
        if absent:
            raise TableError(f"the {which} table lacks the quasi-identifiers {columns_phrase(absent)}")
        if not frame.n_records:
            raise TableError(f"the {which} table has no records")
