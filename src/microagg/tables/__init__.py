"""Tables: any dataframe or file in, the same kind out."""
