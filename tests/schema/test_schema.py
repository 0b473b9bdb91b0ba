"""A schema is made of declared attributes, and says so to whoever gives it something else."""

import pytest

import microagg
from microagg.errors import ParameterError


@pytest.mark.parametrize("given", ["confidential", {"role": "quasi_identifier", "kind": "numeric"}])
def test_what_is_no_attribute_is_refused_when_the_schema_is_made(given):
    with pytest.raises(ParameterError, match=r"a Schema takes microagg\.Attribute"):
        microagg.Schema({"age": given})


def test_a_schema_of_attributes_measures_a_table():
    import pyarrow as pa

    table = pa.table({"age": [20, 20, 60, 60]})
    schema = microagg.Schema({"age": microagg.Attribute(role="quasi_identifier", kind="numeric")})
    assert microagg.evaluate(table, table, schema, measures=["k"])["k"].value == 2
