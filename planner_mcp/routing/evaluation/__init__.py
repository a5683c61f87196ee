"""Turns routes into a plan with times, loads, costs and reasons."""
