"""Stage 4: what a cell says in place of its records."""
