"""How results look in a notebook: small tables and pictures, in which nothing is markup but what is meant so."""
