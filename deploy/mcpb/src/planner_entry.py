"""What a desktop host runs from the bundle: the planner over standard input and output."""

from planner_mcp.cli.command_line import main

if __name__ == "__main__":
    main()
