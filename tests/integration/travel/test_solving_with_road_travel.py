"""Days that ask a road engine, solved by a real worker (SPEC S1)."""

from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import SCOPES, Principal
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.settings import RouterSettings, Settings
from tests.integration.server.tools.conftest import ToolClient
from tests.integration.travel.conftest import routers
from tests.integration.travel.fake_routing_servers import RoadEngine, metres, road_engine
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.street_scenario import CORNERS, day
from tests.shared.tools.tool_contexts import tool_context

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def running_engine() -> Iterator[RoadEngine]:
    """The engine that the worker of all tests knows."""
    with road_engine() as engine:
        yield engine


@pytest.fixture
def engine(running_engine: RoadEngine) -> RoadEngine:
    """That engine as if fresh."""
    running_engine.reset()
    return running_engine


Jobs = tuple[RedisStore, JobService, Settings]


@pytest.fixture(scope="module")
async def jobs(running_engine: RoadEngine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Jobs]:
    """Jobs with one worker that knows the engine."""
    known = {name: RouterSettings(**each) for name, each in routers(running_engine).items()}
    folder = tmp_path_factory.mktemp("roads")
    settings = Settings(data_dir=folder, routers=known, router_request_s=20, router_total_s=20)
    async with (
        connect(settings) as store,
        EventFeed(store) as feed,
        WorkerHarness(store, feed, settings).running_workers(1),
    ):
        yield store, JobService(store, feed, settings=settings), settings


@pytest.fixture
def tools_client(jobs: Jobs, engine: RoadEngine, request: pytest.FixtureRequest) -> ToolClient:
    """Tools of a principal that has asked nothing yet."""
    principal = Principal(request.node.name, SCOPES)
    return ToolClient(tool_context(*jobs, principal))


async def submit(tools_client: ToolClient, body: dict[str, Any], solve_time: str = "PT1S") -> str:
    scenario = await tools_client.use("create_scenario", **body)
    return str(
        (await tools_client.use("solve_vrp", scenario_id=scenario["scenario_id"], solve_time=solve_time))["job_id"]
    )


async def end(tools_client: ToolClient, job_id: str) -> Job:
    with anyio.fail_after(30):
        async for _ in tools_client.ctx.job_service.follow(tools_client.ctx.principal, job_id):
            pass
    return await tools_client.ctx.job_service.job(tools_client.ctx.principal, job_id)


async def test_a_plan_follows_the_roads_and_says_so(tools_client: ToolClient, engine: RoadEngine) -> None:
    """SPEC S1: distances are the engine's, and the plan tells engine, profile, version and map."""
    plan = Plan.from_json(await tools_client.plan(await submit(tools_client, day())))
    route = ["D", *(visit.location or "" for visit in plan.routes[0].visits), "D"]
    assert plan.distance_m == sum(metres(CORNERS[a], CORNERS[b]) for a, b in pairwise(route))
    assert route in (["D", "E", "A", "B", "C", "D"], ["D", "A", "E", "B", "C", "D"]), "a way east costs twice"
    facts = {"source": "osrm", "router": "car", "profile": "driving", "version": "5.27.1", "data_date": "2025-07-01"}
    assert plan.travel == facts
    assert "Travel by road: car (osrm, driving)." in plan.assumptions


async def test_a_ticket_with_an_open_address_is_left_out_and_no_road_is_asked_for(
    tools_client: ToolClient, engine: RoadEngine
) -> None:
    """SPEC T1, O4: of a day with roads the rest is planned; the ticket has its reason, and its shipment too."""
    places = [*day()["locations"], {"id": "?", "address": "鼓楼区中山路1号"}]
    late = [{"id": "x", "location": "?", "demand": 1}, {"id": "y", "location": "A", "demand": 1, "pickup": "x"}]
    job = await submit(tools_client, day(locations=places, tickets=[*day()["tickets"], *late]))
    plan = await tools_client.plan(job)
    left = {each["ticket_id"]: each["code"] for each in plan["unassigned"]}
    assert left == {"x": "NO_POSITION", "y": "SHIPMENT_HALF_UNSERVED"}
    assert plan["tickets_served"] == len(day()["tickets"])
    assert "address is ambiguous" in plan["unassigned"][0]["detail"]
    why = await tools_client.use("explain_unassigned", plan=job)
    assert why["tickets"][0]["in_the_way"] == {"NO_POSITION": 1}
    fixes = await tools_client.use("suggest_fixes", plan=job, ticket_ids=["x"])
    assert fixes["without_fix"] == ["x"]


async def test_the_same_places_are_asked_about_once(tools_client: ToolClient, engine: RoadEngine) -> None:
    """SPEC S1: kept per principal, engine and places: a re-solve, a revision and the planning tools ask no more."""
    unwanted = {"id": "x", "location": "B", "demand": 9, "penalty": 5}
    job = await submit(tools_client, day(tickets=[*day()["tickets"], unwanted]))
    plan = await tools_client.plan(job)
    assert len(engine.asked) == 1
    again = await tools_client.use(
        "resolve_vrp", warm_from=job, patch={"tickets": {"a": {"demand": 2}}}, keep_agents=True
    )
    await tools_client.plan(again["job_id"])
    assert [entry["ticket_id"] for entry in plan["unassigned"]] == ["x"]
    assert (await tools_client.use("explain_unassigned", plan=job))["tickets"][0]["ticket_id"] == "x"
    assert "lower_bound" in await tools_client.use("read_progress", job_id=job)
    assert (await tools_client.use("validate_scenario", scenario=day()))["valid"]
    assert len(engine.asked) == 1
    await tools_client.plan(await submit(tools_client, day("lorry")))
    assert len(engine.asked) == 2, "another engine knows other roads"


async def test_a_new_place_is_asked_about_where_the_answer_needs_it(
    tools_client: ToolClient, engine: RoadEngine
) -> None:
    """SPEC T5: inserting into a running plan asks about the newcomer; a plain revision leaves that to the solve."""
    job = await submit(tools_client, day())
    await tools_client.plan(job)
    newcomer = {
        "locations": {"F": {"lat": 39.92, "lon": 116.41}},
        "tickets": {"f": {"location": "F", "demand": 1}},
    }
    again = await tools_client.use("resolve_vrp", warm_from=job, patch=newcomer, keep_agents=True)
    assert again["kept_tickets"] == 4
    assert (await tools_client.plan(again["job_id"]))["tickets_served"] == 5
    assert len(engine.asked) == 2


async def test_before_the_first_solve_travel_is_reported_as_unknown(
    tools_client: ToolClient, engine: RoadEngine
) -> None:
    """SPEC T7: a day is checked for all that can be told without roads; nobody is asked for it."""
    answer = await tools_client.use("create_scenario", **day())
    assert answer["assumptions"] == ["Travel times are requested from the road engine car when the scenario is solved."]
    checked = await tools_client.use("validate_scenario", scenario=day())
    assert checked["valid"]
    assert "lower_bound" not in checked
    assert engine.asked == []


async def test_a_failing_engine_fails_the_job_with_a_code(tools_client: ToolClient, engine: RoadEngine) -> None:
    """SPEC T8: code 5050 and retryable; the next solve, with the engine back, succeeds."""
    engine.mood = "refuses"
    failed = await end(tools_client, await submit(tools_client, day()))
    assert failed.state is JobState.FAILED
    assert failed.error is not None
    assert (failed.error.code, failed.error.details["retryable"]) == (5050, True)
    engine.mood = ""
    assert (await end(tools_client, await submit(tools_client, day()))).state is JobState.COMPLETED


async def test_the_rest_of_a_day_is_planned_without_the_ticket_that_no_road_leads_to(
    tools_client: ToolClient, engine: RoadEngine
) -> None:
    """SPEC O9, T7: left out by its id, with the place, the evidence and what to do; asked once."""
    engine.islands = {CORNERS["C"]}
    job_id = await submit(tools_client, day())
    plan = await tools_client.plan(job_id)
    assert plan["tickets_served"] == 3
    (left,) = plan["unassigned"]
    assert (left["ticket_id"], left["code"]) == ("c", "NO_ROAD")
    assert "No agent can drive to C: it is without a road to or from 4 of the 4 others." in left["detail"]
    assert "Check its position" in left["detail"]
    (unassigned,) = (await tools_client.use("explain_unassigned", plan=job_id))["tickets"]
    assert "NO_ROAD" in str(unassigned)
    assert "skill" not in str(unassigned)
    fixes = await tools_client.use("suggest_fixes", plan=job_id)
    assert fixes["fixes"] == []
    (finding,) = (await tools_client.use("create_scenario", **day()))["unservable"]
    assert (finding["code"], finding["tickets"]) == ("NO_ROAD", 1)
    assert finding["which"] == ["c (C: without a road to or from 4 of the 4 others)"]
    assert len(engine.asked) == 1, "roads that are known are told of when a day is stored again"


async def test_a_strict_day_and_a_depot_off_the_roads_are_refused(tools_client: ToolClient, engine: RoadEngine) -> None:
    """SPEC T7: the job fails with the path of the ticket, or of the depot that the day cannot do without."""
    engine.islands = {CORNERS["C"]}
    strict = await end(tools_client, await submit(tools_client, day(strict=True)))
    assert strict.error is not None
    assert (strict.error.code, strict.error.faults[0].path) == (4005, "/tickets/2/location")
    apart = await end(tools_client, await submit(tools_client, day(depot="C")))
    assert apart.error is not None
    (fault,) = apart.error.faults
    assert (apart.error.code, fault.path) == (4005, "/locations/3")
    assert "Agents start, end or reload at C, which is without a road" in fault.problem
    answer = await tools_client.use("query_vrp_status", job_id=apart.id)
    assert answer["error"]["errors"][0]["path"] == "/locations/3"


async def test_cancelling_takes_effect_while_the_engine_is_asked(tools_client: ToolClient, engine: RoadEngine) -> None:
    """SPEC T4, S1: a hanging engine holds nobody."""
    engine.mood = "hangs"
    job_id = await submit(tools_client, day())
    with anyio.fail_after(30):
        while not engine.asked:  # noqa: ASYNC110 — the engine is a thread
            await anyio.sleep(0.01)
    watch = Stopwatch()
    await tools_client.use("cancel_vrp_job", job_id=job_id)
    assert (await end(tools_client, job_id)).state is JobState.CANCELLED
    assert watch.spent_s < 1.0
    engine.mood = ""
    engine.let_go.set()
    assert (await end(tools_client, await submit(tools_client, day()))).state is JobState.COMPLETED


@pytest.mark.slow
async def test_a_slow_engine_costs_neither_the_lease_nor_the_time_of_the_search(
    engine: RoadEngine, tmp_path: Path
) -> None:
    """SPEC J6, S1: the lease is kept while the engine is asked; a lost connection is asked again; then the search."""
    known = {name: RouterSettings(**each) for name, each in routers(engine).items()}
    settings = Settings(data_dir=tmp_path, routers=known, lease_s=2.0)
    held_up_s = 1.5 * settings.lease_s
    engine.mood = "hangs"
    async with (
        connect(settings) as store,
        EventFeed(store) as feed,
        WorkerHarness(store, feed, settings).running_workers(1),
    ):
        tools_client = ToolClient(tool_context(store, JobService(store, feed, settings=settings), settings))
        job_id = await submit(tools_client, day())
        with anyio.fail_after(30):
            while not engine.asked:  # noqa: ASYNC110 — the engine is a thread
                await anyio.sleep(0.01)
        await anyio.sleep(held_up_s)  # what is tested is that time passes
        answer = await tools_client.use("query_vrp_status", job_id=job_id)
        assert (answer["status"], answer["progress"]) == ("SOLVING", 0)
        engine.mood = ""
        engine.let_go.set()
        done = await end(tools_client, job_id)
    assert (done.state, done.crashes, done.fence) == (JobState.COMPLETED, 0, 1)
    assert done.progress.elapsed_s < held_up_s


async def test_unknown_engines_are_refused_with_all_other_faults(tools_client: ToolClient) -> None:
    """SPEC T7: all at once: the engine nobody configured and the place without a position."""
    wrong = day("http://10.0.0.1/", locations=[*day()["locations"][1:], {"id": "D"}])
    found = await tools_client.use("validate_scenario", scenario=wrong)
    assert {fault["path"] for fault in found["errors"]} == {"/travel/router", "/locations/4"}
    assert found["errors"][0]["accepted"] == "car or lorry"


def test_tables_survive_packing() -> None:
    """Our choice: thousandths are kept exactly."""
    import numpy as np

    travel_matrices = TravelMatrices(("a", "北"), np.array([[0, 0.001], [123456.789, 0]]), None, {"source": "t"})
    twin = TravelMatrices.unpack(travel_matrices.pack())
    assert twin.locations == travel_matrices.locations
    assert twin.durations is None
    assert twin.distances is not None
    assert (twin.distances / 1000).tolist() == travel_matrices.distances.tolist()  # type: ignore[union-attr]
