"""The command of the studio."""
