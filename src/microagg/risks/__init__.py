"""What a table gives away as it is, before any release: counted where it can be, estimated where it must be."""
