"""MDAV and V-MDAV by searching a wide kd-tree, with float64 deciding."""
