"""Tables that lie in several files, or on heaps of rows."""
