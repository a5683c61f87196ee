"""Pure domain model of routing: scenarios, problems, plans, their evaluation and their verification.

Imports `planner_mcp.errors` and `planner_mcp.text` and nothing else of the application: no clock, no I/O, no settings.
"""
