"""Compiles a scenario in the caller's units into a problem in integers."""
