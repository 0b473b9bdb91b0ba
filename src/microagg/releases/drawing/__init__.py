"""Records drawn from cells, where that takes a way of its own."""
