"""Solvers behind one interface. An engine knows `planner_mcp.routing` and nothing of jobs."""
