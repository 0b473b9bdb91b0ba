"""Errors found in the papers, each with the smallest example that shows it; the examples are run by the tests."""
