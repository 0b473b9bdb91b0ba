"""Stage 2: the matrix in which closeness of records is judged."""
