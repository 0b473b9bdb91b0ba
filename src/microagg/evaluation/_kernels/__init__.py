"""Compiled loops of the measures: arrays in, numbers out, no validation."""
