"""Where a release is computed when its table does not fit in memory: one plan of cells, shared by all engines."""
