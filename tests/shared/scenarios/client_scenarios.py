"""Small days to plan, and what every client does with them."""

from math import cos, sin
from typing import Any

from mcp import Client

SMALLEST: dict[str, Any] = {
    "name": "北京城配",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
"""SPEC T1, verbatim."""
OPEN: dict[str, Any] = {
    "name": "open",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "shop", "demand": 20, "time_windows": [["09:00", "10:00"]]}],
    "locations": [{"id": "shop", "lat": 39.9, "lon": 116.4}, {"id": "depot", "lat": 39.8, "lon": 116.3}],
}
CHOICES = {"depot": "depot", "shift_start": "08:00", "shift_end": "18:00", "speed_kmh": 30}
"""What `OPEN` leaves open."""


def ring(tickets: int = 120) -> dict[str, Any]:
    """Return a day on a spiral of points; of more than 100 tickets, so that no proof ends its solve before its time."""
    places = [{"id": f"L{n}", "x": round(90 * n * cos(n), 1), "y": round(90 * n * sin(n), 1)} for n in range(tickets)]
    return {
        "name": "ring",
        "planning_date": "2025-07-15",
        "agents": [
            {"id": f"veh-{n}", "capacity": 10, "start_location": "L0", "end_location": "L0"}
            for n in range(max(6, tickets // 10))
        ],
        "tickets": [{"id": f"t-{n}", "location": f"L{n}", "demand": 1} for n in range(1, tickets)],
        "locations": places,
    }


async def use(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its structured content."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.structured_content
    return dict(result.structured_content)


async def submit(client: Client, scenario: dict[str, Any], solve_time: str = "PT2S", **more: Any) -> str:
    """Create a scenario, submit a solve and return its job id."""
    scenario_id = (await use(client, "create_scenario", **scenario))["scenario_id"]
    return str((await use(client, "solve_vrp", scenario_id=scenario_id, solve_time=solve_time, **more))["job_id"])


async def wait_for(client: Client, job_id: str, *states: str) -> dict[str, Any]:
    """Wait until a job is in one of the states and return its status."""
    wait_s = 0.2 if {"QUEUED", "SOLVING"} & set(states) else 30  # the call itself waits for the end alone
    while True:
        status = await use(client, "query_vrp_status", job_id=job_id, wait_s=wait_s)
        if status["status"] in states:
            return status
        assert status["status"] in ("QUEUED", "SOLVING"), status
