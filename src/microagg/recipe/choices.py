"""The tables of a recipe file: what each key may be, and what goes together within one table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from microagg.aggregate.content import Content
from microagg.recipe.open_table import OpenTable
from microagg.schema.attribute import Kind, Representative
from microagg.space.blocks import BlockForm
from microagg.space.guides import Guide, registered_guides
from microagg.space.guides.base import EVEN_WEIGHT
from microagg.space.standardize import Standardize

__all__ = [
    "AggregateChoice",
    "AggregateForm",
    "BlocksChoice",
    "Draws",
    "EngineChoice",
    "MissingChoice",
    "MissingPolicy",
    "SmallGroups",
    "SpaceChoice",
    "StrataChoice",
]


_Count = Annotated[int, Field(ge=10, strict=True)]


class MissingPolicy(StrEnum):
    """What becomes of records with a missing quasi-identifier."""

    ERROR = "error"
    OWN_CELL = "own_cell"
    IMPUTE = "impute"
    SUPPRESS = "suppress"


class SmallGroups(StrEnum):
    """What becomes of a group with fewer than k records."""

    REFUSE = "refuse"
    MERGE_SMALL = "merge_small"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpaceChoice(OpenTable):
    """``[space]``: the distance, and what guides it.

    Each registered guide adds a table of its own, ``[space.<name>]``; a recipe has at most one of them.

    Parameters
    ----------
    standardize : {"zscore", "minmax", "bounds", "none"}, default "zscore"
        How numbers of different units are made comparable before distances are taken. ``"zscore"`` divides by the
        standard deviation, ``"minmax"`` by the observed range, ``"bounds"`` by the declared range.
        Take care: with ``"none"`` the attribute with the largest numbers decides alone which records are alike.
    """

    keys_before_guides: ClassVar[int] = 1

    standardize: Standardize = Standardize.ZSCORE

    @classmethod
    def keys_of_guides(cls, guides: tuple[type[Guide], ...]) -> Mapping[str, Any]:
        return {guide.name: guide for guide in guides}

    @property
    def guide(self) -> Guide | None:
        """What guides the cells, with its settings; None if nothing does."""
        return next(iter(self.given_by_guides.values()), None)

    @property
    def weight_of_d_y(self) -> float:
        """How much D_Y counts in D when a release is measured."""
        return EVEN_WEIGHT if self.guide is None else self.guide.weight_of_d_y

    @model_validator(mode="after")
    def _one_guide(self) -> Self:
        chosen = [guide.name for guide in registered_guides() if getattr(self, guide.name) is not None]
        if len(chosen) > 1:
            raise ValueError(f"the space is guided in one way: keep one of {', '.join(chosen)}")
        return self


class AggregateForm(StrEnum):
    """What stands for the records of a cell: one representative, or records drawn from the cell's statistics."""

    REPRESENTATIVE = "representative"
    SAMPLED = "sampled"


class Draws(StrEnum):
    """What sampled records are drawn from: the moments of their cell, or values and intervals that many share."""

    MOMENTS = "moments"
    SHARED = "shared"


_RAREST = 10  # records that have a category, or k where that is less


class AggregateChoice(_Table):
    """``[aggregate]``: what a cell publishes, by kind of attribute.

    A number that many records share, like 0, stays as frequent in each cell of sampled records as it is.

    Parameters
    ----------
    form : {"representative", "sampled"}, default "representative"
        Whether all records of a cell publish one common value, or new records are drawn from the cell's statistics.
        Sampled records keep the spread within cells.
        Take care: sampled records are not k-anonymous. Their promise is weaker, and cannot be counted on the file.
    moments : {1, 2}, default 1
        What sampled numbers are drawn from. With 1 it is the mean and covariance of a cell (normal), with 2 also the
        skewness of each attribute (skew-normal).
    content : {"pure", "variances"}, default "pure"
        Whether sampled numbers of a record are drawn together, with their covariances, or each attribute alone.
        Take care: with ``"variances"`` relations between attributes within a cell are lost.
    numeric : {"mean", "median", "medoid"}, default "mean"
        What a cell publishes for numbers. A medoid is the value of the record in the middle of the cell.
        Take care: medians and medoids do not keep the overall mean, and a medoid is a real person's value.
    ordinal : {"mean", "median", "medoid"}, default "median"
        What a cell publishes for ordered categories; a mean is rounded to the nearest category.
    nominal : {"mode", "taxonomic", "medoid"}, optional
        What a cell publishes for categories without order: the most frequent one, or the one in the middle of the
        taxonomy. Left out, it is the latter where there is a taxonomy.
        Take care: the most frequent category of a cell makes rare categories vanish from the release.
    paired_with : list of str, optional
        Attributes that are published as they are, and that the draws of a cell are dealt to fit. It keeps the release
        useful for predicting these attributes.
        Take care: what can be predicted of people in the release is then predicted better, by intruders, too.
    draws : {"moments", "shared"}, optional
        What sampled records are drawn from. With ``"moments"`` it is the moments of their cell. With ``"shared"`` it
        is numbers that at least k records share, and mean and spread of intervals of at least k (with ``[unit]`` k
        counts units). How often a cell has each of them is kept, and labels follow a model with less noise than
        chance, so models learn more from the release. It needs `paired_with`. Left out, it is "shared" where the draws
        are paired and the table has at least 10 k records, and "moments" otherwise.
        Take care: with ``"shared"`` counts within a cell are kept and may be one, combinations equal those of records
        about as often as new records would, and standard errors of the labels are too small.
    share : int >= 2, optional
        For draws = "shared", which it chooses: how many records must share a number that is published as it is. Left
        out, it is k.
        Take care: numbers that fewer than k records share are then published. The statement names what that gives up.
    rare : int >= 1, optional
        For draws = "shared", which it chooses: categories of fewer records of the table are published as a more
        frequent one. Left out, it is 10, or k where that is less; 1 keeps all categories.
        Take care: rare categories vanish from the release, and with 1 a category that one record has is published.
    """

    form: AggregateForm = AggregateForm.REPRESENTATIVE
    moments: Annotated[int, Field(ge=1, le=2, strict=True)] = 1
    content: Content = Content.PURE
    numeric: Representative = Representative.MEAN
    ordinal: Representative = Representative.MEDIAN
    nominal: Representative | None = None
    paired_with: tuple[str, ...] = ()
    draws: Draws | None = None
    share: Annotated[int, Field(ge=2, strict=True)] | None = None
    rare: Annotated[int, Field(ge=1, strict=True)] | None = None

    @property
    def way_of_drawing(self) -> Draws | None:
        """What sampled records are drawn from, None of representatives; of a release its recipe has it written out."""
        if self.form is not AggregateForm.SAMPLED:
            return None
        return self.draws or Draws.MOMENTS

    def rarest(self, k: int) -> int:
        """How many records of the table a category needs to be published, as chosen or by default."""
        return min(_RAREST, k) if self.rare is None else self.rare

    @field_validator("paired_with", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.paired_with and self.form is not AggregateForm.SAMPLED:
            raise ValueError("paired_with is for form = 'sampled'; a representative stands beside all of its cell")
        for kind in Kind:
            choice = getattr(self, kind)
            allowed = Representative.allowed_for(kind)
            if choice is not None and choice not in allowed:
                words = ", ".join(repr(str(word)) for word in allowed)
                raise ValueError(f"{kind} must be one of {words}")
            if self.form is AggregateForm.SAMPLED and choice is not type(self).model_fields[kind].default:
                raise ValueError(f"{kind} is for form = 'representative'; sampled records have none")
        for key in ("moments", "content", "draws"):
            chosen = getattr(self, key) != type(self).model_fields[key].default
            if chosen and self.form is not AggregateForm.SAMPLED:
                raise ValueError(f"{key} is for form = 'sampled'")
            if chosen and key != "draws" and self.draws is Draws.SHARED:
                raise ValueError(f"{key} is for draws = 'moments'; draws of what records share have no moments")
        if self.draws is Draws.SHARED and not self.paired_with:
            raise ValueError(
                "draws = 'shared' needs attributes that the draws are to fit. Name them: paired_with = ..."
            )
        for key in ("share", "rare"):
            if getattr(self, key) is None or self.draws is Draws.SHARED:
                continue
            if self.draws is Draws.MOMENTS or not self.paired_with:
                raise ValueError(f"{key} is for draws = 'shared', which needs paired_with")
            if self.moments > 1 or self.content is not Content.PURE:
                raise ValueError(f"{key} is for draws = 'shared', and moments and content are for draws = 'moments'")
        return self


class MissingChoice(_Table):
    """``[missing]``: the policy, and what becomes of patterns of missing values with fewer than k records.

    Parameters
    ----------
    policy : {"error", "own_cell", "impute", "suppress"}, default "error"
        What becomes of records with a missing quasi-identifier. ``"error"`` refuses the table, ``"own_cell"`` puts
        together records that lack the same values, ``"impute"`` fills in medians and frequent categories, and
        ``"suppress"`` leaves such records out.
        Take care: imputed values look like real ones, and suppressed records may differ from the others, so that
        means of the release are off.
    small : {"refuse", "merge_small"}, default "refuse"
        What becomes of a pattern of missing values that fewer than k records have. Either nothing is released, or
        such records join others.
        Take care: a merged cell publishes a value only where all its records have one, so values are lost.
    """

    policy: MissingPolicy = MissingPolicy.ERROR
    small: SmallGroups = SmallGroups.REFUSE


class StrataChoice(_Table):
    """``[strata]``: attributes that no cell crosses, and what becomes of strata with fewer than k records.

    Parameters
    ----------
    by : list of str, optional
        Quasi-identifiers that no cell crosses: a cell holds records of one value only, such as one region, which is
        then published unchanged.
        Take care: every stratum needs k records, and the smaller strata are, the more is lost in them.
    small : {"refuse", "merge_small"}, default "refuse"
        What becomes of a stratum with fewer than k records. Either nothing is released, or small strata are merged.
    """

    by: tuple[str, ...] = ()
    small: SmallGroups = SmallGroups.REFUSE


class BlocksChoice(_Table):
    """``[blocks]``: attributes split into blocks, each with cells of its own.

    Parameters
    ----------
    form : {"one", "given", "contiguous", "correlated", "spread"}, default "one"
        How quasi-identifiers are split into blocks. Fewer attributes per block lose less.
        Take care: with several blocks each block is k-anonymous, but their combination can single out a record.
    size : int >= 1, optional
        How many attributes a block has, where the form does not name them.
    attributes : list of lists of str, optional
        The blocks of form ``"given"``: every quasi-identifier once.
    """

    form: BlockForm = BlockForm.ONE
    size: Annotated[int, Field(ge=1, strict=True)] | None = None
    attributes: tuple[tuple[str, ...], ...] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        needs_size = self.form in (BlockForm.CONTIGUOUS, BlockForm.CORRELATED, BlockForm.SPREAD)
        if needs_size and self.size is None:
            raise ValueError(f"form = '{self.form}' needs the number of attributes per block: size = 3")
        if self.form is BlockForm.GIVEN and self.attributes is None:
            raise ValueError("form = 'given' needs the blocks: attributes = [['a', 'b'], ['c']]")
        if self.size is not None and not needs_size:
            raise ValueError(f"size is not for form = '{self.form}'")
        if self.attributes is not None and self.form is not BlockForm.GIVEN:
            raise ValueError("attributes is for form = 'given'")
        return self


class EngineChoice(BaseModel):
    """``[engine]``: sizes of the parts. Cores, memory and places are not in it, since they change nothing.

    Parameters
    ----------
    shard_records : int, default 500_000
        About how many records of a table in parts are held in memory together.
        Take care: it changes which records share a cell, so releases with different sizes differ.
    block_records : int, default 50_000
        The most records that cells are formed of together; smaller blocks are faster and lose a little more.
    sample_per_shard : int, default 2_000
        How many records of each part decide where it ends.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    shard_records: _Count = 500_000
    block_records: _Count = 50_000
    sample_per_shard: _Count = 2_000
