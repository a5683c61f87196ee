"""Pure vocabulary of routing: scenarios, problems, plans, and the proof of a plan.

Builds on `planner_mcp.errors` and `planner_mcp.text` alone.
"""
