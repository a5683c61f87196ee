"""Analyses beyond one plan: alternatives, comparison, bounds, convergence, and re-planning after a change."""
