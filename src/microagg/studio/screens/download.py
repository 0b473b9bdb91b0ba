"""Download: what may be published, in one file; what must not leave the house, apart and marked."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from microagg.errors import InputError
from microagg.releases.folder.saved import SavedRelease
from microagg.studio.pages.render import page
from microagg.studio.project import SIGN_OFF, Made, Project
from microagg.studio.screens.form import studio_of
from microagg.studio.screens.release import check_of, command_of, made_of

__all__ = ["send", "show"]

_HINTS = {
    "manifest.json": "what was run, with hashes; whoever has it can check the release",
    "statement.txt": "what is promised and what not, to read",
    "statement.json": "the same, for programs",
    "report.html": "the public report: to read, print and sign",
    "report.json": "the same, for programs",
    "signature.json": "shows who published",
}


async def show(request: Request) -> Response:
    """The files of a release."""
    studio = studio_of(request)
    project = studio.opened()
    made = made_of(request, project)
    commands = () if made is None else (command_of(project, made), check_of(project, made))
    files = []
    if made is not None:
        for file in sorted(project.folder_of(made).iterdir()):
            words = _HINTS.get(file.name, "the released table" if file.name.startswith("table") else "")
            files.append({"name": file.name, "bytes": file.stat().st_size, "words": words})
    return page(
        request,
        "download",
        commands=commands,
        made=made,
        files=files,
        releases=project.releases,
        has_receipt=made is not None and project.receipt_of(made) is not None,
        has_internal=made is not None and studio.facts_page(made).is_file(),
    )


async def send(request: Request) -> Response:
    """One of the files, or the whole folder."""
    studio = studio_of(request)
    project = studio.opened()
    made = project.release(request.path_params["number"])
    if made is None:
        raise InputError("there is no such release any more")
    what = request.path_params["what"]
    if what == "release.zip":
        path = _zipped(studio.run.folder("zipped"), project, made)
        return FileResponse(path, filename=f"{made.name}.zip", background=BackgroundTask(path.unlink, missing_ok=True))
    if what == "recipe.toml":
        # As the manifest publishes it: remarks of a draft count values of the original.
        published = SavedRelease.open(project.folder_of(made)).recipe.dumps()
        return _attached(published, "recipe.toml", "application/toml")
    if what == "sign-off.json":
        signed = {"release": made.name, **{key: made.signed_off.get(key, "") for key in SIGN_OFF}}
        return _attached(json.dumps(signed, ensure_ascii=False, indent=2) + "\n", "sign-off.json", "application/json")
    receipt = project.receipt_of(made)
    places = {
        "report.html": (project.folder_of(made) / "report.html", f"{made.name}.report.html"),
        **({} if receipt is None else {"receipt.json": (receipt, receipt.name)}),
        "internal.html": (studio.facts_page(made), f"INTERNAL-{made.name}.html"),
    }
    if what not in places or not places[what][0].is_file():
        raise InputError("there is no such file")
    path, name = places[what]
    return FileResponse(path, filename=name)


def _attached(text: str, name: str, kind: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8"), media_type=kind, headers=headers)


def _zipped(folder: Path, project: Project, made: Made) -> Any:
    """The folder of a release in one file: nothing internal is in it."""
    import tempfile

    handle = tempfile.NamedTemporaryFile(dir=folder, suffix=".zip", delete=False)  # noqa: SIM115
    with handle, zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(project.folder_of(made).iterdir()):
            packed.write(file, f"{made.name}/{file.name}")
    return Path(handle.name)
