"""From bare routes to a plan with times, loads and reasons."""
