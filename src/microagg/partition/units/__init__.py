"""Cells of at least k units, where a unit (a person, a household) has several records."""
