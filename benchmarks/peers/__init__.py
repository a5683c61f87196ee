"""FastMCP beside this server, in one run on one machine."""
