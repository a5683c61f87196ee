"""How clients reach the planner: MCP, plain HTTP, tools, resources, prompts and authentication."""
