"""A schema: every column of a table, declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from microagg.errors import TableError, did_you_mean
from microagg.schema.attribute import Attribute, Role

__all__ = ["Schema"]

_SHOWN = 12  # columns that an error names


@dataclass(frozen=True)
class Schema:
    """The attributes of a table by name."""

    attributes: Mapping[str, Attribute]

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
        """Refuse a table with a column that is not declared, or without one that is."""
        problems = []
        there = set(names)
        undeclared = [name for name in names if name not in self.attributes]
        unknown = [name for name in self.attributes if name not in there]
        for name in undeclared[:_SHOWN]:
            problems.append(
                f"column {name!r} is not declared. Add to the recipe:\n"
                f"    [attributes.{toml_key(name)}]\n"
                f'    role = "..."   # one of: {", ".join(Role)}'
            )
        if len(undeclared) > _SHOWN:
            problems.append(f"{len(undeclared) - _SHOWN:,} more columns are not declared")
        for name in unknown[:_SHOWN]:
            hint = did_you_mean(name, undeclared or names)
            problems.append(f"the recipe declares {name!r}, but the table has no such column.{hint}")
        if len(unknown) > _SHOWN:
            problems.append(f"the recipe declares {len(unknown) - _SHOWN:,} more columns that the table does not have")
        if problems:
            raise TableError("\n".join(problems))


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
