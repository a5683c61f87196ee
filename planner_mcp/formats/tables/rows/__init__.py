"""Rows of a table: which of them count, what they say, and which of them belong together."""
