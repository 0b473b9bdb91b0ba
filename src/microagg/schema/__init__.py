"""Stage 1: what each column is (role, kind, bounds, taxonomy) and its values on that scale."""
