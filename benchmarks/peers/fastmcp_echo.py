"""A peer of `benchmarks.protocol`: FastMCP with a tool that returns its argument.

Run in an environment of its own: `python fastmcp_echo.py PORT`.
"""

import sys

from fastmcp import FastMCP

server = FastMCP("peer")


@server.tool()
async def echo(text: str) -> dict[str, str]:
    """Return the text."""
    return {"text": text}


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="warning")
