"""The planner over REST: `/v1`, an adapter over the tools and resources that MCP serves (SPEC O5)."""
