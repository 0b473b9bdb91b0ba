"""Telling: pictures of results; nothing is computed here."""
