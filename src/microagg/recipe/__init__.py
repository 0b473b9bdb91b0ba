"""The recipe: every choice of how a release is made, and what goes together."""
