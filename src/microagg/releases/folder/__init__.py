"""The folder of a release: written whole or not at all, signed, with a receipt for its holder."""
