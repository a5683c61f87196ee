"""The shortest complete client: the smallest day, solved and read.

Run `python -m examples.quickstart` to start a planner over stdio, or give the URL of one that runs.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters

from examples.planner_client import call, watch

SMALLEST = {
    "name": "北京城配",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}


async def main(server: str | StdioServerParameters) -> None:
    """Create, solve, watch, read."""
    async with Client(server) as client:
        scenario = await call(client, "create_scenario", SMALLEST)
        print(scenario["assumptions"])
        job = await call(client, "solve_vrp", {"scenario_id": scenario["scenario_id"], "solve_time": "PT1S"})
        status = await watch(client, job["job_id"], lambda seen: print(seen["status"], seen["progress"]))
        plan = await call(client, "read_plan", {"plan_id": status["plan_id"], "view": "visits"})
        print(plan["columns"], plan["rows"])


if __name__ == "__main__":
    stdio = StdioServerParameters(command=sys.executable, args=["-m", "planner_mcp"])
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else stdio))
