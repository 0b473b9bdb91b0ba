"""Text files: how they are laid out, what their fields mean, and what in them is not what it seems."""
