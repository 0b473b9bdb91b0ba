"""Differentially private methods: what each may know, how it spends its budget, what it publishes."""
