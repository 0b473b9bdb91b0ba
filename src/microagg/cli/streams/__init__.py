"""Ways in and out of commands that are no files: standard input and output, tables of databases."""
