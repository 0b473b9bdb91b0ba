"""File formats: how each is read and written."""
