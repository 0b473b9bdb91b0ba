"""What is known of a whole table before any record is put anywhere, and the plan of shards that is made of it."""
