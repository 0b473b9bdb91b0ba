"""A dataframe in, a dataframe out: five people at least behind every published combination.

Run: python examples/first_release.py
"""

from __future__ import annotations

import microagg
from microagg.tables.reference.generated import generate_survey

survey = generate_survey(1_000)  # nobody in it exists; a pandas or polars dataframe would do as well

recipe = microagg.Recipe(
    k=5,
    missing={"policy": "own_cell", "small": "merge_small"},
    attributes={
        "person_id": "identifier",  # dropped
        "age": {"role": "quasi_identifier", "kind": "numeric", "bounds": [18, 110]},
        "region": {"role": "quasi_identifier", "kind": "nominal"},
        "education": {
            "role": "quasi_identifier",
            "kind": "ordinal",
            "categories": ["primary", "secondary", "vocational", "bachelor", "master"],
        },
        "occupation": {"role": "quasi_identifier", "kind": "nominal"},
        "hours": {"role": "quasi_identifier", "kind": "numeric"},
        "income": "confidential",  # published as it is
        "health": "confidential",
    },
)
release = microagg.release(survey, recipe)

print(release.table.slice(0, 5).to_pylist()[0])
print(f"{release.n_cells} cells, information loss {release.information_loss:.1f} %")
print(release.statement)
