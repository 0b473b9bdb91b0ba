"""Any dataframe in, the same kind out: tables and their columns, whatever library they came from."""

from microagg.tables.frames.column import Column
from microagg.tables.frames.frame import Frame
from microagg.tables.frames.libraries import table_from_arrow, table_from_rows

__all__ = ["Column", "Frame", "table_from_arrow", "table_from_rows"]
