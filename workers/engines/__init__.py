"""Solvers behind one interface. An engine knows `planner_mcp.vrp` and nothing else of the project."""
