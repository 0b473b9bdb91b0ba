"""The recipe: the whole choice of how to make a release, in one file."""

from __future__ import annotations

import numbers
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from microagg._notebook.html import html_of_rows, html_of_sections
from microagg.errors import RecipeError, did_you_mean
from microagg.methods.catalogue import find_method, method_named
from microagg.methods.method import Method
from microagg.recipe.about import AboutChoice
from microagg.recipe.choices import (
    AggregateChoice,
    AggregateForm,
    BlocksChoice,
    EngineChoice,
    MissingChoice,
    SpaceChoice,
    StrataChoice,
)
from microagg.recipe.explain import explain, explain_toml
from microagg.recipe.guide_rules import check_guides, check_swept_guides, guiding_attributes
from microagg.recipe.input import InputChoice
from microagg.recipe.method_rules import check_method
from microagg.recipe.output import OutputChoice
from microagg.recipe.privacy import PrivacyChoice
from microagg.recipe.protect import (
    ProtectChoice,
    RearrangeChoice,
    check_protection,
    protection_changes,
    rearranges,
)
from microagg.recipe.sweep import SweepChoice
from microagg.recipe.unit import UnitChoice, check_unit
from microagg.schema.attribute import Attribute, Kind, Representative, Role
from microagg.schema.schema import Schema
from microagg.schema.taxonomy import Taxonomy
from microagg.schema.toml_items import toml_items

__all__ = ["Recipe"]


_DEEPEST, _LONGEST = 20, 1023


def _plain_integer(value: Any) -> Any:
    """Whole numbers of other libraries, such as NumPy's, are whole numbers."""
    is_integer = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return int(value) if is_integer else value


class Recipe(BaseModel):
    """Everything that decides a release, validated.

    Read one with :meth:`load`, or build it from keyword arguments.

    Parameters
    ----------
    k : int >= 2
        Smallest number of records that may share a combination of quasi-identifiers. A larger k protects more and
        loses more; 5 to 10 is usual.
        Take care: k counts records. If a person has several, k records are fewer than k people: ``[unit]`` says whose
        each record is, and k then counts people.
    attributes : dict of name to Attribute (or its fields, or just its role)
        Every column of the table, with what it means for disclosure. A column that is not declared is an error.
    method : str, default "mdav"
        How records are protected: an entry of the catalogue (``microagg methods``).
        Take care: methods promise different things, and some promise no k-anonymity. Read what the statement says.
    partition : dict, optional
        Further parameters of the way in which the method forms cells. Which there are depends on the method.
    about, unit, space, aggregate, missing, strata, blocks, protect, rearrange : optional
    input, output, engine, privacy, sweep : optional
        The tables of the recipe file of the same names.
    sampling_weight : str, optional
        A column of sampling weights. Means, medians and modes are then weighted, so that a release speaks for the
        population and not for the sample.
        Take care: a weight that is published can single out a record if it is rare.

    Examples
    --------
    >>> recipe = Recipe(k=3, attributes={"name": "identifier", "age": {"role": "quasi_identifier", "kind": "numeric"}})
    >>> recipe.schema.quasi_identifiers
    ('age',)
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str = "mdav"
    k: Annotated[int, Field(strict=True), BeforeValidator(_plain_integer)]
    sampling_weight: str | None = None
    about: AboutChoice = AboutChoice()
    unit: UnitChoice | None = None
    partition: dict[str, Any] = Field(default_factory=dict)
    space: SpaceChoice = SpaceChoice()
    aggregate: AggregateChoice = AggregateChoice()
    missing: MissingChoice = MissingChoice()
    strata: StrataChoice = StrataChoice()
    blocks: BlocksChoice = BlocksChoice()
    protect: dict[str, ProtectChoice] = Field(default_factory=dict)
    rearrange: RearrangeChoice = RearrangeChoice()
    input: InputChoice = InputChoice()
    output: OutputChoice = OutputChoice()
    engine: EngineChoice = EngineChoice()
    privacy: PrivacyChoice | None = None
    sweep: SweepChoice | None = None
    attributes: dict[str, Attribute]

    def __init__(self, /, **values: Any) -> None:
        _refuse_depth_and_size(values, "recipe")
        entry = find_method(values.get("method", ""))
        if entry is not None:
            if "k" not in values and not entry.has_cells:
                values["k"] = 1  # every record alone
            values = {**entry.tables, **values}
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise RecipeError(explain(error, Recipe)) from None

    @field_validator("attributes", mode="before")
    @classmethod
    def _role_alone(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {name: {"role": entry} if isinstance(entry, str) else entry for name, entry in value.items()}

    @field_validator("k")
    @classmethod
    def _at_least_two(cls, value: int, info: ValidationInfo) -> int:
        least = 2 if method_named(info.data.get("method", "mdav")).has_cells else 1
        if value < least:
            raise PydanticCustomError("least", f"input should be greater than or equal to {least}")
        return value

    @field_validator("method")
    @classmethod
    def _known(cls, value: str) -> str:
        return method_named(value).name

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if not self.schema.quasi_identifiers:
            raise ValueError("no attribute has role = 'quasi_identifier': there would be nothing to protect")
        for name in self.strata.by:
            if name not in self.attributes or self.attributes[name].role is not Role.QUASI_IDENTIFIER:
                hint = did_you_mean(name, self.schema.quasi_identifiers)
                raise ValueError(f"strata.by names {name!r}, which is not a declared quasi_identifier.{hint}")
        weight = self.sampling_weight
        if weight is not None and weight not in self.attributes:
            raise ValueError(f"sampling_weight: {weight!r} is not declared.{did_you_mean(weight, self.attributes)}")
        if weight is not None and self.attributes[weight].role is Role.QUASI_IDENTIFIER:
            raise ValueError(f"sampling_weight: {weight!r} is a quasi_identifier; a weight cannot be averaged away")
        chosen = [name for name, attribute in self.attributes.items() if attribute.representative is not None]
        if self.aggregate.form is AggregateForm.SAMPLED and chosen:
            raise ValueError(f"attributes.{chosen[0]}.representative is for aggregate.form = 'representative'")
        for key in ("share", "rare"):
            count = getattr(self.aggregate, key)
            if count is not None and count > self.k:
                raise ValueError(f"aggregate.{key} = {count} asks for more than k = {self.k} records: leave it out")
        check_guides(self)
        check_method(self)
        check_protection(self)
        check_unit(self)
        for key, names in self.input.columns_named.items():
            unknown = [name for name in names if name not in self.attributes]
            if unknown:
                hint = did_you_mean(unknown[0], self.attributes)
                raise ValueError(f"input.{key} names {unknown[0]!r}, which is not declared.{hint}")
        check_swept_guides(self)
        return self

    @field_serializer("attributes")
    def _plain_attributes(self, attributes: dict[str, Attribute]) -> dict[str, Any]:
        plain = {}
        for name, attribute in attributes.items():
            entry = attribute.model_dump(
                mode="json", exclude_defaults=True, exclude={"taxonomy", "bounds", "categories"}
            )
            if attribute.categories is not None:
                entry["categories"] = list(attribute.categories)
            if attribute.bounds is not None:
                entry["bounds"] = list(attribute.bounds)
            if attribute.taxonomy is not None:
                entry["taxonomy"] = dict(attribute.taxonomy.parents)
            plain[name] = entry
        return plain

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        """The attributes, by role; a method that protects the whole table takes all for quasi-identifiers."""
        if not self.entry.whole_table:
            return Schema(self.attributes)
        beside = (Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL)
        as_protected = {"role": Role.QUASI_IDENTIFIER}
        return Schema(
            {
                name: attribute.model_copy(update=as_protected) if attribute.role in beside else attribute
                for name, attribute in self.attributes.items()
            }
        )

    @cached_property
    def entry(self) -> Method:
        """The method, as the catalogue has it; it goes along to processes that have not registered it."""
        return method_named(self.method)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields replaced, not validated; :meth:`changed` validates."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("schema", "entry"):  # found from the fields as they were
            copied.__dict__.pop(name, None)
        return copied

    @property
    def rows(self) -> str:
        """What a row of a release is: "records", or of a private release that has none, "drawn", "means" or "ranks"."""
        if self.privacy is None:
            return "records"
        private = self.entry.private
        form = self.privacy.form or private.forms[0]
        return "records" if form in private.linked_forms else str(private.rows.get(form, "ranks"))

    @property
    def guides(self) -> tuple[str, ...]:
        """Attributes that help to form the cells without being replaced by them; none unless the space is guided."""
        return guiding_attributes(self)

    def representative_of(self, name: str) -> Representative:
        """What a cell publishes for this attribute."""
        attribute = self.attributes[name]
        if attribute.representative is not None:
            return attribute.representative
        if attribute.kind is not Kind.NOMINAL:
            choice: Representative = getattr(self.aggregate, str(attribute.kind))
            return choice
        if self.aggregate.nominal is Representative.TAXONOMIC or self.aggregate.nominal is None:
            return Representative.TAXONOMIC if attribute.taxonomy is not None else Representative.MODE
        return self.aggregate.nominal

    def changed(self, changes: Mapping[str, Any]) -> Recipe:
        """A recipe with some keys replaced, named by path: ``{"k": 10, "space.standardize": "minmax"}``."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        for path, value in changes.items():
            first, *rest = path.split(".")
            fields[first] = _with_change(fields.get(first), rest, value)
        if "method" in changes:  # tables that were never spoken of are the new method's to fill
            entry, fresh = find_method(changes["method"]), type(self).model_fields
            if entry is not None and not entry.has_cells and "k" not in changes:
                fields["k"] = 1  # every record alone
            for name in entry.tables if entry is not None else ():
                if fields[name] == fresh[name].default:
                    del fields[name]
        return Recipe(**fields)

    def protecting(self, **requirements: Any) -> Recipe:
        """A recipe with requirements (``t_closeness=0.15``) of all that it protects, or else all that is confidential.

        None leaves a requirement as it is.
        """
        try:
            return self.changed(protection_changes(self, requirements))
        except ValueError as error:
            raise RecipeError(str(error)) from None

    @classmethod
    def load(cls, path: str | Path) -> Recipe:
        """Read a recipe from a TOML file; taxonomy files are looked for beside it."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise RecipeError(f"no recipe file named {path.name!r}. 'microagg init' writes one") from None
        except (UnicodeDecodeError, IsADirectoryError):
            raise RecipeError(f"the recipe {path.name!r} is not a UTF-8 text file") from None
        return cls.loads(text, folder=path.parent, name=path.name)

    @classmethod
    def loads(cls, text: str, *, folder: str | Path = ".", name: str = "recipe") -> Recipe:
        """Read a recipe from TOML text; taxonomy files are looked for in `folder`."""
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RecipeError(f"{name}: {explain_toml(text, error)}") from None
        except RecursionError:
            raise RecipeError(f"{name}: nests too deep: a recipe has tables of a few levels") from None
        except ValueError:
            raise RecipeError(f"{name}: has a number with too many digits") from None
        _refuse_depth_and_size(content, name)
        attributes = content.get("attributes")
        for column, attribute in attributes.items() if isinstance(attributes, dict) else ():
            if isinstance(attribute, dict) and isinstance(attribute.get("taxonomy"), str):
                try:
                    attribute["taxonomy"] = Taxonomy.load_beside(folder, attribute["taxonomy"])
                except RecipeError as error:
                    raise RecipeError(f"attributes.{column}.taxonomy: {error}") from None
        return cls(**content)

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain dicts and lists, defaults included; taxonomies are written out.

        Tables about what is protected are left out where nothing is, sizes of parts where nobody chose them, and what
        the release is called where nobody says it.
        """
        content = self.model_dump(mode="json", exclude_none=True, by_alias=True)
        unused = [] if self.protect else ["protect"]
        unused += [] if rearranges(self) else ["rearrange"]
        unused += ["engine"] if self.engine == EngineChoice() else []
        unused += ["about"] if self.about == AboutChoice() else []
        return {key: value for key, value in content.items() if key not in unused}

    def dumps(self) -> str:
        """The recipe as TOML text that :meth:`loads` reads back to an equal recipe."""
        import tomlkit

        content = self.model_dump(mode="python", exclude_none=True, exclude_defaults=True, by_alias=True)
        return tomlkit.dumps(toml_items(content | {"k": self.k}))

    def __repr__(self) -> str:
        return f"<Recipe: {self.method}, k = {self.k}, {len(self.attributes)} columns>"

    def _repr_html_(self) -> str:
        rows = [
            (name, one.role, one.kind or "", "" if one.bounds is None else " to ".join(map(str, one.bounds)))
            for name, one in self.attributes.items()
        ]
        others = self.model_dump(mode="json", exclude_none=True, exclude_defaults=True, by_alias=True)
        chosen = [(key, value) for key, value in others.items() if key not in ("attributes", "method", "k")]
        tables = [html_of_rows(("column", "role", "kind", "bounds"), rows)]
        tables += [html_of_rows(("table", "what is chosen"), chosen)] if chosen else []
        return html_of_sections(f"Recipe: {self.method}, k = {self.k}", *tables)

    def save(self, path: str | Path) -> None:
        """Write the recipe as a TOML file."""
        Path(path).write_text(self.dumps(), encoding="utf-8")


def _refuse_depth_and_size(content: Any, name: str) -> None:
    """Refuse nesting that no recipe has, before code that calls itself meets it, and numbers beyond all floats."""
    level = [content]
    for _ in range(_DEEPEST):
        if any(isinstance(one, int) and one.bit_length() > _LONGEST for one in level):
            raise RecipeError(f"{name}: has a number beyond 1e308, which nothing can be computed with")
        below = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list | tuple)
        ]
        level = [inner for one in below for inner in one]
    if level:
        raise RecipeError(f"{name}: nests too deep: a recipe has tables of a few levels")


def _with_change(content: Any, path: list[str], value: Any) -> Any:
    """A table of the recipe with the key at `path` replaced, and all else as it was."""
    if not path:
        return value
    table = content.model_dump(by_alias=True) if isinstance(content, BaseModel) else dict(content or {})
    return {**table, path[0]: _with_change(table.get(path[0]), path[1:], value)}
