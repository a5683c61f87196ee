"""Scenarios from tables, plans as tables and tracks: what people keep in files."""
