"""What can be read by URI: scenarios, jobs, plans with their pictures, logs, reports (SPEC R1). Knows no MCP SDK."""
