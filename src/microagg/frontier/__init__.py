"""Many releases of one table: made, measured and set against each other."""
