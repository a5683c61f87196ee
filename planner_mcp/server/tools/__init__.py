"""What a client can ask for: one file a tool, in folders by what it is about. Knows neither the MCP SDK nor HTTP.

`tool_definition` says what a tool is, `tool_output` what a result is, and `tool_registry` lists all tools. What several
tools use is in two folders: `arguments` resolves the arguments of a call, and `answers` builds results and their text.
"""
