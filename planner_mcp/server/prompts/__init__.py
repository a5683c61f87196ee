"""Prompts: the usual work of a planner, as words a client can put before its model (SPEC R4). Knows no MCP SDK."""
