"""Chosen operations of somebody else's OpenAPI document as MCP tools (SPEC O5)."""
