"""Published instances imported, solved and judged, over real processes (SPEC T5, S2)."""

import json
from typing import Any

import anyio
import pytest
from mcp import Client

from benchmarks.benchmark_instances import objective, problem_of
from examples.planner_server import PlannerServer
from planner_mcp.routing.problem import Candidate
from tests.shared.formats.instance_texts import FORMS
from tests.shared.scenarios.client_scenarios import use, wait_for

pytestmark = pytest.mark.anyio
SPIRAL = tuple((50 + 3 * n * (-1) ** n, (37 * n) % 101, 3 + n % 4, 0, 900, 5) for n in range(1, 13))
NODES: Any = ((50, 50, 0, 0, 1000, 0), *SPIRAL)


@pytest.mark.parametrize(
    "form", ["solomon", *(pytest.param(form, marks=pytest.mark.slow) for form in FORMS if form != "solomon")]
)
async def test_an_imported_instance_is_planned_and_costs_what_its_set_says(server: PlannerServer, form: str) -> None:
    """SPEC T5, S2: import, solve, read; the routes cost the same by the rule the benchmarks judge with."""
    read, write, rule = FORMS[form]
    text = write(NODES, **({} if form == "vrplib" else {"vehicles": 6}))
    with anyio.fail_after(60):
        async with Client(f"{server.url}/mcp?toolsets=core,data") as client:
            made = await use(client, "import_scenario", format=form, content=text, planning_date="2025-07-15")
            job = await use(client, "solve_vrp", scenario_id=made["scenario_id"], solve_time="PT1S")
            done = await wait_for(client, job["job_id"], "COMPLETED")
            plan_id = job["job_id"].replace("job-", "plan-", 1)
            (contents,) = (await client.read_resource(f"plan://{plan_id}")).contents
    plan = json.loads(contents.text)
    assert (plan["tickets_served"], done["status"]) == (12, "COMPLETED")
    published = read(text.encode(), max_nodes=100)
    assert plan["cost"] == objective(problem_of(published, rule), _candidate(plan, form)) / rule.published


def _candidate(plan: dict[str, Any], form: str) -> Candidate:
    """Return the routes of a plan: agents count from 1, tickets by the number of their node."""
    first = 2 if form == "vrplib" else 1
    return Candidate.of_tickets(
        {
            int(route["agent_id"][1:]) - 1: [int(visit["ticket_id"]) - first for visit in route["visits"]]
            for route in plan["routes"]
        }
    )
