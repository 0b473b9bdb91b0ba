"""What `microagg explain` says: one text for every name, from where that name is defined."""
