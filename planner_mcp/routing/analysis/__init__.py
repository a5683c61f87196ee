"""What a planner asks beyond one plan: what else, what if, why not, how far from the best."""
