"""Recombination: OR-Tools chooses the best plan among the routes that all searches found."""
