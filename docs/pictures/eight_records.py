"""Draw eight_records.svg, for docs/concepts/eight_records.md. Run: python docs/pictures/eight_records.py"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent))

import microagg
from methods import drawn

PEOPLE = {"age": [23, 25, 31, 34, 52, 55, 67, 70], "income": [1200, 1500, 2600, 2400, 3600, 3100, 1900, 1700]}
PLACE = Path(__file__).with_name("eight_records.svg")


def picture() -> str:
    """The SVG."""
    column = {"role": "quasi_identifier", "kind": "numeric"}
    recipe = microagg.Recipe(k=2, attributes=dict.fromkeys(PEOPLE, column), output={"order": "kept"})
    released = microagg.release(pa.table(PEOPLE), recipe).table.to_pydict()
    before, after = (np.column_stack([table[name] for name in PEOPLE]).astype(float) for table in (PEOPLE, released))
    return drawn("Eight people in four cells of two", before, after, linked=True, radius=4.5)


if __name__ == "__main__":
    PLACE.write_text(picture(), encoding="utf-8")
