"""Flags that say how a file is written, the same for every command that reads one; they override ``[input]``."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from microagg.recipe.input import InputChoice
    from microagg.recipe.recipe import Recipe
    from microagg.tables.text.dialect import Dialect

__all__ = ["InputFlags", "takes_input_flags"]

R = TypeVar("R")
_PANEL = "How the file is written (overrides the recipe's input table)"


def _option(*names: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=_PANEL)


_OPTIONS: dict[str, Any] = {
    "separator": Annotated[str | None, _option("--separator", help="One character between fields; \\t is a tab.")],
    "decimal": Annotated[str | None, _option("--decimal", help="Before decimals: . or ,")],
    "thousands": Annotated[str | None, _option("--thousands", help="Between groups of digits: , . ' space, or none.")],
    "negatives": Annotated[str | None, _option("--negatives", help="sign, parentheses for (5), trailing for 5-")],
    "units": Annotated[str | None, _option("--units", help="Marks beside numbers to leave out: %,EUR")],
    "encoding": Annotated[str | None, _option("--encoding", help="utf-8, latin-1, cp1252, utf-16 ...")],
    "sheet": Annotated[str | None, _option("--sheet", help="Name or number, from 1, of a workbook's sheet.")],
    "skip_rows": Annotated[int | None, _option("--skip-rows", help="Rows above the header.")],
    "header": Annotated[bool | None, _option("--header/--no-header", help="Whether names are above the records.")],
    "columns": Annotated[str | None, _option("--columns", help="With --no-header, the names: age,sex")],
    "date_format": Annotated[
        list[str] | None,
        _option("--date-format", help="As in %d/%m/%Y, or birth=%d/%m/%Y for one column.", metavar="<format>"),
    ],
    "missing_values": Annotated[
        str | None, _option("--missing-values", help="Words that mean missing in every column: NA,unknown")
    ],
    "missing_codes": Annotated[
        list[str] | None,
        _option("--missing-codes", help="What means missing in one column: age=-999,unknown", metavar="<codes>"),
    ],
}


@dataclass(frozen=True)
class InputFlags:
    """The flags that were given, as keys of ``[input]``."""

    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> InputFlags:
        """Flags as the command line has them."""
        given = {name: value for name, value in values.items() if value not in (None, [], ())}
        if given.get("separator") in ("\\t", "tab", "TAB"):
            given["separator"] = "\t"
        if given.get("thousands") in ("space", "blank"):
            given["thousands"] = " "
        if "sheet" in given and given["sheet"].isdecimal():
            given["sheet"] = int(given["sheet"])
        for name in ("units", "columns", "missing_values"):
            if name in given:
                given[name] = [word.strip() for word in given[name].split(",")]
        if "missing_values" in given:
            given["missing_values"] = ["", *given["missing_values"]]  # an empty field is missing in any case
        if "columns" in given:
            given.setdefault("header", False)
        if "date_format" in given:
            given["date_format"] = _formats(given["date_format"])
        if "missing_codes" in given:
            given["missing"] = _codes(given.pop("missing_codes"))
        return cls(given)

    def apply(self, recipe: Recipe) -> Recipe:
        """The recipe with these in its ``[input]``; codes and formats of single columns are added to those it has."""
        return recipe.changed({"input": self.choice(recipe.input).model_dump()}) if self.given else recipe

    def dialect_for_draft(self) -> Dialect:
        """How to read a file that has no recipe yet: without a header its columns need no names."""
        from dataclasses import replace

        if self.given.get("header") is not False or "columns" in self.given:
            return self.choice().dialect
        others = InputFlags({name: value for name, value in self.given.items() if name != "header"})
        return replace(others.choice().dialect, header=False)

    def choice(self, base: InputChoice | None = None) -> InputChoice:
        """The table ``[input]`` with these keys."""
        from pydantic import ValidationError

        from microagg.errors import InputError
        from microagg.recipe.explain import explain
        from microagg.recipe.input import InputChoice
        from microagg.recipe.recipe import Recipe

        content = {} if base is None else base.model_dump(exclude_none=True)
        given = dict(self.given)
        if given.get("header") is True:
            content.pop("columns", None)
        if isinstance(given.get("missing"), dict):
            given["missing"] = {**content.get("missing", {}), **given["missing"]}
        if isinstance(given.get("date_format"), dict) and isinstance(content.get("date_format"), dict):
            given["date_format"] = {**content["date_format"], **given["date_format"]}
        try:
            return InputChoice(**{**content, **given})
        except ValidationError as error:
            raise InputError(explain(error, Recipe, "input")) from None


def _formats(texts: list[str]) -> str | dict[str, str]:
    """One format, or formats of columns."""
    from microagg.errors import InputError

    pairs = [text.partition("=") for text in texts]
    if len(texts) == 1 and not pairs[0][1]:
        return texts[0]
    if not all(mark for _, mark, _ in pairs):
        raise InputError("--date-format is given once, or for each column: --date-format birth=%d/%m/%Y")
    return {name: pattern for name, _, pattern in pairs}


def _codes(texts: list[str]) -> dict[str, list[Any]]:
    from microagg.errors import InputError

    codes: dict[str, list[Any]] = {}
    for text in texts:
        name, mark, listed = text.rpartition("=")
        if not mark or not listed:
            raise InputError("--missing-codes names a column and its codes: --missing-codes age=-999,unknown")
        codes.setdefault(name, []).extend(_code(word.strip()) for word in listed.split(","))
    return codes


def _code(word: str) -> int | float | str:
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        return number if math.isfinite(number) else word
    return word


def takes_input_flags(command: Callable[..., R]) -> Callable[..., R]:
    """Add the flags to a command; it gets them together, as the argument `flags`."""
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    own = [one.replace(annotation=hints[name]) for name, one in signature.parameters.items() if name != "flags"]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]

    @functools.wraps(command)
    def with_flags(*args: Any, **values: Any) -> R:
        flags = InputFlags.of({name: values.pop(name, None) for name in _OPTIONS})
        return command(*args, flags=flags, **values)

    with_flags.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    with_flags.__annotations__ = {name: kind for name, kind in hints.items() if name != "flags"} | _OPTIONS
    return with_flags
