"""Routes beside MCP and `/v1`: the dashboard's, jobs, files and matrices, sessions, health, metrics, documents."""
