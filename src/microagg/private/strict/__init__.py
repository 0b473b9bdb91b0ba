"""A whole table under differential privacy of its original records: measured with noise, modelled, drawn anew."""
