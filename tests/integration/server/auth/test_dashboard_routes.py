"""The dashboard's routes on a deployment with API keys: files for everybody, data for principals."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import READ, SENSITIVE, WRITE
from planner_mcp.jobs.records.audit_records import AuditEntry
from tests.integration.server.auth.conftest import Key, Served

pytestmark = pytest.mark.anyio
DAY = {
    "name": "Day",
    "planning_date": "2026-11-23",
    "agents": [{"id": "van", "name": "Ada Lovelace", "capacity": 5, "start_location": "d", "end_location": "d"}],
    "tickets": [{"id": "t1", "location": "p", "demand": 1}],
    "locations": [{"id": "d", "lat": 52.5213, "lon": 13.4131}, {"id": "p", "lat": 52.5311, "lon": 13.4231}],
}


async def _call(http: httpx.AsyncClient, tool: str, arguments: object, key: str = "", **headers: str) -> httpx.Response:
    given = {"content-type": "application/json", **({"authorization": key} if key else {}), **headers}
    return await http.post("/ui/call", json={"tool": tool, "arguments": arguments}, headers=given)


async def test_files_need_no_key_and_data_does(served: Served) -> None:
    """SPEC O2, A1: the page itself says nothing of anybody."""
    async with served() as http:
        page = await http.get("/ui")
        assert page.status_code == 200
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "unsafe" not in page.headers["content-security-policy"]
        assert (await http.get("/")).headers["location"] == "/ui"
        script = await http.get("/ui/assets/app.js")
        assert script.status_code == 200
        assert script.headers["content-security-policy"] == page.headers["content-security-policy"]
        again = await http.get("/ui/assets/app.js", headers={"if-none-match": script.headers["etag"]})
        assert again.status_code == 304
        assert (await _call(http, "list_jobs", {})).status_code == 401
        assert (await http.get("/ui/read", params={"uri": "jobs://vrp/status/all?page=1&size=5"})).status_code == 401


async def test_the_page_offers_the_fields_that_the_reader_of_files_knows(served: Served) -> None:
    """SPEC O2, T5: half of a shipment and the ticket of its pickup were not among them, nor any field of agents."""
    async with served() as http:
        answer = await http.get("/ui/assets/column_fields.json")
    fields = answer.json()
    assert {"id", "shipment_half", "pickup_ticket", "pickup_address"} <= {*fields["tickets"]}
    assert {"capacity", "shift", "end_location"} <= {*fields["agents"]}
    assert answer.headers["cache-control"] == "no-cache"


async def test_a_call_runs_the_tool_with_its_checks_and_its_audit_line(
    served: Served, key: Key, audited: Callable[[], Awaitable[list[AuditEntry]]]
) -> None:
    """SPEC O2: the same function as over MCP, all mistakes at once, one line of audit for each call."""
    async with served() as http:
        ann = await key("ann")
        made = (await _call(http, "create_scenario", DAY, ann)).json()
        assert made["is_error"] is False
        assert made["structured"]["tickets"] == 1
        refused = (await _call(http, "create_scenario", {**DAY, "agents": [], "tickets": "x"}, ann)).json()
        assert refused["is_error"] is True
        assert {fault["path"] for fault in refused["structured"]["errors"]} >= {"/agents", "/tickets"}
        assert [line.what for line in await audited()].count("create_scenario") == 2


async def test_a_principal_sees_what_its_scopes_and_its_tenancy_let_it_see(served: Served, key: Key) -> None:
    """SPEC A1, R3: another's scenario does not exist, names need their scope, writing needs its own."""
    async with served() as http:
        ann, bob = await key("ann", READ, WRITE, SENSITIVE), await key("bob")
        scenario_id = (await _call(http, "create_scenario", DAY, ann)).json()["structured"]["scenario_id"]
        uri = {"uri": f"scenario://{scenario_id}"}
        assert "Ada Lovelace" in (await http.get("/ui/read", params=uri, headers={"authorization": ann})).text
        assert (await http.get("/ui/read", params=uri, headers={"authorization": bob})).status_code == 404
        reader = await key("ann", READ)
        masked = (await http.get("/ui/read", params=uri, headers={"authorization": reader})).text
        assert "Lovelace" not in masked
        assert "52.5213" not in masked
        denied = (await _call(http, "create_scenario", DAY, reader)).json()
        assert denied["structured"]["type"] == "InsufficientScope"


@pytest.mark.parametrize(
    ("body", "content_type", "place"),
    [
        (b"{", "application/json", ""),
        (b"\xff\xfe", "application/json", ""),
        (b"[" * 50, "application/json", ""),
        (b"[]", "application/json", "/tool"),
        (b'{"tool": "rm"}', "application/json", "/tool"),
        (b'{"tool": 1}', "application/json", "/tool"),
        (b'{"tool": "list_jobs", "arguments": []}', "application/json", "/arguments"),
        (b'{"tool": "list_jobs", "answers": {}}', "application/json", "/answers"),
        (b'{"tool": "list_jobs", "answers": [1]}', "application/json", "/answers"),
        (b'{"tool": "list_jobs", "answers": [{},{},{},{},{},{},{},{},{}]}', "application/json", "/answers"),
        (b'{"tool": "list_jobs"}', "text/plain", "/content-type"),
    ],
)
async def test_a_call_that_is_none_is_refused_with_its_place(
    served: Served, key: Key, body: bytes, content_type: str, place: str
) -> None:
    """SPEC T7."""
    async with served() as http:
        headers = {"content-type": content_type, "authorization": await key("ann")}
        answer = await http.post("/ui/call", content=body, headers=headers)
        assert answer.status_code == 400
        errors = answer.json()["errors"]
        assert [fault["path"] for fault in errors] in ([place], []), "too deep a body has no place"


async def test_a_call_that_is_open_asks_the_person_at_the_page(served: Served, key: Key) -> None:
    """SPEC T7: the question of MCP, once; the answer goes into the call; none where nobody wants one."""
    content = "id;lat;lon;Menge;Stop time\na;48,1371;11,5754;3;15\n"
    agents = [{"id": "v", "capacity": 9}]
    day = {"format": "csv", "content": content, "planning_date": "2025-07-15", "agents": agents}

    async def asked_about(http: httpx.AsyncClient, ann: str, **answers: Any) -> dict[str, Any]:
        asked = {"tool": "import_scenario", "arguments": day, **answers}
        return dict((await http.post("/ui/call", json=asked, headers={"authorization": ann})).json())

    async with served() as http:
        ann = await key("ann", READ, WRITE, SENSITIVE)
        asks = (await asked_about(http, ann, answers=[]))["asks"]
        assert list(asks["schema"]["properties"]) == ["column_1"]
        made = await asked_about(http, ann, answers=[{"column_1": "service_min"}])
        assert made["structured"]["columns"]["tickets"]["left_out"] == []
        for silent in (await asked_about(http, ann), await asked_about(http, ann, answers=[{}])):
            assert silent["structured"]["code"] == 4002
        reader = await asked_about(http, await key("ann", READ), answers=[])
        assert reader["structured"]["type"] == "InsufficientScope"
    async with served(ask_missing=False) as http:
        assert (await asked_about(http, ann, answers=[]))["is_error"] is True


async def test_a_large_call_is_read_apart_and_an_oversized_one_is_refused(served: Served, key: Key) -> None:
    """SPEC X3: a call of the page is bounded as one over MCP is."""
    async with served() as http:
        ann = await key("ann", READ, WRITE, SENSITIVE)
        tickets = [{"id": f"t{number}", "location": "p", "demand": 1} for number in range(500)]
        created = (await _call(http, "create_scenario", {**DAY, "tickets": tickets}, ann)).json()
        assert created["structured"]["tickets"] == 500
        padded = await _call(http, "list_jobs" + " " * 100_000, {}, ann)
        assert padded.status_code == 413


async def test_another_site_cannot_call(served: Served, key: Key) -> None:
    """SPEC X1: the Origin of a page elsewhere is refused, and nothing may frame the page."""
    async with served() as http:
        answer = await _call(http, "list_jobs", {}, await key("ann"), origin="https://evil.example")
        assert answer.status_code == 403
        assert "frame-ancestors 'none'" in (await http.get("/ui")).headers["content-security-policy"]
