"""What a credential without `planner:sensitive` sees at the endpoints beside MCP (SPEC R3, ADR 0035)."""

import re
from collections.abc import Awaitable

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import READ, SENSITIVE, WRITE
from planner_mcp.jobs.store.redis_store import RedisStore
from tests.integration.server.auth.conftest import Key, Served
from tests.shared.scenarios.stored_plans import finish

pytestmark = pytest.mark.anyio
SECRETS = ("Lovelace", "52.5213", "13.4131", "52.5311", "17.29")
DAY = {
    "name": "Day",
    "planning_date": "2026-11-23",
    "agents": [
        {
            "id": "van",
            "name": "Ada Lovelace",
            "capacity": 5,
            "start_location": "d",
            "end_location": "d",
            "fixed_cost": 17.29,
        }
    ],
    "tickets": [{"id": "t1", "location": "p", "demand": 1, "name": "Ada Lovelace"}],
    "locations": [{"id": "d", "lat": 52.5213, "lon": 13.4131}, {"id": "p", "lat": 52.5311, "lon": 13.4231}],
}
ORDERS = "id,lat,lon,name,demand\nA,52.5213,13.4131,Ada Lovelace,much\n"


async def _call(http: httpx.AsyncClient, key: str, tool: str, **arguments: object) -> httpx.Response:
    headers = {"content-type": "application/json", "authorization": key}
    return await http.post("/ui/call", json={"tool": tool, "arguments": arguments}, headers=headers)


async def test_no_endpoint_shows_a_reader_what_is_masked(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC R3: pages, the dashboard's calls and reads, downloads, channels and uploaded files."""
    async with served() as http:
        owner, reader = await key("ann", READ, WRITE, SENSITIVE), await key("ann", READ, WRITE)
        scenario_id = (await _call(http, owner, "create_scenario", **DAY)).json()["structured"]["scenario_id"]
        job_id = (await _call(http, owner, "solve_vrp", scenario_id=scenario_id)).json()["structured"]["job_id"]
        await finish(store, ["t1"])
        await http.put("/files/orders.csv", content=ORDERS.encode(), headers={"authorization": owner})
        answers = [await answer for answer in _asked(http, reader, scenario_id, job_id)]
        found = re.findall(r"/downloads/[^\s\"\\]+", "".join(answer.text for answer in answers))
        answers += [await http.get(path) for path in dict.fromkeys(found)]
        channel = await _read_all_events(http, reader, job_id)
    assert found
    assert "completed" in channel.lower()
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    sent = "\n".join([channel, *(answer.text for answer in answers)])
    assert [secret for secret in SECRETS if secret in sent] == []
    assert re.findall(r'"cost": ?\d', sent) == []


def _asked(http: httpx.AsyncClient, key: str, scenario_id: str, job_id: str) -> list[Awaitable[httpx.Response]]:
    """Return every question."""
    plan, headers = job_id.replace("job", "plan", 1), {"authorization": key}
    uris = [f"scenario://{scenario_id}", f"scenario://{scenario_id}/result", f"job://{job_id}", f"plan://{plan}"]
    uris += [f"plan://{plan}/{part}" for part in ("map.svg", "report.html", "sheets.html", "stops.csv", "routes.gpx")]
    return [
        *(http.get("/ui/read", params={"uri": uri}, headers=headers) for uri in uris),
        *(_call(http, key, "read_resource", uri=uri) for uri in uris),
        *(_call(http, key, "read_plan", job_id=job_id, view=view) for view in ("summary", "routes", "visits")),
        http.get(f"/jobs/{job_id}", headers=headers),
        _call(http, key, "plan_day", scenario_id=scenario_id, wait_s=0),
        _call(http, key, "plan_day", file={"file": "orders.csv", "planning_date": "2026-11-23"}, wait_s=0),
        _call(http, key, "resolve_vrp", warm_from=job_id, keep_until="08:10", late_by={"van": 60}),
        _call(http, key, "import_scenario", file="orders.csv", planning_date="2026-11-23"),
    ]


async def _read_all_events(http: httpx.AsyncClient, key: str, job_id: str) -> str:
    with anyio.fail_after(10):
        return (await http.get(f"/jobs/{job_id}/events", headers={"authorization": key})).text
