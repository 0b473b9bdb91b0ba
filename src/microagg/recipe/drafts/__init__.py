"""Recipes that are guessed from a table, to be read and edited."""
