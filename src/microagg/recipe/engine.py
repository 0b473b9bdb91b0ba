"""``[engine]``: how a table that is released in parts is cut; it changes which records share a cell."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["EngineChoice"]

_Count = Annotated[int, Field(ge=10, strict=True)]


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
