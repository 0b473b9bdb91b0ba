"""``microagg budget`` and the commands below it."""
