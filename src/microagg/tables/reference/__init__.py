"""The field's reference tables, and a generated one for demonstrations."""
