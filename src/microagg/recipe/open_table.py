"""Tables of the recipe that have a key for each registered guide.

The registry may grow while microagg runs, but pydantic fixes the fields of a model when its class is made. So the class
of such a table has only the fields that never change, and keeps the others as pydantic keeps extra values. What may be
there is decided when a table is validated: by a closed model with all fields, made anew when the registry has changed.
So errors are those of an ordinary model: they name the key, and unknown keys are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from keyword import iskeyword
from typing import Any, ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)

from microagg.space.guides import Guide, registered_guides

__all__ = ["OpenTable"]


class OpenTable(BaseModel):
    """A table with fields of its own, and keys that registered guides add.

    A key that a guide adds is read as an attribute, and is None if the recipe does not have it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    keys_before_guides: ClassVar[int]
    """How many of the table's own keys come before those of guides, wherever keys are listed."""

    @classmethod
    def keys_of_guides(cls, guides: tuple[type[Guide], ...]) -> Mapping[str, Any]:
        """The keys that guides add, each with the type of its value."""
        raise NotImplementedError

    @classmethod
    def closed(cls) -> type[BaseModel]:
        """The model that validates this table as the registry stands: it has every key, and allows no other."""
        return _closed(cls, registered_guides())

    @classmethod
    def known_keys(cls) -> list[str]:
        """All keys of the table, as a recipe file spells them."""
        own = [field.alias or name for name, field in cls.model_fields.items()]
        before = cls.keys_before_guides
        return [*own[:before], *cls.keys_of_guides(registered_guides()), *own[before:]]

    @property
    def given_by_guides(self) -> Mapping[str, Any]:
        """The keys of guides that the recipe has, with their values."""
        return {key: value for key, value in (self.__pydantic_extra__ or {}).items() if value is not None}

    @model_validator(mode="wrap")
    @classmethod
    def _ask_the_registry(cls, value: Any, handler: Callable[[Any], Self]) -> Self:
        if cls.model_config["extra"] == "forbid" or isinstance(value, cls):  # closed, or validated before
            return handler(value)
        checked = cls.closed().model_validate(value)
        fields = type(checked).model_fields
        given = {name: getattr(checked, name) for name in checked.model_fields_set}
        return handler(
            {
                fields[name].alias or name: one
                for name, one in given.items()
                if name in cls.model_fields or one is not None
            }
        )

    @model_serializer(mode="wrap")
    def _in_order(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        plain: dict[str, Any] = handler(self)
        ordered = {key: plain[key] for key in self.known_keys() if key in plain}
        return ordered | plain

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            key = name.removesuffix("_")
            given = self.__pydantic_extra__ or {}
            if key in given:
                return given[key]
            if key in self.keys_of_guides(registered_guides()):
                return None
        return super().__getattr__(name)  # type: ignore[misc]


@lru_cache(maxsize=16)
def _closed(table: type[OpenTable], guides: tuple[type[Guide], ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for key, kind in table.keys_of_guides(guides).items():
        fields[_python_name(key)] = (kind | None, Field(default=None, alias=key))
    return create_model(
        table.__name__,
        __base__=table,
        __module__=table.__module__,
        __cls_kwargs__={"extra": "forbid", "populate_by_name": True},
        **fields,
    )


def _python_name(key: str) -> str:
    """The name of a field: words of Python, such as ``lambda``, end with an underscore."""
    return f"{key}_" if iskeyword(key) else key
