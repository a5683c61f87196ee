"""The independent proof of a plan. Knows what a problem and a plan mean, and nothing of who made them."""
