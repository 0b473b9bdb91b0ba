"""MDAV by scanning all remaining rows in whole numbers of 16 bits, with float64 deciding."""
