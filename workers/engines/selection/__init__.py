"""Which engine solves a problem: the registry, and the portfolio behind `auto`."""
