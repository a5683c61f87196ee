"""planner-mcp: an async, job-oriented MCP server for vehicle routing."""

__version__ = "0.3.0"
