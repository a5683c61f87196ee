"""HTTP beside MCP: the edge every request passes, the job channel, the manifest, health. Knows no MCP SDK."""
