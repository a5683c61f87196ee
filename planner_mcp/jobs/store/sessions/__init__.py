"""What is kept of MCP sessions: themselves with their streams, and what stands beside them."""
