"""Tables in databases, named by an address: read, and written back in one transaction."""
