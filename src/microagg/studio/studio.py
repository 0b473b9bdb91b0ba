"""A running studio: the table that is open, the process that works, and what pages have to tell once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg.errors import InputError
from microagg.studio.commands import short_path
from microagg.studio.jobs import Jobs
from microagg.studio.places import Hold, RunFolder, key_of, private_folder
from microagg.studio.project import Made, Project, with_taxonomies
from microagg.studio.recipe_text import parse

__all__ = ["Studio"]


class Studio:
    """What the pages show and change.

    Parameters
    ----------
    state : Path
        The folder of recipes and releases.
    max_upload : int
        The most bytes of a file that a browser may send.
    """

    def __init__(self, state: Path, max_upload: int) -> None:
        self.state, self.max_upload = state, max_upload
        self.run = RunFolder(state)
        self.jobs = Jobs(self.run.folder("work"))
        self.project: Project | None = None
        self._hold: Hold | None = None
        self._told: list[tuple[str, str]] = []
        self._lock = threading.RLock()

    def close(self) -> None:
        """End the process that works, and remove what held records."""
        self.jobs.close()
        self._keep_hold(None)
        self.run.remove()

    def tell(self, words: str, kind: str = "note") -> None:
        """Say something on the next page."""
        with self._lock:
            self._told.append((kind, words))

    def take_told(self) -> list[tuple[str, str]]:
        """What is to be said, once."""
        with self._lock:
            told, self._told = self._told, []
        return told

    def open_file(self, path: Path, *, sent_as: str = "", recipe: Path | None = None) -> None:
        """Open a table: read where it is, or, with `sent_as`, as it was sent (the name, and what tells its content)."""
        if not path.is_file():
            raise InputError(f"there is no file named {path.name!r}")
        key = key_of(path.name, sent_as or str(path.resolve()))
        folder = private_folder(private_folder(self.state / "projects") / key)
        typed = path.name if sent_as else short_path(path.absolute())
        hold = self._held(folder)
        try:
            project = Project(path, typed, folder, content=sent_as)
            if recipe is not None:
                project.history.add(_read_recipe(recipe), f"opened {recipe.name}")
        except BaseException:
            if hold is not self._hold:
                hold.end()
            raise
        self._keep_hold(hold)
        self.project = project
        self.look()

    def _held(self, folder: Path) -> Hold:
        """The right to change the folder of a table: two studios would write over each other's recipe."""
        if self._hold is not None and self._hold.folder == folder:
            return self._hold
        try:
            return Hold(folder)
        except BlockingIOError:
            raise InputError(
                "this table is open in another studio of yours. Go on there, or end that one (Ctrl-C in its terminal)"
            ) from None

    def _keep_hold(self, hold: Hold | None) -> None:
        if self._hold is not None and self._hold is not hold:
            self._hold.end()
        self._hold = hold

    def look(self, chosen: Mapping[str, Any] | None = None) -> None:
        """Read the file (again): as the recipe says, or as somebody chose just now."""
        project = self.opened()
        own = project.content.get("input", {}) if chosen is None else chosen
        k = project.content.get("k", 5)
        arguments = {"path": str(project.source), "chosen": dict(own), "k": k if isinstance(k, int) and k > 1 else 5}

        state = project.file_state

        def done(found: dict[str, Any]) -> None:
            draft = found.pop("draft")
            project.facts = {**found, "file_state": state}
            names = {column["name"] for column in found["columns"]}
            declared = set(project.content.get("attributes", {}))
            if not project.recipe_text:
                project.history.add(draft, "drafted from the file")
            elif chosen is not None and names != declared:
                project.history.add(draft, "drafted anew: other columns are read")
                self.tell("The file is read otherwise now and has other columns, so the recipe was drafted anew.")
            elif chosen is not None:
                project.history.add(_with_input(project.recipe_text, draft), "the file is read otherwise")

        self.jobs.start("look", f"Reading {project.name}", arguments, done)

    def opened(self) -> Project:
        """The table that is open.

        Raises
        ------
        InputError
            If none is.
        """
        if self.project is None:
            raise InputError("open a table first")
        self.project.history.catch_up()
        return self.project

    def usable(self) -> Project:
        """The table that is open, with a recipe that can be used.

        Raises
        ------
        InputError
            If there is none; the message says what is wrong with the recipe.
        """
        project = self.opened()
        recipe, fault = project.checked()
        if recipe is None:
            raise InputError(f"the recipe cannot be used yet: {fault}")
        return project

    def start(
        self,
        name: str,
        title: str,
        arguments: Mapping[str, Any],
        done: Callable[[Any], None],
        partial: Callable[[Any], None] | None = None,
        has_written: Callable[[], bool] | None = None,
    ) -> None:
        """Start a job on the table and its recipe."""
        project = self.usable()
        own = {"path": str(project.source), "recipe": project.recipe_text, "folder": str(project.folder)}
        self.jobs.start(name, title, {**own, **arguments}, done, partial, has_written)

    def make_release(self, *, seed: int | None, file_format: str, sign: str, name: str) -> Made:
        """Start making a release of all records."""
        project = self.usable()
        made = replace(project.new_release(name), seed=seed, file_format=file_format, sign=sign)

        def done(found: dict[str, Any]) -> None:
            facts = found.pop("facts")
            keep(found)
            project.described[made.number] = facts

        def keep(found: dict[str, Any]) -> None:
            if project.release(made.number) is not None:  # else it was removed meanwhile
                project.keep_release(replace(made, **found))

        project.keep_release(made)  # so that it is found here as soon as its folder is there, however the job ends
        self.start(
            "release",
            f"Making {made.name}",
            {
                "into": str(project.folder_of(made)),
                "seed": seed,
                "file_format": file_format or None,
                "sign": sign or None,
                "state_total": False,
                "facts": str(self.facts_page(made)),
            },
            done,
            keep,
            lambda: project.folder_of(made).is_dir(),
        )
        return made

    def facts_page(self, made: Made) -> Path:
        """Where the internal report of a release lies while the studio runs."""
        assert self.project is not None
        folder = private_folder(self.run.folder("internal") / self.project.folder.name)
        return folder / f"{made.name}.internal.html"


def _read_recipe(file: Path) -> str:
    """The text of a recipe, with taxonomies of files beside it written out."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no recipe named {file.name!r}. 'microagg init' writes one") from None
    except (UnicodeDecodeError, IsADirectoryError):
        raise InputError(f"the recipe {file.name!r} is not a UTF-8 text file") from None
    return with_taxonomies(text, file.parent)


def _with_input(text: str, draft: str) -> str:
    """The recipe with the ``[input]`` of a fresh draft."""
    from microagg.studio.recipe_text import set_keys

    found = parse(draft).get("input")
    return set_keys(set_keys(text, {("input",): None}), {("input",): found} if found else {})
