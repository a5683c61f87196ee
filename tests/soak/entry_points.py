"""One short visit through each entry point of the product: what its clients do all day, once.

Each visit opens what it needs and leaves it again; an answer that is not the expected one raises `VisitError`. Where a
server asks to come back later (429 or 503 with `Retry-After`), the visit ends as `ComeBackError`.
"""

import asyncio
import base64
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2 as httpx

from examples.order_system.service import DAY as ORDER_DAY
from planner_mcp.text import Json
from tests.shared.http.http_clients import http_client
from tests.shared.http.mcp_caller import Caller
from tests.shared.http.webhook_receiver import Receiver, echo
from tests.shared.scenarios.client_scenarios import SMALLEST, ring

ADDRESSES: Final = (
    "北京市海淀区学院路37号",
    "12 High Street, Richmond",
    "Alexanderplatz 1, 10178 Berlin",
    "上海市南京东路",
)
SECRET: Final = "whsec_" + base64.b64encode(b"s" * 32).decode()
ORDERS: Final = b"id,lat,lon,demand\n" + b"".join(b"o-%d,39.9,116.%d,1\n" % (n, n) for n in range(10, 60))
LISTEN_S: Final = 1.0
PAGES: Final = ("/ui", "/manifest", "/healthz", "/readyz", "/metrics", "/openapi.json", "/mcp/server-card")
_numbers = itertools.count()


class VisitError(AssertionError):
    """An answer was not what it should be."""


class ComeBackError(Exception):
    """The server has too much to do just now, and says so."""


@dataclass
class World:
    """The servers, and what a visitor has of them.

    Args:
        planner, bridge, addresses: Where they listen.
        key: The value of an Authorization header at the planner.
        receiver: Where webhooks go.
    """

    planner: str
    bridge: str
    addresses: str
    key: str
    receiver: Receiver
    plans: list[str] = field(default_factory=list)
    """Jobs that have a plan, the newest last."""

    @property
    def headers(self) -> dict[str, str]:
        """What a request has that is not MCP."""
        return {"authorization": self.key}

    def http(self, url: str = "") -> httpx.AsyncClient:
        """Return a client that opens a connection for each request: one that was kept may end as it is used again."""
        fresh = httpx.Limits(max_keepalive_connections=0)
        return http_client(base_url=url or self.planner, timeout=60, limits=fresh)


def answered(answer: httpx.Response, *expected: int) -> httpx.Response:
    """Return an answer of one of the statuses, 200 where none is named."""
    if answer.status_code in (429, 503) and "retry-after" in answer.headers:
        raise ComeBackError
    if answer.status_code not in (expected or (200,)):
        raise VisitError(f"{answer.request.url.path}: {answer.status_code} {answer.text[:300]}")
    return answer


def result_of(answer: httpx.Response) -> Json:
    """Return the result of an MCP answer, as JSON or as a stream."""
    text = answered(answer).text
    if not text.startswith("{"):
        text = [line for line in text.splitlines() if line.startswith("data: {")][-1].removeprefix("data: ")
    message = json.loads(text)
    if "result" not in message:
        raise VisitError(text[:300])
    return dict(message["result"])


async def used(caller: Caller, tool: str, **arguments: Any) -> Json:
    """Return the structured content of a tool's answer."""
    result = result_of(await caller.call(tool, **arguments))
    content = dict(result["structuredContent"])
    if result.get("isError"):
        if content.get("type") in ("RateLimited", "CapacityExceeded", "StoreUnavailable"):
            raise ComeBackError
        raise VisitError(f"{tool}: {content}")
    return content


async def solved(world: World, caller: Caller, **further: Any) -> str:
    """Return a job that ended with a plan."""
    made = await used(caller, "create_scenario", **{**SMALLEST, "name": f"day {next(_numbers) % 50}"})
    asked = {"scenario_id": made["scenario_id"], "solve_time": "PT1S", "fresh": True, **further}
    job_id = str((await used(caller, "solve_vrp", **asked))["job_id"])
    while (await used(caller, "query_vrp_status", job_id=job_id, wait_s=20))["status"] in ("QUEUED", "SOLVING"):
        pass
    world.plans[:] = [*world.plans[-3:], job_id]
    return job_id


async def visit_session(world: World) -> None:
    """A session of 2025-11-25: a day, its plan, the end of the session."""
    async with world.http() as http:
        caller = Caller(http, world.key)
        answered(await caller.initialize())
        job_id = await solved(world, caller)
        await used(caller, "read_plan", job_id=job_id)
        answered(await http.delete("/mcp", headers=caller.headers), 200, 204)


async def visit_stateless(world: World) -> None:
    """Revision 2026-07-28: a day in one call, and questions about its plan."""
    async with world.http() as http:
        caller = Caller(http, world.key)
        day = {**ring(12), "name": f"ring {next(_numbers)}"}
        planned = await used(caller, "plan_day", scenario=day, solve_time="PT1S", wait_s=20)
        if planned["status"] != "COMPLETED":
            return
        await used(caller, "read_progress", job_id=planned["job_id"])
        await used(caller, "explain_unassigned", plan=planned["job_id"])
        cases = {"fewer": {"cancelled_ticket": ["t-1"]}, "absent": {"absent": ["veh-0"]}}
        await used(caller, "what_if", plan=planned["job_id"], cases=cases, solve_time="PT1S", wait_s=10)
        await used(caller, "prove_plan", plan=planned["job_id"], solve_time="PT1S")


async def visit_channel(world: World) -> None:
    """A job followed on its own channel to the end."""
    async with world.http() as http:
        caller = Caller(http, world.key)
        made = await used(caller, "create_scenario", **SMALLEST)
        asked = {"scenario_id": made["scenario_id"], "solve_time": "PT1S", "fresh": True}
        job_id = (await used(caller, "solve_vrp", **asked))["job_id"]
        async with http.stream("GET", f"/jobs/{job_id}/events", headers=world.headers) as stream:
            answered_stream(stream)
            lines = [line async for line in stream.aiter_lines() if line.startswith("data: ")]
        if "notifications/complete" not in lines[-1]:
            raise VisitError(f"the channel ended with {lines[-1][:200]}")


def answered_stream(stream: httpx.Response) -> None:
    """Check the status of a stream whose body was not read."""
    if stream.status_code in (429, 503):
        raise ComeBackError
    if stream.status_code != 200:
        raise VisitError(f"{stream.request.url.path}: {stream.status_code}")


async def visit_rest(world: World) -> None:
    """REST: a day, a job waited for, its plan in other forms."""
    async with world.http() as http:
        http.headers.update(world.headers)
        made = answered(await http.post("/v1/scenarios", json=SMALLEST), 201).json()
        body = {"scenario_id": made["scenario_id"], "solve_time": "PT1S", "fresh": True}
        job = answered(await http.post("/v1/jobs", json=body, headers={"prefer": "wait=20"}), 200, 202).json()
        where = f"/v1/jobs/{job['job_id']}"
        while answered(await http.get(where, headers={"prefer": "wait=20"})).json()["status"] in ("QUEUED", "SOLVING"):
            pass
        for form in ("application/json", "text/csv", "image/svg+xml", "text/html"):
            answered(await http.get(f"{where}/plan", headers={"accept": form}))
        answered(await http.get("/v1/jobs?limit=5"))


async def visit_pages(world: World) -> None:
    """What a browser and a monitor read, a person signed in for it."""
    async with world.http() as http:
        for path in PAGES:
            answered(await http.get(path, headers=world.headers))
        given = {**world.headers, "x-planner-ui": "1"}
        answered(await http.post("/ui/session", headers=given))
        answered(await http.get("/ui/read", params={"uri": "jobs://vrp/status/all?page=1&size=5"}, headers=given))
        for job_id in world.plans[-1:]:
            answered(await http.get(f"/jobs/{job_id}", headers=world.headers), 200, 404)
        answered(await http.delete("/ui/session", headers=given), 204)


async def visit_addresses(world: World) -> None:
    """A hundred addresses of the address server."""
    async with world.http(world.addresses) as http:
        number = next(_numbers)
        texts = [f"{ADDRESSES[n % len(ADDRESSES)]} {number % 10}{n}" for n in range(100)]
        found = await used(Caller(http), "resolve_addresses", addresses=texts)
        if len(found["rows"]) != len(texts):
            raise VisitError(f"{len(found['rows'])} rows")


async def visit_bridge(world: World) -> None:
    """Orders of a bridged service, and one of them written back."""
    async with world.http(world.bridge) as http:
        caller = Caller(http)
        await used(caller, "open_orders", day=ORDER_DAY)
        await used(caller, "record_delivery", order_no="SO-00001", vehicle_id="van-1", arrival="09:40")


async def visit_events(world: World) -> None:
    """Events by webhook: subscribed, told of a job, asked for by poll, unsubscribed."""
    async with world.http() as http:
        caller, path = Caller(http, world.key), f"/hook/{next(_numbers)}"
        world.receiver.answers[path] = [echo]
        delivery = {"mode": "webhook", "url": world.receiver.url(path), "secret": SECRET}
        wanted: Json = {"name": "vrp.job.finished", "arguments": {}, "delivery": delivery, "cursor": None}
        cursor = result_of(await caller.request("events/subscribe", **wanted))["cursor"]
        try:
            await solved(world, caller)
            await world.receiver.wait_for(2, path, within_s=90)
            result_of(await caller.request("events/poll", name="vrp.job.finished", arguments={}, cursor=cursor))
        finally:
            await caller.request("events/unsubscribe", **wanted)
            world.receiver.answers.pop(path)


async def visit_shared(world: World) -> None:
    """A link of a plan: opened without a credential, ended, closed."""
    async with world.http() as http:
        job_id = await solved(world, Caller(http, world.key))
        url = (await used(Caller(http, world.key), "share_plan", job_id=job_id))["url"]
        path = urlsplit(url).path
        answered(await http.get(path))
        answered(await http.get(f"{path}/plan"))
        await used(Caller(http, world.key), "share_plan", job_id=job_id, revoke=True)
        answered(await http.get(f"{path}/plan"), 401, 404, 410)


async def visit_uploads(world: World) -> None:
    """A file, imported; a table of travel; and an upload that is broken off."""
    async with world.http() as http:
        name = f"orders-{next(_numbers) % 8}.csv"
        answered(await http.put(f"/files/{name}", content=ORDERS, headers=world.headers), 201)
        agents = [{"id": "v", "capacity": 99}]
        asked = {"file": name, "planning_date": "2025-07-15", "agents": agents, "depot": "39.9,116.4"}
        await used(Caller(http, world.key), "import_scenario", **asked)
        table = [[abs(a - b) for b in range(20)] for a in range(20)]
        matrix = {"locations": [f"L{n}" for n in range(20)], "distances": table}
        answered(await http.put("/matrices", json=matrix, headers=world.headers), 200, 201)
    await _break_off(world, f"PUT /files/{name}")


async def _break_off(world: World, start: str) -> None:
    """Begin to send a large body and leave in the middle of it."""
    where = urlsplit(world.planner)
    _reader, writer = await asyncio.open_connection(where.hostname, where.port)
    lines = (f"{start} HTTP/1.1", f"host: {where.netloc}", f"authorization: {world.key}", "content-length: 4000000")
    with suppress(OSError):
        writer.write("\r\n".join((*lines, "", "")).encode() + b"x" * 400_000)
        await writer.drain()
    writer.close()


async def visit_listen(world: World) -> None:
    """Streams that are open for a moment: a listen of 2026-07-28, and the old transport."""
    async with world.http() as http:
        caller = Caller(http, world.key)
        modern = caller.headers | {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
        listen = {"notifications": {"toolsListChanged": True}, "_meta": caller.meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": listen}
        await _held(http.stream("POST", "/mcp", headers=modern, json=body))
        await _held(http.stream("GET", "/sse", headers=caller.headers))


async def _held(opening: Any) -> None:
    async with opening as stream:
        answered_stream(stream)
        with suppress(TimeoutError):
            async with asyncio.timeout(LISTEN_S):
                async for _line in stream.aiter_lines():
                    pass


ENTRY_POINTS: Final[Mapping[str, Callable[[World], Awaitable[None]]]] = {
    "session": visit_session,
    "stateless": visit_stateless,
    "channel": visit_channel,
    "rest": visit_rest,
    "pages": visit_pages,
    "addresses": visit_addresses,
    "bridge": visit_bridge,
    "events": visit_events,
    "shared": visit_shared,
    "uploads": visit_uploads,
    "listen": visit_listen,
}
