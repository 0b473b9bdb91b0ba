"""Commands on tables that are released in parts."""
