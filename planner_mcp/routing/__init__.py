"""Pure domain model of routing: scenarios, problems, plans, their evaluation and their verification.

Imports `errors`, `text` and `arrays` of `planner_mcp` and nothing else of the application: no clock, no I/O, no
settings.
"""
