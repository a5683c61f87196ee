"""Solvers behind one interface. An engine knows `planner_mcp.vrp` and nothing of jobs."""
