"""The job that runs: how far it is, and its end."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from microagg.studio.pages.render import fragment
from microagg.studio.screens.form import back_to, fields_of, studio_of

__all__ = ["cancel", "show"]


async def show(request: Request) -> Response:
    """The line about the job; pages ask for it again and again, until they hear that they are to be fetched anew."""
    job = studio_of(request).jobs.current
    if job is None or not job.is_running:
        return Response(status_code=204, headers={"HX-Trigger": "job-ended"})
    return fragment("job.html", job=job)


async def cancel(request: Request) -> Response:
    """End the job."""
    await fields_of(request)
    studio = studio_of(request)
    from starlette.concurrency import run_in_threadpool

    if not await run_in_threadpool(studio.jobs.cancel):
        studio.tell("Nothing is running.")
    return back_to(request)
