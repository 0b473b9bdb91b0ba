"""Check a published folder as anybody can: from what is written there alone."""
