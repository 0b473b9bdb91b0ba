"""What combinations of quasi-identifiers give away, from counts alone: nothing here looks at a value."""
