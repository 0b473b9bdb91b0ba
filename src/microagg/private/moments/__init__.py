"""Cross-moment microaggregation under differential privacy."""
