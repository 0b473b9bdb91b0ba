"""Table 1 and Figures 7 to 14 of the cross-moment paper as experiments."""

from __future__ import annotations

from functools import partial

from microagg.studies.cross_moment.coefficients import (
    compare_census_1,
    compare_census_2,
    compare_eia_1,
    compare_eia_2,
    draw_coefficients,
    plan_coefficients,
)
from microagg.studies.cross_moment.each_alone import (
    compare_alone,
    compare_spectra,
    draw_alone,
    draw_spectra,
    plan_alone,
    plan_spectra,
)
from microagg.studies.cross_moment.overtaking import compare_dependency, draw_dependency, plan_dependency
from microagg.studies.cross_moment.plain_laplace import compare_laplace, plan_laplace
from microagg.studies.reproduction.experiment import Experiment

__all__ = ["EXPERIMENTS"]


def _figure(number: int, title: str, needs: tuple[str, ...], plan, compare, draw) -> Experiment:  # type: ignore[no-untyped-def]
    return Experiment(
        f"cross_moment.figure{number}",
        title,
        f"Cross-moment paper, Figure {number} and section 5.5",
        needs,
        plan,
        compare,
        draw,
        numbers_printed=False,
    )


_BOTH = ("census", "eia")

EXPERIMENTS = (
    Experiment(
        "cross_moment.table1",
        "log2 SSE of plain Laplace noise, six tables and six epsilon",
        "Cross-moment paper, Table 1",
        _BOTH,
        plan_laplace,
        compare_laplace,
    ),
    _figure(
        7,
        "methods 1 to 13 and B1 to B5 on Census, epsilon = 1",
        ("census",),
        partial(plan_coefficients, "Census", 1.0),
        compare_census_1,
        draw_coefficients,
    ),
    _figure(
        8,
        "the same with epsilon = 2",
        ("census",),
        partial(plan_coefficients, "Census", 2.0),
        compare_census_2,
        draw_coefficients,
    ),
    _figure(
        9,
        "methods 1 to 13 and B1 to B5 on EIA, epsilon = 1",
        ("eia",),
        partial(plan_coefficients, "EIA", 1.0),
        compare_eia_1,
        draw_coefficients,
    ),
    _figure(
        10,
        "the same with epsilon = 2",
        ("eia",),
        partial(plan_coefficients, "EIA", 2.0),
        compare_eia_2,
        draw_coefficients,
    ),
    _figure(
        11,
        "the k from which m = 1 beats m = 0, against epsilon",
        _BOTH,
        plan_dependency,
        compare_dependency,
        draw_dependency,
    ),
    _figure(
        12,
        "each attribute alone: methods 20 to 26 and the same without noise, epsilon = 1",
        _BOTH,
        partial(plan_alone, 1.0),
        partial(compare_alone, 1.0),
        draw_alone,
    ),
    _figure(
        13,
        "the same with epsilon = 2",
        _BOTH,
        partial(plan_alone, 2.0),
        partial(compare_alone, 2.0),
        draw_alone,
    ),
    _figure(
        14,
        "spectral methods 14 to 19 beside method 1, epsilon = 2",
        _BOTH,
        plan_spectra,
        compare_spectra,
        draw_spectra,
    ),
)
