"""What is known of a whole table before any record is put anywhere: counts, constants, groups, and the plan of shards."""
