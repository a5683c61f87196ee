"""Columns of a table: the field of each, by its header and by its cells, and the choices of a caller."""
