"""Verifies plans independently: knows problem and plan, and no code that evaluates or finds plans."""
