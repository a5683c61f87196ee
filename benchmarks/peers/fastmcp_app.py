"""The peer: FastMCP with its tasks extension and one worker, serving a tool that does nothing.

Run in an environment of its own: `python fastmcp_app.py PORT REDIS_URL`.
"""

import sys
from datetime import timedelta

from fastmcp import FastMCP
from fastmcp_tasks import TasksExtension

port, url = int(sys.argv[1]), sys.argv[2]
server = FastMCP("peer")
server.add_extension(TasksExtension(url=url, minimum_check_interval=timedelta(milliseconds=50)))


@server.tool(task=True)
async def trivial() -> dict[str, int]:
    """Do nothing."""
    return {"cost": 0}


server.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="warning")
