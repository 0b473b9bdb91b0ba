"""The sections of a report: each takes the material and returns plain numbers and words, the same for HTML and JSON."""
