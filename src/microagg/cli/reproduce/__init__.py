"""``microagg reproduce``."""
