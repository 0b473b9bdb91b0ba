"""Evaluations and reports of tables that lie in several files, and need not fit in memory."""
