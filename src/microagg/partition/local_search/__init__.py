"""The search for near-optimal cells: where it starts, how far it goes, how cells are recombined, what is proved."""
