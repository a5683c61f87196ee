"""The peer: FastMCP with its tasks extension in its default settings, serving a tool that returns at once.

Run in an environment of its own: `python fastmcp_app.py PORT REDIS_URL` serves HTTP with one worker in the process,
`python fastmcp_app.py` speaks MCP over stdio without tasks.
"""

import sys

from fastmcp import FastMCP

server = FastMCP("peer")
has_tasks = len(sys.argv) > 1


@server.tool(task=has_tasks)
async def trivial() -> dict[str, int]:
    """Return a constant."""
    return {"cost": 0}


if has_tasks:
    from fastmcp_tasks import TasksExtension

    port, url = int(sys.argv[1]), sys.argv[2]
    server.add_extension(TasksExtension(url=url))
    server.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="warning")
else:
    server.run(show_banner=False, log_level="warning")
