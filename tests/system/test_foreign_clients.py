"""Clients that we did not write follow a solve, each request at another replica, their streams broken off meanwhile.

A job waits behind others until its client watches it. What the client was told is compared with the job's own channel.
"""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2 as httpx
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated, SubscriptionLost

from benchmarks.peers.programs import peer_python
from examples.planner_server import PlannerServer
from planner_mcp.jobs.job_content import state_line
from tests.shared.http.load_balancer import LoadBalancer, balancing
from tests.shared.node import external_clients, node_packages
from tests.shared.scenarios.client_scenarios import ring, submit, wait_for

CUTS = 3
pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.node, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def packages() -> None:
    if not external_clients.has_npm():
        pytest.skip("needs npm")
    node_packages.install(external_clients.FOLDER)


@pytest.fixture
async def balanced(
    server: PlannerServer, second: PlannerServer, request: pytest.FixtureRequest
) -> AsyncIterator[tuple[str, LoadBalancer]]:
    """A balancer that breaks off some streams, with both workers busy for a while."""
    async with Client(server.mcp) as client:
        for _ in range(2):
            await submit(client, ring(), "PT8S", fresh=True)
    async with balancing(server.url, second.url, cuts=getattr(request, "param", CUTS)) as (url, switch):
        yield url, switch


async def events_of(server: PlannerServer, http: httpx.AsyncClient, job_id: str) -> list[dict[str, Any]]:
    """Return what the channel of an ended job tells, as `params` of its events."""
    channel = await http.get(f"{server.url}/jobs/{job_id}/events")
    return [json.loads(line[6:])["params"] for line in channel.text.splitlines() if line.startswith("data: {")]


def lines(events: list[dict[str, Any]]) -> list[str]:
    """Return events as progress messages spell them."""
    return [state_line(event) for event in events]


async def script(name: str, *arguments: str) -> dict[str, Any]:
    """Run a script of `tests/node22` and return what it printed."""
    ended = await external_clients.node(name, *arguments)
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    return dict(json.loads(ended.stdout))


@pytest.mark.parametrize("which", ["1", "2"])
async def test_typescript_clients_hear_of_each_event_once(
    packages: None, server: PlannerServer, balanced: tuple[str, LoadBalancer], which: str
) -> None:
    """SPEC X1, J4: SDK 1.x and the 2.x client in the handshake era, by resources/subscribe and waiting calls."""
    url, switch = balanced
    seen = await script("follow.mjs", f"{url}/mcp", server.url, which, json.dumps(ring()))
    assert (seen["status"], seen["errors"]) == ("COMPLETED", [])
    assert switch.broken == CUTS
    assert seen["updated"] == [f"job://{seen['job_id']}"] * (seen["events"] - 1)
    assert seen["progress"] == sorted(set(seen["progress"]))


async def test_typescript_client_of_the_stateless_era_listens_anew(
    packages: None, server: PlannerServer, balanced: tuple[str, LoadBalancer], http: httpx.AsyncClient
) -> None:
    """SPEC X1, J4: a broken stream is opened again elsewhere and begins with how things stand; no end is missed."""
    url, switch = balanced
    seen = await script("follow.mjs", f"{url}/mcp", server.url, "2 modern", json.dumps(ring()))
    assert (seen["status"], seen["errors"]) == ("COMPLETED", [])
    assert (switch.broken, seen["listens"]) == (CUTS, CUTS + 1)
    story, heard = lines(await events_of(server, http, seen["job_id"])), lines(seen["heard"])
    places = [story.index(line) for line in heard]
    assert places == sorted(places)
    assert places[-1] == len(story) - 1
    assert len(places) - len(set(places)) <= CUTS  # told again at most where a stream began


@pytest.mark.parametrize("which", ["1", "2"])
async def test_tasks_of_the_core_are_sent_event_by_event(
    packages: None, server: PlannerServer, balanced: tuple[str, LoadBalancer], http: httpx.AsyncClient, which: str
) -> None:
    """SPEC X2, J4: SDK 1.x, and the ext-tasks requester on the 2.x client; every event once and in order."""
    url, switch = balanced
    seen = await script("task.mjs", f"{url}/mcp", which, json.dumps(ring()))
    assert (seen["status"], seen["errors"]) == ("COMPLETED", [])
    assert switch.broken == CUTS
    assert seen["lines"] == lines(await events_of(server, http, seen["job_id"]))[1:]  # the first made the task


async def test_requester_of_the_extension_runs_a_task(packages: None, balanced: tuple[str, LoadBalancer]) -> None:
    """SPEC X2: ext-tasks on 2026-07-28, task and polls at another replica each."""
    seen = await script("task.mjs", f"{balanced[0]}/mcp", "2 modern", json.dumps(ring()))
    assert (seen["status"], seen["errors"]) == ("COMPLETED", [])


async def inspect(url: str, era: str, *arguments: str) -> dict[str, Any]:
    """Ask with the Inspector's command line."""
    where = ("--cli", f"{url}/mcp", "--transport", "http", "--protocol-era", era, "--format", "json")
    ended = await external_clients.node(external_clients.INSPECTOR, *where, *arguments)
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    return dict(json.loads(ended.stdout)["result"])


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_inspector_plans_a_day(packages: None, balanced: tuple[str, LoadBalancer], era: str) -> None:
    """SPEC X1, X2: lists, calls, and in the stateless era the task to its result."""
    url = balanced[0]
    tools = (await inspect(url, era, "--method", "tools/list"))["tools"]
    assert "solve_vrp" in {tool["name"] for tool in tools}

    async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        given = ("--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        return dict((await inspect(url, era, "--method", "tools/call", *given))["structuredContent"])

    scenario_id = (await call("create_scenario", **ring()))["scenario_id"]
    job_id = (await call("solve_vrp", scenario_id=scenario_id, solve_time="PT3S", fresh=True))["job_id"]
    status = "QUEUED"
    while status in ("QUEUED", "SOLVING"):
        status = (await call("query_vrp_status", job_id=job_id, wait_s=20))["status"]
    assert status == "COMPLETED"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_inspector_finds_the_page_of_a_tool(packages: None, server: PlannerServer, era: str) -> None:
    """SPEC O2: with its policy and no permission; a client that shows no pages finds none."""
    where = ("--cli", server.mcp, "--transport", "http", "--protocol-era", era, "--method", "tools/call")
    asked = (*where, "--tool-name", "query_vrp_status", "--app-info")
    ended = await external_clients.node(external_clients.INSPECTOR, *asked, "--advertise-apps")
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    found = json.loads(ended.stdout)
    assert (found["hasApp"], found["resourceUri"].startswith("ui://planner/plan-")) == (True, True)
    assert "resourceError" not in found
    assert (await external_clients.node(external_clients.INSPECTOR, *asked)).returncode == 2


@pytest.mark.parametrize("balanced", [1], indirect=True)  # this client gives a stream up at its second break
@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
async def test_python_client_hears_of_each_event_once(
    server: PlannerServer, balanced: tuple[str, LoadBalancer], http: httpx.AsyncClient
) -> None:
    """SPEC X1, J4: the official Python client in the handshake era, by resources/subscribe."""
    url, switch = balanced
    heard: list[str] = []
    arrived = anyio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.append(str(message.params.uri))
            arrived.set()

    async with Client(f"{url}/mcp", mode="legacy", message_handler=hear) as client:
        job_id = await submit(client, ring(), "PT4S", fresh=True)
        await client.subscribe_resource(f"job://{job_id}")
        with anyio.fail_after(60):
            await wait_for(client, job_id, "COMPLETED")
            expected = len(await events_of(server, http, job_id)) - 1
            while len(heard) < expected:
                arrived = anyio.Event()
                await arrived.wait()
    assert switch.broken == 1
    assert heard == [f"job://{job_id}"] * expected


async def test_python_client_of_the_stateless_era_listens_anew(
    server: PlannerServer, balanced: tuple[str, LoadBalancer]
) -> None:
    """SPEC X1, J4: `Client.listen`, again and again until the job has ended."""
    url, switch = balanced
    changes = 0
    async with Client(f"{url}/mcp", mode="auto") as client:
        job_id = await submit(client, ring(), "PT4S", fresh=True)
        with anyio.fail_after(60):
            while switch.broken < CUTS:
                with contextlib.suppress(SubscriptionLost):
                    async with client.listen(resource_subscriptions=[f"job://{job_id}"]) as heard:
                        async for event in heard:
                            assert event == ResourceUpdated(uri=f"job://{job_id}")
                            changes += 1
            await wait_for(client, job_id, "COMPLETED")
    assert changes >= CUTS


async def test_fastmcp_client_runs_a_task(balanced: tuple[str, LoadBalancer]) -> None:
    """SPEC X2: FastMCP drives the task of 2026-07-28 to its result, each poll at another replica."""
    python = await anyio.to_thread.run_sync(peer_python)
    program = external_clients.FOLDER.parent / "clients" / "fastmcp_task.py"
    with anyio.fail_after(100):
        ended = await anyio.run_process(
            [str(python), str(program), f"{balanced[0]}/mcp", json.dumps(ring())], check=False
        )
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    seen = json.loads(ended.stdout)
    assert seen["status"] == "COMPLETED"
    assert seen["seen"][-1] == "completed"
    assert set(seen["seen"]) <= {"working", "completed"}
