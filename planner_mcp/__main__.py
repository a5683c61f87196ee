"""`python -m planner_mcp` is `planner-mcp`."""

from planner_mcp.cli.commands import main

main()
