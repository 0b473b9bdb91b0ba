"""MDAV and V-MDAV by scanning all remaining records in float64: the definition that the faster kernels must equal."""
