"""What a client can ask for: one file a tool. Knows neither the MCP SDK nor HTTP.

Beside the tools stand what a tool is (`base`) and which there are (`registry`); what several are made of lies in two
folders: `arguments`, from a call to what a tool works on, and `answers`, from what it found to what a client reads.
"""
