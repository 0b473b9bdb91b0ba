"""What the pages of the studio are made of: templates, words, pictures, and sentences about what went wrong."""
