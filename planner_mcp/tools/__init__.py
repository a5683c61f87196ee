"""What a client can ask for: one file a tool. Knows neither the MCP SDK nor HTTP."""
