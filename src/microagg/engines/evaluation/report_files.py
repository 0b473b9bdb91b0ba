"""The report on a release in parts: its statement and manifest, all its files counted, a sample of its records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microagg.engines.evaluation.evaluate_files import SAMPLE, ComparedFiles
from microagg.errors import InputError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.report import MANIFEST, REPORT, REPORT_JSON, write_beside_release
from microagg.releases.report_results import QUICK, correlate, make_report
from microagg.reports.document import Report
from microagg.reports.results import MeasureResults, ReportResults
from microagg.reports.source import ReportRequest, ReportSource

__all__ = ["report_on_parts"]


def report_on_parts(
    original: str | Path,
    released: str | Path,
    path: str | Path,
    recipe: Recipe | None = None,
    *,
    internal: bool = False,
    full: bool = False,
    sample: int = SAMPLE,
    key: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a report on a release in parts.

    Parameters
    ----------
    original : path or pattern
        The files that the release was made from.
    released : path
        Its folder.
    path : path
        The page to write, outside of that folder.
    recipe : Recipe, optional
        What the columns are; default: the release's own.
    internal, overwrite : bool
        As in :meth:`microagg.Release.report`.
    full : bool
        Hold both tables in memory and take all default measures on all records.
    sample : int
        About so many records of each table are looked at if it has more: always the same ones.
    key : str, optional
        As in :func:`microagg.evaluate`.
    """
    path = Path(path)
    if (path.absolute().parent / MANIFEST).is_file():
        raise InputError(
            "a report on a release in parts is not written into the folder of a release, where a check would have to "
            "make it again. Choose another place: --output report.html"
        )
    files = ComparedFiles.open(original, released, recipe, sample=2**62 if full else sample, key=key)

    def make(_: Mapping[str, str]) -> Report:
        request = _request(files, internal=internal, full=full)
        if files.together.is_whole:
            return make_report(request)
        return Report.of(ReportSource.answer(request, _results(files, request)))

    return write_beside_release(
        make, path, internal=internal, overwrite=overwrite, release_id=str(files.saved.manifest["id"])
    )


def _request(files: ComparedFiles, *, internal: bool, full: bool) -> ReportRequest:
    saved, both = files.saved, files.together
    listed = saved.manifest["output"]["sha256"]
    return ReportRequest(
        both.after,
        files.recipe,
        both.before,
        both.rows.origins,
        saved.statement,
        saved.manifest,
        files={name: one for name, one in listed.items() if name not in (REPORT, REPORT_JSON)},
        internal=internal,
        full=full,
        why_not_aligned=both.rows.why_not,
        n_in_parts=None if both.is_whole else files.n_released,
    )


def _results(files: ComparedFiles, request: ReportRequest) -> ReportResults:
    """What can be computed of a table of which a sample is at hand."""
    try:
        measures = MeasureResults(files.evaluate(QUICK))
    except InputError as error:
        measures = MeasureResults(problem=str(error))
    exposure = files.counted.exposure if request.internal else None
    return ReportResults(measures=measures, correlations=correlate(request), exposure=exposure)
