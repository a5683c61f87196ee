"""The HTTP layer beside MCP: middleware, the job channel, the manifest, health and metrics. Imports no MCP SDK."""
