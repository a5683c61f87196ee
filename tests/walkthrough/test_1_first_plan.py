"""Chapter 1, a first plan: a day is stored, a solve is queued and waited for, its plan is read.

You learn the four steps that the other chapters build on: store, queue, wait, read. A *scenario* is a day of work:
agents (vehicles with their drivers) and tickets (visits). A solve of it is a *job*, and what a job finds is a *plan*.
"""

import json

import anyio
import pytest
from mcp import Client

from examples.planner_server import PlannerServer
from tests.shared.scenarios.client_scenarios import SMALLEST, submit, use, wait_for
from tests.walkthrough.three_visits import THREE_VISITS

pytestmark = pytest.mark.anyio


async def test_the_smallest_day_is_stored_and_its_assumptions_are_reported(server: PlannerServer) -> None:
    """SPEC T1: one agent and one ticket are a whole day, and what you left out is assumed aloud."""
    async with Client(server.mcp) as client:  # later chapters find it opened, as `client`
        result = await client.call_tool("create_scenario", SMALLEST)
    assert not result.is_error
    answer = result.structured_content
    assert answer["scenario_id"].startswith("scn-")
    assert (
        "Travel is not known: no location has a position, so each leg between two different locations counts 1."
        in answer["assumptions"]
    )


async def test_solve_is_answered_at_once_and_waited_for_afterwards(client: Client) -> None:
    """SPEC T2, T3: a job id comes before any solving; `wait_s` keeps a later call open until the job has ended."""
    scenario = await use(client, "create_scenario", **THREE_VISITS)  # `use` calls a tool that is not to refuse
    job = await use(client, "solve_vrp", scenario_id=scenario["scenario_id"], solve_time="PT1S")
    assert job["status"] == "QUEUED"
    status = job
    with anyio.fail_after(30):
        while status["status"] in ("QUEUED", "SOLVING"):
            status = await use(client, "query_vrp_status", job_id=job["job_id"], wait_s=10)
    assert (status["status"], status["progress"], status["tickets_served"]) == ("COMPLETED", 100, 3)


async def test_plan_is_read_as_a_table(client: Client) -> None:
    """SPEC T5, S1: a plan is read by views, and you name the columns you need; the visits keep their windows."""
    with anyio.fail_after(30):
        job_id = await submit(client, THREE_VISITS, "PT1S")  # `submit` stores a day and queues its solve
        await wait_for(client, job_id, "COMPLETED")  # and this is the loop of the test above
        table = await use(client, "read_plan", job_id=job_id, view="visits", fields=["ticket_id", "start"])
    assert table["columns"] == ["ticket_id", "start"]
    start = dict(table["rows"])
    assert start.keys() == {"t-1", "t-2", "t-3"}
    assert "09:00" <= start["t-1"] <= "11:00"
    assert "09:00" <= start["t-2"] <= "12:00"


async def test_plan_says_how_it_came_to_be(client: Client) -> None:
    """SPEC S2, S3: a plan, a resource as well, names engine, seed and versions, and calls nothing optimal."""
    with anyio.fail_after(30):
        job_id = await submit(client, THREE_VISITS, "PT1S")
        done = await wait_for(client, job_id, "COMPLETED")
        (contents,) = (await client.read_resource(f"plan://{done['plan_id']}")).contents
    plan = json.loads(contents.text)
    assert plan["status"] == "feasible"
    assert plan["engine"] in plan["versions"] or plan["engine"] == "enumeration"  # so few routes are all tried
    assert "planner-mcp" in plan["versions"]
    assert plan["seed"] == 0
    assert len(bytes.fromhex(plan["input_hash"])) == 32
