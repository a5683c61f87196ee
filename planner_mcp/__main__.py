"""`python -m planner_mcp` is `planner-mcp`."""

from planner_mcp.cli.command_line import main

main()
