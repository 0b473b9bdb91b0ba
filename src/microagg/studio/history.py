"""The recipe of a table and all it has been: written to disk at every edit, so that undo survives a crash."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from microagg.releases.folder.atomic import write_file_whole
from microagg.studio.places import private_folder

__all__ = ["Entry", "History"]

_KEPT = 1000  # entries; older ones go


@dataclass(frozen=True)
class Entry:
    """A recipe as it was.

    Attributes
    ----------
    number : int
    label : str
        What was done to get there.
    text : str
        The recipe, as TOML.
    at : float
        When, in seconds since 1970.
    """

    number: int
    label: str
    text: str
    at: float


class History:
    """Every state of one recipe. The current one is also ``recipe.toml``, for the command line.

    Parameters
    ----------
    folder : Path
        Of the table; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = private_folder(folder)
        self.entries_folder = private_folder(folder / "history")
        self.recipe_file = folder / "recipe.toml"
        self._numbers = sorted(int(file.stem) for file in self.entries_folder.glob("*.json") if file.stem.isdecimal())
        self._at = self._read_position()
        self._current = self._load(self._at) if self._at else None
        self._file_was: tuple[int, int] | None = None
        self.catch_up()

    @property
    def text(self) -> str:
        """The recipe as it is now; empty if there is none."""
        return "" if self._current is None else self._current.text

    @property
    def version(self) -> int:
        """The number of the current state: who edits a text of another one has missed something."""
        return self._at

    def add(self, text: str, label: str) -> bool:
        """Make `text` the recipe; what was undone before is gone. False if it is the recipe already."""
        if self._current is not None and text == self._current.text:
            return False
        for number in [one for one in self._numbers if one > self._at]:
            self._file(number).unlink(missing_ok=True)
        self._numbers = [one for one in self._numbers if one <= self._at]
        entry = Entry((self._numbers[-1] if self._numbers else 0) + 1, label, text, time.time())
        content = {"label": entry.label, "at": entry.at, "text": entry.text}
        write_file_whole(self._file(entry.number), json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        self._numbers.append(entry.number)
        for old in self._numbers[:-_KEPT]:
            self._file(old).unlink(missing_ok=True)
        self._numbers = self._numbers[-_KEPT:]
        self._go(entry)
        return True

    def undo(self) -> str:
        """Go one step back; return what was undone, or nothing."""
        before = [one for one in self._numbers if one < self._at]
        if not before or self._current is None:
            return ""
        undone = self._current.label
        self._go(self._load(before[-1]))
        return undone

    def redo(self) -> str:
        """Go one step forward again; return what was done again, or nothing."""
        after = [one for one in self._numbers if one > self._at]
        if not after:
            return ""
        entry = self._load(after[0])
        self._go(entry)
        return entry.label

    @property
    def undoable(self) -> str:
        """What undo would take back."""
        return self._current.label if self._current and self._numbers and self._numbers[0] < self._at else ""

    @property
    def redoable(self) -> str:
        """What redo would do again."""
        after = [one for one in self._numbers if one > self._at]
        return self._load(after[0]).label if after else ""

    def _go(self, entry: Entry) -> None:
        self._at, self._current = entry.number, entry
        write_file_whole(self.recipe_file, entry.text)
        write_file_whole(self.folder / "position", f"{entry.number}\n")
        self._file_was = self._file_is()

    def catch_up(self) -> None:
        """Take up ``recipe.toml`` if somebody edited it: the pages say that it can be, and commands read it."""
        now = self._file_is()
        if self._current is None or now is None or now == self._file_was:
            return
        self._file_was = now
        try:
            text = self.recipe_file.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            return
        if not text.strip() or text == self._current.text:
            return
        place = self._numbers.index(self._at)
        near = {self._numbers[-1], *self._numbers[max(place - 1, 0) : place + 2]}
        for entry in (self._load(number) for number in sorted(near, reverse=True)):
            if entry.text == text:  # we were ended while we went there
                self._go(entry)
                return
        self.add(text, "edited outside of the studio")

    def _file_is(self) -> tuple[int, int] | None:
        try:
            about = self.recipe_file.stat()
        except FileNotFoundError:
            return None
        return about.st_mtime_ns, about.st_size

    def _file(self, number: int) -> Path:
        return self.entries_folder / f"{number:06d}.json"

    def _load(self, number: int) -> Entry:
        content = json.loads(self._file(number).read_text(encoding="utf-8"))
        return Entry(number, str(content["label"]), str(content["text"]), float(content["at"]))

    def _read_position(self) -> int:
        """Where the history stood; at its end if that was not written any more."""
        last = self._numbers[-1] if self._numbers else 0
        try:
            at = int((self.folder / "position").read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return last
        return at if at in self._numbers else last
