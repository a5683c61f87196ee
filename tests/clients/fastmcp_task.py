"""Runs a solve as a task with the client of FastMCP, in an environment of its own: `fastmcp_task.py URL DAY`."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp_tasks import call_tool_task


async def main(url: str, day: dict) -> None:  # type: ignore[type-arg]
    """Create, solve as a task, poll to the end; print what was seen."""
    async with Client(url) as client:
        made = await client.call_tool("create_scenario", day)
        arguments = {"scenario_id": made.structured_content["scenario_id"], "solve_time": "PT3S", "fresh": True}
        task = await call_tool_task(client, "solve_vrp", arguments)
        seen = []
        while not seen or seen[-1] == "working":
            seen.append((await task.status()).status)
            await asyncio.sleep(0.2)
        result = await task.result()
    print(json.dumps({"seen": seen, "status": result.structured_content["status"]}))  # noqa: T201


asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
