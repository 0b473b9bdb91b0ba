"""Any dataframe in, the same kind out: tables and their columns, whatever library they came from."""

from microagg.tables.frames.column import Column
from microagg.tables.frames.frame import Frame
from microagg.tables.frames.libraries import table_from_arrow, table_from_rows
from microagg.tables.phrases import columns_phrase

__all__ = ["Column", "Frame", "columns_phrase", "table_from_arrow", "table_from_rows"]
