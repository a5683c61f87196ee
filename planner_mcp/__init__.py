"""planner-mcp: an async, job-oriented MCP server for vehicle routing."""

from typing import Final

__version__: Final = "0.1.0"
