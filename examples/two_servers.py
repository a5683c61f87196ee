"""An agent with two MCP servers: addresses become a day, the day a plan, and the plan several to choose from.

The flow of the design: resolve addresses, create, solve, check against what the business wants, adjust, solve again
with a new order whose address is resolved on the way, hand over several plans, and publish the one that a person
approves. Run `python -m examples.two_servers` to start both servers, or give the URL of a planner and of an address
server that run; a planner without `PLANNER_APPROVAL` publishes nothing.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult

from examples.planner_client import call, watch
from examples.planner_server import running_server

DEPOT: Final = "北京市大兴区黄村镇兴华大街8号"
ORDERS: Final = {
    "k-1": "北京市海淀区学院路37号",
    "k-2": "北京市西城区金融大街9号",
    "k-3": "北京市通州区新华西街60号",
    "k-4": "北京市丰台区南三环西路16号",
    "k-5": "北京市昌平区回龙观街道育知东路30号",
    "k-6": "朝阳区建国路88号",
}
"""Customers and what they typed; the last one names no city."""
URGENT: Final = ("k-7", "北京市石景山区石景山路22号")
MOST_STOPS: Final = 4
"""What the business wants of a van, and the first plan is not asked for."""


async def main(planner_url: str, address_url: str) -> dict[str, Any]:
    """Go through the flow; return what was found on the way."""
    planner_client = Client(f"{planner_url}?toolsets=all", elicitation_callback=dispatcher)
    async with planner_client as planner, Client(address_url) as addresses:
        places = await resolved(addresses, {"depot": DEPOT, **ORDERS})
        scenario = await call(planner, "create_scenario", day(places))
        print(scenario["scenario_id"], *scenario["assumptions"], sep="\n  ")
        first = await solved(planner, "solve_vrp", scenario_id=scenario["scenario_id"], solve_time="PT1S")
        print(f"first plan: {first['stops']}")
        patch: dict[str, Any] = {}
        if max(first["stops"].values()) > MOST_STOPS:  # the plan is right, yet not what the business wants
            print(f"a van has more than {MOST_STOPS} stops: limit them, and take the urgent order in")
            patch["agents"] = {name: {"max_tickets": MOST_STOPS} for name in ("van-1", "van-2")}
        (urgent,) = (await resolved(addresses, dict([URGENT]))).values()
        patch["locations"] = {URGENT[0]: position_of(urgent)}
        patch["tickets"] = {URGENT[0]: {"location": URGENT[0], "demand": 1, "address": URGENT[1]}}
        second = await solved(planner, "resolve_vrp", warm_from=first["plan_id"], patch=patch, solve_time="PT1S")
        print(f"second plan: {second['stops']}")
        plans = await variants(planner, second["plan_id"])
        for name, figures in plans.items():
            print(f"{name}: {figures['distance_m'] / 1000:.1f} km, {figures['agents_used']} vans")
        review = await published(planner, second["plan_id"])
        print(f"review: {review}")
        stops = {"first": first["stops"], "second": second["stops"]}
        return {"places": places, **stops, "plans": plans, "review": review}


async def resolved(addresses: Client, texts: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return the row of each text. What is open is put to the dispatcher, who here picks the candidate in Beijing."""
    rows = (await call(addresses, "resolve_addresses", {"addresses": list(texts.values())}))["rows"]
    found = dict(zip(texts, rows, strict=True))
    for name, row in found.items():
        if row["status"] == "resolved" and row["confidence"] >= 0.8:
            continue
        print(f"open: {texts[name]}: {row['status']} {row['confidence']} {row.get('notes', '')}")
        choice = {each["label"][:2]: each["choice"] for each in row.get("candidates", ())}.get("北京")
        asked = {"address": texts[name], **({"choice": choice} if choice else {})}
        found[name] = (await call(addresses, "confirm_address", asked))["row"]
    return found


def position_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a location from a resolved row."""
    return {"lat": row["position"]["lat"], "lon": row["position"]["lon"]}


def day(places: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a day of two vans."""
    return {
        "name": "北京城配",
        "planning_date": "2025-07-15",
        "depot": "depot",
        "agents": [{"id": name, "capacity": 20, "fixed_cost": 5} for name in ("van-1", "van-2")],
        "tickets": [{"id": name, "location": name, "demand": 1, "address": text} for name, text in ORDERS.items()],
        "locations": [{"id": name, **position_of(row)} for name, row in places.items()],
    }


async def solved(planner: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Queue a solve, wait for its end, and return its plan with the stops of each van."""
    job = await call(planner, tool, arguments)
    status = await watch(planner, job["job_id"], lambda _seen: None)
    routes = await call(planner, "read_plan", {"plan_id": status["plan_id"], "view": "routes"})
    at = {name: index for index, name in enumerate(routes["columns"])}
    stops = {row[at["agent_id"]]: row[at["tickets"]] for row in routes["rows"]}
    return {"plan_id": status["plan_id"], "stops": stops, "figures": status["result"]}


async def variants(planner: Client, plan_id: str) -> dict[str, dict[str, Any]]:
    """Return the figures of the plan and of others with another goal."""
    plans = {"as solved": await call(planner, "read_plan", {"plan_id": plan_id})}
    queued = await call(planner, "solve_alternatives", {"plan": plan_id, "k": 2, "solve_time": "PT1S"})
    for each in queued["alternatives"]:
        status = await watch(planner, each["job_id"], lambda _seen: None)
        plans[each["style"]] = await call(planner, "read_plan", {"plan_id": status["plan_id"]})
    return plans


async def dispatcher(context: Any, params: ElicitRequestParams) -> ElicitResult:
    """Answer the planner's question to its user: here the dispatcher approves. A client would show the form."""
    print(f"to the dispatcher: {params.message}")
    return ElicitResult(action="accept", content={"decision": "approve"})


async def published(planner: Client, plan_id: str) -> str:
    """Propose a plan, let the dispatcher decide, publish what was approved; return how its review stands."""
    if "propose_plan" not in {tool.name for tool in (await planner.list_tools()).tools}:
        return "off"
    for tool, further in (("propose_plan", {}), ("review_plan", {"decision": "reject"}), ("publish_plan", {})):
        answer = await call(planner, tool, {"job_id": plan_id, **further})  # the person decides, not the call
    state: str = answer["review"]["state"]
    return state


async def _with_servers() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        async with (
            running_server(
                data_dir, workers=1, log=data_dir / "planner.log", settings={"PLANNER_APPROVAL": "on"}
            ) as planner,
            running_server(data_dir, workers=0, options=("--address",), log=data_dir / "address.log") as addresses,
        ):
            await main(planner.mcp, addresses.mcp)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]) if len(sys.argv) > 2 else _with_servers())
