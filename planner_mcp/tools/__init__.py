"""What a client can ask for: one file a tool. Knows `jobs` and `vrp`, and neither the MCP SDK nor HTTP."""
