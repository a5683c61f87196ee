"""Solver engines behind one interface. They import `planner_mcp.routing` and know nothing of jobs."""
