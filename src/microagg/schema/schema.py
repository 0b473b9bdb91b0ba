"""A schema: every column of a table, declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from microagg.errors import ParameterError, TableError, did_you_mean
from microagg.schema.attribute import Attribute, Role

__all__ = ["Schema", "toml_key"]

_MOST_TOLD = 12
_MOST_COMPARED = 1000


@dataclass(frozen=True)
class Schema:
    """The attributes of a table by name."""

    attributes: Mapping[str, Attribute]

    def __post_init__(self) -> None:
        if not all(isinstance(one, Attribute) for one in self.attributes.values()):
            raise ParameterError(
                "a Schema takes microagg.Attribute(role=..., kind=...) by name; a Recipe takes plain dicts, too"
            )

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.attributes)

    def of_role(self, *roles: Role) -> tuple[str, ...]:
        """Names of the attributes that have one of `roles`, in the order declared."""
        known = self._roles
        if roles not in known:
            known[roles] = tuple(name for name, attribute in self.attributes.items() if attribute.role in roles)
        return known[roles]

    @cached_property
    def _roles(self) -> dict[tuple[Role, ...], tuple[str, ...]]:
        """What :meth:`of_role` was asked for: with thousands of columns, asking for each of them would take minutes."""
        return {}

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self.of_role(Role.QUASI_IDENTIFIER)

    @property
    def published(self) -> tuple[str, ...]:
        """All but the identifiers."""
        return self.of_role(Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a table with a column that is not declared, or without one that is.

        Names of the table are shown only if it shares names with the recipe: those of a file without a header are
        values of its first record.
        """
        undeclared, absent = self._differences(names)
        if not undeclared and not absent:
            return
        self.check_header(names)
        problems = [
            f"column {name!r} is not declared. Add to the recipe:\n"
            f"    [attributes.{toml_key(name)}]\n"
            f'    role = "..."   # one of: {", ".join(Role)}'
            for name in undeclared[:_MOST_TOLD]
        ]
        for name in absent[:_MOST_TOLD]:
            hint = did_you_mean(name, undeclared[:_MOST_COMPARED] or names[:_MOST_COMPARED])
            problems.append(f"the recipe declares {name!r}, but the table has no such column.{hint}")
        for left, what in ((undeclared, "are not declared"), (absent, "are declared, but not in the table")):
            if len(left) > _MOST_TOLD:
                problems.append(f"{len(left) - _MOST_TOLD} more columns {what}")
        raise TableError("\n".join(problems))

    def check_header(self, names: Sequence[str]) -> None:
        """Refuse a table that shares hardly a name with the recipe: its header may be a record, which is not quoted."""
        if not self.may_quote(names):
            undeclared, absent = self._differences(names)
            raise TableError(self._strangers(len(names), len(undeclared), absent))

    def _differences(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Names that are not declared, and declared ones that are not there."""
        there = set(names)
        undeclared = [name for name in names if name not in self.attributes]
        return undeclared, [name for name in self.attributes if name not in there]

    def may_quote(self, names: Sequence[str]) -> bool:
        """True if a table shares at least half of its names, or of the declared ones, with the recipe."""
        shared = sum(name in self.attributes for name in names)
        return shared > 0 and 2 * shared >= min(len(names), len(self.attributes))

    def _strangers(self, n_columns: int, n_undeclared: int, absent: Sequence[str]) -> str:
        named = ", ".join(repr(name) for name in absent[:_MOST_TOLD]) + (" ..." if len(absent) > _MOST_TOLD else "")
        return (
            f"{n_undeclared} of {n_columns} columns of the table are not declared, and it lacks {len(absent)} of "
            f"{len(self.attributes)} that the recipe declares: {named}. Its own names are not shown: they may be "
            "values of a record. If the file has no header, or another separator than expected, add to the recipe:"
            "\n"
            '    [input]\n    header = false\n    columns = ["...", ...]   # in the order of the file\n'
            "or separator = ..., skip_rows = ...; 'microagg init' finds out which"
        )


def toml_key(name: str) -> str:
    """Write a name as a TOML key, quoted where it must be.

    Examples
    --------
    >>> toml_key("age"), toml_key("net income")
    ('age', '"net income"')
    """
    import json

    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
