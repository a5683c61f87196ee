"""What a principal without `planner:sensitive` sees of scenarios, plans, jobs and events (SPEC R3)."""
