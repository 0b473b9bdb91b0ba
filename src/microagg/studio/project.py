"""A table in the studio: its file, its recipe with all it has been, what is known of it, and its releases."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from microagg._version import __version__
from microagg.errors import MicroaggError, RecipeError
from microagg.recipe.recipe import Recipe
from microagg.releases.folder.atomic import write_file_whole
from microagg.releases.folder.orphans import sweep_orphans
from microagg.releases.folder.receipt import receipts_beside
from microagg.schema.taxonomy import Taxonomy
from microagg.studio.history import History
from microagg.studio.places import private_folder
from microagg.studio.recipe_text import Question, parse, questions, set_keys
from microagg.studio.shapes import shaped

__all__ = ["Made", "Project", "with_taxonomies"]

SIGN_OFF = ("title", "holder", "purpose", "date", "name", "office")
"""What a person writes under a statement."""


@dataclass(frozen=True)
class Made:
    """A release that was made here.

    Attributes
    ----------
    number : int
    name : str
        Of its folder.
    recipe : str
        The text it was made by.
    seed : int or None
    file_format : str
        Empty if it followed from the input.
    sign : str
        The key it was signed with, if any.
    engine : str
    cells : int
    loss : float or None
    receipt : str
        The name of the receipt's file.
    notes : list of str
    holds : bool
        Whether a check found nothing wrong.
    findings : list of dict
    signed_off : dict
        What somebody wrote under the statement.
    """

    number: int
    name: str
    recipe: str
    seed: int | None = None
    file_format: str = ""
    sign: str = ""
    engine: str = "local"
    cells: int = 0
    loss: float | None = None
    receipt: str = ""
    notes: list[str] = field(default_factory=list)
    holds: bool = False
    findings: list[dict[str, Any]] = field(default_factory=list)
    signed_off: dict[str, str] = field(default_factory=dict)


class Project:
    """All that the studio knows of one table.

    Parameters
    ----------
    source : Path
        The file.
    typed : str
        The file as the person would name it on a command line.
    folder : Path
        Where recipe and releases are kept.
    content : str, optional
        What tells the content of a file that was sent. Of one that is read where it is, size and time of change do.
    """

    def __init__(self, source: Path, typed: str, folder: Path, *, content: str = "") -> None:
        self.source, self.typed = source, typed
        self._content = content
        self.history = History(folder)
        self.folder = folder
        self.facts: dict[str, Any] | None = None
        self.results: dict[str, Any] = {}
        self.described: dict[int, dict[str, Any]] = {}
        self.unsaved: tuple[str, int] | None = None  # a text that was refused, and the version it is an edit of
        self._checked: tuple[int, Recipe | None, str] = (-1, None, "")
        self._releases = private_folder(folder / "releases")
        for left in self._releases.iterdir():
            sweep_orphans(left)
        for name in ("risk", "frontier"):
            self._restore(name)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def recipe_text(self) -> str:
        return self.history.text

    @property
    def content(self) -> dict[str, Any]:
        """The recipe as plain tables, without what no recipe can hold there; empty if it cannot even be read."""
        try:
            return shaped(parse(self.recipe_text))
        except RecipeError:
            return {}

    def checked(self) -> tuple[Recipe | None, str]:
        """The recipe, or why it cannot be used as it is."""
        if self._checked[0] != self.history.version:
            try:
                self._checked = (self.history.version, Recipe.loads(self.recipe_text, folder=self.folder), "")
            except MicroaggError as error:
                self._checked = (self.history.version, None, str(error))
        return self._checked[1:]

    @property
    def questions(self) -> list[Question]:
        return questions(self.recipe_text)

    @property
    def file_state(self) -> str:
        """What tells whether the file is still the one that was read; empty if it is gone."""
        if self._content:
            return self._content
        try:
            about = self.source.stat()
        except OSError:
            return ""
        return f"{about.st_mtime_ns} {about.st_size}"

    @property
    def has_changed(self) -> bool:
        """Whether the file is another one than what is known of it was read from."""
        return self.facts is not None and self.facts.get("file_state", self.file_state) != self.file_state

    @property
    def digest(self) -> str:
        """A hash of the file and of what decides about a release: results of other ones are out of date."""
        return _hash([_deciding(self.content), self.file_state])

    def decides_otherwise(self, made: Made) -> bool:
        """Whether the recipe would make another release now than it made then.

        Remarks, what a frontier tries, and what was written under the statement change nothing of a release.
        """
        try:
            then = shaped(parse(made.recipe))
        except RecipeError:
            return True
        return _hash(_deciding(then)) != _hash(_deciding(self.content))

    def keep_result(self, name: str, content: Mapping[str, Any], *, digest: str, finished: bool = True) -> None:
        """Keep what a job found, with the recipe it was found by."""
        self.results[name] = {**content, "digest": digest, "made_by": __version__}
        if finished:
            write_file_whole(self.folder / f"{name}.json", json.dumps(self.results[name], ensure_ascii=False))

    def result(self, name: str) -> dict[str, Any] | None:
        """What a job found; ``is_old`` says whether the recipe has changed since."""
        found = self.results.get(name)
        return None if found is None else {**found, "is_old": found["digest"] != self.digest}

    def _restore(self, name: str) -> None:
        """Take up what was found before; what another version wrote may lack what pages show, and is found anew."""
        try:
            found = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return
        if isinstance(found, dict) and found.get("made_by") == __version__:
            self.results[name] = found

    @property
    def releases(self) -> list[Made]:
        """The releases that were made, the latest first."""
        found = []
        for file in self._releases.glob("*/made.json"):
            made = _made(file)
            if made is not None and self.folder_of(made).is_dir():
                found.append(made)
        return sorted(found, key=lambda made: -made.number)

    def release(self, number: int | None) -> Made | None:
        """One of them; the latest if none is named."""
        made = self.releases
        if number is None:
            return made[0] if made else None
        return next((one for one in made if one.number == number), None)

    def new_release(self, stem: str) -> Made:
        """A place for the next one."""
        taken = [int(one.name) for one in self._releases.iterdir() if one.name.isdecimal()]
        number = max(taken, default=0) + 1
        folder = private_folder(self._releases / str(number))
        write_file_whole(folder / "recipe.toml", self.recipe_text)
        return Made(number, f"{stem}-release-{number}", self.recipe_text)

    def folder_of(self, made: Made) -> Path:
        return self._releases / str(made.number) / made.name

    def recipe_of(self, made: Made) -> Path:
        """The recipe that a release was made by, as a file."""
        return self._releases / str(made.number) / "recipe.toml"

    def receipt_of(self, made: Made) -> Path | None:
        """The receipt of a release; None if it is gone."""
        if made.receipt:
            file = self.folder_of(made).with_name(made.receipt)
            return file if file.is_file() else None
        return next(iter(receipts_beside(self.folder_of(made))), None)  # its job ended before it could tell

    def keep_release(self, made: Made) -> None:
        """Remember a release that was written, or what was written under it."""
        path = self._releases / str(made.number) / "made.json"
        write_file_whole(path, json.dumps(asdict(made), ensure_ascii=False, indent=1))

    def sign_off(self, made: Made, fields: Mapping[str, str]) -> None:
        """Keep what somebody wrote under the statement of a release."""
        self.keep_release(replace(made, signed_off={key: fields.get(key, "").strip()[:500] for key in SIGN_OFF}))

    def forget_release(self, made: Made) -> None:
        """Remove a release with its receipt."""
        shutil.rmtree(self._releases / str(made.number))
        self.described.pop(made.number, None)


def _deciding(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key not in ("sweep", "about")}


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _made(file: Path) -> Made | None:
    """What is remembered of a release, by this version or another; None if the file is damaged."""
    known = {one.name for one in fields(Made)}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return Made(**{key: value for key, value in content.items() if key in known})
    except (ValueError, TypeError, AttributeError):
        return None


def with_taxonomies(text: str, folder: Path) -> str:
    """The recipe with taxonomies of files beside it written out, so that it can be kept elsewhere."""
    changes: dict[tuple[str, ...], Any] = {}
    for name, declared in parse(text).get("attributes", {}).items():
        if isinstance(declared, dict) and isinstance(declared.get("taxonomy"), str):
            tree = Taxonomy.load_beside(folder, declared["taxonomy"])
            changes[("attributes", name, "taxonomy")] = dict(tree.parents)
    return set_keys(text, changes) if changes else text
