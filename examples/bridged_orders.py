"""An agent with two MCP servers: a bridge to an order system, and the planner. Orders become a plan, the plan orders.

Run `python -m examples.bridged_orders` to start the order system, its bridge and a planner; `examples/order_system`
has the service, its OpenAPI document and the configuration of the bridge.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import uvicorn
import yaml
from mcp import Client

from examples.order_system import service
from examples.planner_client import call, watch
from examples.planner_server import PlannerServer, running_server

FOLDER: Final = Path(__file__).with_name("order_system")
VANS: Final = [
    {"id": name, "capacity": 120, "shift_start": "08:00", "shift_end": "18:00"} for name in ("van-1", "van-2")
]
DEPOT: Final = {"id": "depot", "lat": 39.86, "lon": 116.38}


async def main(planner_url: str, bridge_url: str) -> dict[str, Any]:
    """Plan the open orders of a day and record the plan; return what was found on the way."""
    async with Client(planner_url) as planner, Client(bridge_url) as orders:
        answer = await call(orders, "open_orders", {"day": service.DAY})
        day = answer["data"]
        print(f"{len(day['tickets'])} orders from {answer['source']}")
        scenario = await call(planner, "create_scenario", scenario_of(day))
        asked = {"scenario_id": scenario["scenario_id"], "solve_time": "PT1S"}
        job = await call(planner, "solve_vrp", asked)
        status = await watch(planner, job["job_id"], lambda _seen: None)
        stops = await call(planner, "read_plan", {"plan_id": status["plan_id"], "view": "visits"})
        recorded = [await call(orders, "record_delivery", delivery) for delivery in deliveries(stops)]
        print(f"{status['result']['tickets_served']} planned, {len(recorded)} recorded")
        return {"day": day, "result": status["result"], "recorded": [each["data"] for each in recorded]}


def scenario_of(day: dict[str, Any]) -> dict[str, Any]:
    """Return the day of the order system as the planner takes it: the bridge has selected the fields."""
    return {
        "name": "Open orders",
        "planning_date": service.DAY,
        "depot": "depot",
        "agents": VANS,
        "tickets": day["tickets"],
        "locations": [DEPOT, *day["locations"]],
    }


def deliveries(stops: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a call of `record_delivery` for each ticket of a plan."""
    rows = [dict(zip(stops["columns"], row, strict=True)) for row in stops["rows"]]
    return [
        {"order_no": row["ticket_id"], "vehicle_id": row["agent_id"], "arrival": row["start"]}
        for row in rows
        if row.get("ticket_id")
    ]


@asynccontextmanager
async def running_order_system() -> AsyncIterator[str]:
    """Serve the order system on a free port; yield its address."""
    config = uvicorn.Config(service.order_system(), host="127.0.0.1", port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():  # noqa: ASYNC110 uvicorn has no event for it
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/api"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def running_bridge(folder: Path, base_url: str) -> AsyncIterator[PlannerServer]:
    """Serve the bridge to an order system that runs at an address."""
    config = yaml.safe_load((FOLDER / "bridge.yaml").read_text(encoding="utf-8"))
    config |= {"document": str(FOLDER / config["document"]), "base_url": base_url}
    path = folder / "bridge.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    secret = {"ORDER_BOOK_KEY": service.KEY}
    async with running_server(
        folder, workers=0, options=("--bridge", str(path)), log=folder / "bridge.log", settings=secret
    ) as server:
        yield server


async def _with_servers() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        async with (
            running_order_system() as base_url,
            running_server(data_dir, workers=1, log=data_dir / "planner.log") as planner,
            running_bridge(data_dir, base_url) as bridge,
        ):
            await main(planner.mcp, bridge.mcp)


if __name__ == "__main__":
    asyncio.run(_with_servers())
