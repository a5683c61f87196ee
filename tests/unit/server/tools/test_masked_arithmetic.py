"""What a principal without `planner:sensitive` can work out about a scenario that another wrote (SPEC R3, ADR 0035).

Two scenarios differ in masked values alone: positions within the rounding, prices, names. Whatever the attacker asks
must be answered alike for both; then nothing that it computes from the answers tells it which of them it has.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from math import cos, hypot, radians
from typing import Any

import pytest

from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_content import job_view
from planner_mcp.jobs.job_events import notification
from planner_mcp.jobs.principals import READ, SCOPES, WRITE, Principal
from planner_mcp.jobs.records.import_records import UploadedFile
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.infeasibility_reasons import GAVE_WAY
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.text import Json
from tests.shared.scenarios.masked_twins import (
    DEPOT,
    KNOWN,
    SECRETS,
    SHOWN,
    TWINS,
    day,
    with_known_points,
    without_names,
)
from tests.shared.scenarios.stored_plans import Call, created, finish, solved
from tests.unit.server.tools.discovery.test_read_resource import reading
from workers.webhook_dispatcher import delivery_of

pytestmark = pytest.mark.anyio
Ask = Callable[..., Awaitable[Any]]
METRES_A_DEGREE = 111_195.0
WITHOUT_SCENARIO = {"create_scenario", "enable_toolset", "webhook_secret"}
"""Tools that meet no scenario of another credential."""


@pytest.fixture
def attacker(ctx: ToolContext) -> ToolContext:
    """The principal that owns everything, by a credential without the scope."""
    return reading(ctx, replace(ctx.principal, scopes=frozenset({READ, WRITE})))


async def attack(call: Call, store: RedisStore, attacker: ToolContext, scenario_id: str, job_id: str) -> list[str]:
    """Return the answers to everything the attacker can think of, without the names of things."""
    plan_id, found = plan_of(job_id), []

    async def ask(tool: str, **args: Any) -> Json:
        answer = await call(tool, args, attacker)
        found.extend([json.dumps(answer.structured, sort_keys=True), answer.text])
        return answer.structured

    async def solve(*routes: list[str], **args: Any) -> str:
        answer = await ask("resolve_vrp", warm_from=job_id, fresh=True, **args)
        if "job_id" in answer:  # else refused, which tells as much
            await finish(store, *routes)
        return str(answer.get("job_id", ""))

    for uri in (
        f"scenario://{scenario_id}",
        f"scenario://{scenario_id}/result",
        f"job://{job_id}",
        "jobs://vrp/status/all?page=1&size=20",
        *(
            f"plan://{plan_id}{part}"
            for part in (
                "",
                "/map.svg",
                "/report.html",
                "/sheets.html",
                "/stops.csv",
                "/routes.geojson",
                "/routes.gpx",
                "/routes/1.ics",
            )
        ),
    ):
        offset: int | None = 0
        while offset is not None:
            offset = (await ask("read_resource", uri=uri, offset=offset)).get("next_offset")
    for view in ("summary", "routes", "visits", "unassigned"):
        await ask("read_plan", job_id=job_id, view=view)
    await ask("query_vrp_status", job_id=job_id)
    await ask("list_jobs")
    await ask("list_scenarios")
    await ask("read_progress", job_id=job_id)
    await ask("read_view", job_id=job_id, parts=["day", "plan", "events", "bound"])
    await ask("explain_unassigned", plan=job_id)
    await ask("suggest_fixes", plan=job_id)
    # bounds, and whether a deadline can be kept: bisection of a distance
    await ask("validate_scenario", scenario_id=scenario_id)
    for until in ("08:10", "08:40", "09:30"):
        await ask("validate_scenario", scenario_id=scenario_id, patch=with_known_points(until=until))
    # trilateration, and the difference of two solves
    plans = [await solve([f"x-{key}"], patch=with_known_points()) for key in KNOWN]
    plans.append(await solve(["x-K2", "x-K1"], patch=with_known_points(fixed_to=["x-K1", "x-K2"])))
    for plan in plans:
        await ask("read_plan", job_id=plan, view="visits")
        await ask("read_plan", job_id=plan)
        await ask("query_vrp_status", job_id=plan)  # tells what it changes
        await ask("read_progress", job_id=plan)
    await ask("compare_plans", plan_a=job_id, plan_b=plans[0])
    await ask("compare_plans", plan_a=plans[0], plan_b=plans[1])
    await ask("weigh_plans", plans=[job_id, *plans])
    await change_the_day(ask, solve)
    await ask("plan_day", scenario_id=scenario_id, wait_s=0)
    await finish(store, ["t-1", "t-2"])
    await ask("solve_alternatives", plan=job_id, k=1, wait_s=0)
    await ask("what_if", plan=job_id, cases={"open": {"patch": with_known_points()}}, wait_s=0)
    while (claim := await store.claim("w1", 0)) is not None:
        await store.hand_back(claim)
        await ask("cancel_vrp_job", job_id=claim.job.id)
    if "job_id" in (proof := await ask("prove_plan", plan=job_id, fresh=True)):
        await finish(store, ["t-1", "t-2"], bound=0.93)
        for tool in ("query_vrp_status", "read_progress", "read_plan"):
            await ask(tool, job_id=proof["job_id"])
    for tool in ("propose_plan", "review_plan", "publish_plan", "finish_vrp_job"):
        await ask(tool, job_id=job_id, **({"decision": "approve"} if tool == "review_plan" else {}))
    await ask("share_plan", job_id=job_id, revoke=True)  # what a link shows is read as the resources are
    for action in ("list", "endpoints"):
        await ask("webhook_deliveries", action=action)
    for form in ("csv", "vroom"):  # faults name cells
        await ask("import_scenario", file="orders.csv", format=form, planning_date="2025-07-15")
    await ask("import_scenario", file="orders.csv", planning_date="2025-07-15", agents=[{"id": "v", "capacity": 9}])
    revision = (await ask("revise_scenario", scenario_id=scenario_id, patch=with_known_points()))["scenario_id"]
    await ask("read_resource", uri=f"scenario://{revision}")
    await ask("validate_scenario", scenario_id=revision)
    again = (await ask("solve_vrp", scenario_id=scenario_id, fresh=True))["job_id"]
    await finish(store, ["t-1", "t-2"])
    await ask("read_plan", job_id=again)
    await ask("query_vrp_status", job_id=again)
    principal, service = attacker.principal, attacker.job_service
    found.append(json.dumps(job_view(await service.job(principal, job_id))))
    found.extend(json.dumps(notification(event)) for event in await service.history(principal, job_id))
    found.extend([json.dumps(notification(event)) async for event in _events(service.follow(principal, job_id))])
    return [without_names(text) for text in found]


async def change_the_day(ask: Ask, solve: Ask) -> None:
    """Ask what has happened by an hour: whoever chooses the hour would learn when a stop is reached."""
    for hour in ("08:00", "08:07", "08:14", "08:30", "09:00"):
        await solve(["t-1", "t-2"], keep_until=hour)
        await solve(["t-1", "t-2"], keep_until=hour, late_by={"veh-1": 600})
    near = {"id": "x-new", "location": "K1", "demand": 0}
    at = {"id": "K1", "lat": KNOWN["K1"][0], "lon": KNOWN["K1"][1]}
    await solve(["t-1", "t-2"], keep_until="08:20", new_ticket=[near], patch={"locations": {"K1": at}})
    await solve(["t-2"], keep_until="08:20", cancelled_ticket=["t-1"])
    await solve(["t-2"], keep_until="08:30", no_show=["t-1"])
    await ask("resolve_vrp", warm_from="job-0-" + 26 * "a", absent=["veh-1"])


async def _events(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for event in events:
        yield event


@pytest.mark.slow
async def test_nothing_that_is_answered_depends_on_what_is_masked(
    call: Call, attacker: ToolContext, store: RedisStore
) -> None:
    """SPEC R3: through tools, resources, exports, pictures, events and errors, for two scenarios that look alike."""
    answers, asked = [], set()

    async def noted(tool: str, *args: Any) -> Any:
        asked.add(tool)
        return await call(tool, *args)

    for number, twin in enumerate(TWINS):
        owner = replace(attacker, principal=Principal(f"owner-{number}", SCOPES))
        scenario_id = (await call("create_scenario", twin, owner)).structured["scenario_id"]
        job_id = (await call("solve_vrp", {"scenario_id": scenario_id}, owner)).structured["job_id"]
        await finish(store, ["t-1", "t-2"])
        orders = f"id,lat,lon,name,demand\nA,{twin['locations'][0]['lat']},116.4,{twin['agents'][0]['name']},x\n"
        await store.put_file(f"owner-{number}", "orders.csv", UploadedFile(orders.encode(), is_confidential=True))
        thief = reading(attacker, Principal(f"owner-{number}", attacker.principal.scopes))
        answers.append(await attack(noted, store, thief, scenario_id, job_id))
    assert asked >= {tool.name for tool in REGISTRY} - WITHOUT_SCENARIO
    assert len(answers[0]) > 80
    for one, other in zip(*answers, strict=True):
        assert one == other
    shown = "\n".join(answers[0])
    assert [secret for secret in SECRETS if secret in shown] == []


async def test_three_known_points_reveal_the_rounded_depot_and_not_the_depot(
    call: Call, attacker: ToolContext, store: RedisStore
) -> None:
    """SPEC R3: distances from points of the attacker, which told a masked depot to 0.3 m."""
    job_id = await solved(call, store, await created(call, day()), ["t-1", "t-2"])
    distances = {}
    for key in KNOWN:
        answer = await call("resolve_vrp", {"warm_from": job_id, "patch": with_known_points()}, attacker)
        await finish(store, [f"x-{key}"])
        visits = await call("read_plan", {"job_id": answer.structured["job_id"], "view": "routes"}, attacker)
        distances[key] = visits.structured["rows"][0][visits.structured["columns"].index("distance_m")] / 2
    detour = distances["K1"] / _metres(KNOWN["K1"], SHOWN)
    for key, metres in distances.items():
        assert metres == pytest.approx(detour * _metres(KNOWN[key], SHOWN), rel=2e-3)
    errors = [abs(metres - detour * _metres(KNOWN[key], DEPOT)) for key, metres in distances.items()]
    assert max(errors) > 100


async def test_a_webhook_that_an_attacker_asks_for_contains_no_cost(
    call: Call, ctx: ToolContext, attacker: ToolContext, store: RedisStore
) -> None:
    """SPEC R3, W2: the body leaves out figures; that of a caller with the scope has them."""
    scenario_id = await created(call, day())
    bodies = []
    for caller in (attacker, ctx):
        asked = {"scenario_id": scenario_id, "callback_url": "https://hooks.example.com/x"}
        assert not (await call("solve_vrp", asked, caller)).is_error
        await finish(store, ["t-1", "t-2"])
        entries = await store.redis.xrevrange(store_keys.key(0, "outbox"), count=1)
        bodies.append(delivery_of(entries[0]).body)
    assert [("cost" in body, "distance_m" in body, "tickets_served" in body) for body in bodies] == [
        (False, False, True),
        (True, True, True),
    ]


async def test_what_a_principal_wrote_without_the_scope_it_computes_on_exactly(
    call: Call, attacker: ToolContext, store: RedisStore
) -> None:
    """SPEC R3: a dispatcher who types addresses in knows them; its plans are as good as anybody's."""
    scenario_id = (await call("create_scenario", day(), attacker)).structured["scenario_id"]
    own = (await call("solve_vrp", {"scenario_id": scenario_id}, attacker)).structured["job_id"]
    await finish(store, ["t-1", "t-2"])
    full = await solved(call, store, await created(call, day()), ["t-1", "t-2"])
    mine = (await call("read_plan", {"job_id": own}, attacker)).structured
    exact = (await call("read_plan", {"job_id": full})).structured
    assert [mine[name] for name in ("cost", "distance_m", "duration_s")] == [
        exact[name] for name in ("cost", "distance_m", "duration_s")
    ]


async def test_a_masked_plan_says_that_it_is_one(call: Call, attacker: ToolContext, store: RedisStore) -> None:
    """SPEC R3, T7: its times are near the truth and no more; what is served is true."""
    job_id = await solved(call, store, await created(call, day()), ["t-1", "t-2"])
    shown = (await call("read_plan", {"job_id": job_id}, attacker)).structured
    assert "planner:sensitive" in shown["assumptions"][0]
    assert (shown["tickets_served"], shown["unassigned"], "cost" in shown) == (2, 1, False)
    progress = (await call("read_progress", {"job_id": job_id}, attacker)).structured
    assert "lower_bound" not in progress


async def test_why_a_group_is_incomplete_is_shown_without_the_scope_too(
    call: Call, ctx: ToolContext, attacker: ToolContext, store: RedisStore
) -> None:
    """SPEC R3, T5: the sentence has no values; which tickets the plan leaves out, and why, is shown anyway."""
    groups = [{"kind": "one_of", "tickets": ["t-1", "t-2"]}, {"kind": "all", "tickets": ["t-2", "t-3"]}]
    job_id = await solved(call, store, await created(call, day() | {"groups": groups}), ["t-1"])
    asked = {"plan": job_id, "ticket_ids": ["t-3"]}
    whole, masked = [(await call("suggest_fixes", asked, who)).structured["notes"] for who in (ctx, attacker)]
    assert whole == masked == [f"t-3: {GAVE_WAY}"]


def _metres(a: tuple[float, float], b: tuple[float, float]) -> float:
    north = (a[0] - b[0]) * METRES_A_DEGREE
    return hypot(north, (a[1] - b[1]) * METRES_A_DEGREE * cos(radians((a[0] + b[0]) / 2)))
