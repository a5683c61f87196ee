"""Rows of a table: what is none of its tickets and agents, and what the others say, put together."""
