"""Pure vocabulary of routing: scenarios, problems, plans, and the proof of a plan. Knows `planner_mcp.errors` alone."""
