"""`what_if`: changes of a day side by side, and what each would save (SPEC T5)."""

from typing import Any

import anyio
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolResult
from tests.shared.scenarios.scenario_builders import body, ticket
from tests.shared.scenarios.stored_plans import DAY, Call, created, finish, solved

pytestmark = pytest.mark.anyio

ONE_MORE = {"patch": {"agents": {"x": {"capacity": 9, "shift_end": 20}}}}


async def answered(
    call: Call, store: RedisStore, arguments: dict[str, Any], *plans: tuple[list[str], ...]
) -> ToolResult:
    """Ask, with a worker that finds these plans one after the other."""
    answers: list[ToolResult | ErrorResult] = []

    async def ask() -> None:
        answers.append(await call("what_if", arguments))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        for number, routes in enumerate(plans):
            with anyio.fail_after(30):
                while len((await call("list_jobs", {})).structured["rows"]) < number + 2:  # noqa: ASYNC110 — bounded
                    await anyio.sleep(0.01)
            await finish(store, *routes)
    (answer,) = answers
    assert isinstance(answer, ToolResult), answer.text
    return answer


async def test_each_case_is_a_row_beside_the_day_as_it_is(call: Call, store: RedisStore) -> None:
    """Our choice: one call, several patches, one table; the first row is the day without a change."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    cases = {"without c": {"cancelled_ticket": ["c"]}, "one more van": ONE_MORE}
    asked = {"plan": base, "cases": cases, "wait_s": 30, "solve_time": "PT1S"}
    answer = await answered(call, store, asked, (["a", "b"], ["c"]), (["a", "b"],), (["a", "b"], ["c"]))
    rows = [dict(zip(answer.structured["columns"], row, strict=True)) for row in answer.structured["rows"]]
    assert [row["case"] for row in rows] == ["as it is", "without c", "one more van"]
    assert {row["status"] for row in rows} == {"COMPLETED"}
    assert [row["served"] for row in rows] == ["3/3", "2/2", "3/3"]
    assert [row["agents"] for row in rows] == [2, 1, 2]
    assert rows[1]["saves"] == pytest.approx(rows[0]["cost"] - rows[1]["cost"])
    assert rows[1]["saves"] > 0
    assert rows[2]["saves"] == 0
    assert rows[0]["saves"] is rows[0]["saves_at_least"] is None
    assert all(0 <= row["gap"] <= 1 for row in rows)
    progress = (await call("read_progress", {"job_id": base})).structured
    least = progress["lower_bound"] - rows[1]["cost"]
    assert rows[1]["saves_at_least"] == (pytest.approx(least) if least > 0 else None)
    assert answer.structured["changes"]["one more van"] == ["agents: 1 added (x)"]


async def test_what_holds_for_all_cases_is_reported_once(call: Call, store: RedisStore) -> None:
    """SPEC T9: a standing warning of the day is no change of any case; what a case brings stands with it alone."""
    day = body(DAY["agents"], [*DAY["tickets"][:2], {**DAY["tickets"][2], "preferred_agent": "v"}])
    base = await solved(call, store, await created(call, day), ["a", "b"], ["c"])
    odd = {"patch": {"tickets": {"a": {"preferred_agent": "w"}}}}
    cases = {"one more van": ONE_MORE, "two more": ONE_MORE, "odd": odd}
    answer = await call("what_if", {"plan": base, "cases": cases, "wait_s": 0})
    advice = "preferred_agent: Without switch_cost this has no effect. Set switch_cost, or remove this."
    assert answer.structured["warnings"] == [f"/tickets/c/{advice}"]
    assert answer.text.count("has no effect") == 2
    assert answer.structured["changes"] == {
        "one more van": ["agents: 1 added (x)"],
        "two more": ["agents: 1 added (x)"],
        "odd": ["tickets: 1 changed (a)", f"/tickets/a/{advice}"],
    }


async def test_a_case_that_makes_a_ticket_unservable_says_so(call: Call, store: RedisStore) -> None:
    """SPEC T5: the table shows one ticket less, and what nobody could serve before is no news."""
    day = body(DAY["agents"], [*DAY["tickets"], ticket("far", demand=50)])
    base = await solved(call, store, await created(call, day), ["a", "b"], ["c"])
    heavy = {"new_ticket": [ticket("heavy", demand=99)]}
    answer = await call("what_if", {"plan": base, "cases": {"heavy": heavy, "one more van": ONE_MORE}, "wait_s": 0})
    added, count, why, *_ = answer.structured["changes"]["heavy"]
    assert (added, count) == ("tickets: 1 added (heavy)", "Nobody can serve 1 of the tickets; plans leave them out:")
    assert why.startswith("CAPACITY: heavy (99): ")
    assert f"heavy:\n  {added}\n  {count}\n  {why}" in answer.text
    assert not any("Nobody" in line for line in answer.structured["changes"]["one more van"])


async def test_a_case_that_leaves_more_out_saves_nothing(call: Call, store: RedisStore) -> None:
    """Our choice: what is not driven costs nothing, which is no saving."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    asked = {"plan": base, "cases": {"other agents": ONE_MORE}, "wait_s": 30, "solve_time": "PT1S"}
    answer = await answered(call, store, asked, (["a", "b"], ["c"]), (["a", "b"],))
    rows = [dict(zip(answer.structured["columns"], row, strict=True)) for row in answer.structured["rows"]]
    assert rows[1]["cost"] < rows[0]["cost"]
    assert (rows[1]["served"], rows[1]["saves"]) == ("2/3", None)


async def test_every_case_starts_from_the_plan_with_the_same_time(call: Call, store: RedisStore) -> None:
    """Our choice: what a change saves is not what more time would have saved."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    asked = {"plan": base, "cases": {"one more van": ONE_MORE}, "wait_s": 0, "solve_time": "PT7S"}
    answer = await call("what_if", asked)
    assert [row[2] for row in answer.structured["rows"]] == ["QUEUED", "QUEUED"]
    assert "query_vrp_status" in answer.text
    for _ in range(2):
        claim = await finish(store, ["a", "b"], ["c"])
        assert (claim.job.request.solve_time_s, claim.job.request.warm_plan_id) == (7, base.replace("job", "plan", 1))


@pytest.mark.parametrize(
    ("cases", "path"),
    [
        ({"x": {"solve_time": "PT5S"}}, "/cases/x/solve_time"),
        ({"x": {"warm_from": "job-0-a"}}, "/cases/x/warm_from"),
        ({"as it is": {}}, "/cases/as it is"),
        ({"x": {"nonsense": 1}}, "/cases/x/nonsense"),
        ({"x/y": {"patch": {"agents": {"v": {"capacity": -1}}}}}, "/cases/x~1y/patch/agents/v/capacity"),
        ({"x": {"new_ticket": [{"id": "z", "location": "A", "demand": -1}]}}, "/cases/x/new_ticket/0/demand"),
        ({}, "/cases"),
    ],
)
async def test_a_mistake_is_reported_at_its_case(
    call: Call, store: RedisStore, cases: dict[str, Any], path: str
) -> None:
    """SPEC T7: every fault with its place."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    refused = await call("what_if", {"plan": base, "cases": cases})
    assert refused.is_error
    assert [fault["path"] for fault in refused.structured["errors"]] == [path]


async def test_what_would_be_accepted_in_a_case_leaves_out_what_holds_for_all(call: Call, store: RedisStore) -> None:
    """SPEC T7: an argument that the next answer would refuse was named."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    refused = await call("what_if", {"plan": base, "cases": {"x": {"agents": {}}}})
    accepted = refused.structured["errors"][0]["accepted"].split(", ")
    assert "patch" in accepted
    assert not {"warm_from", "solve_time", "seed", "fresh"} & {*accepted}
    (fault,) = (await call("what_if", {"plan": base, "cases": {"x": {"solve_tim": 9}}})).structured["errors"]
    assert fault["hint"] == ""


async def test_mistakes_of_all_cases_are_reported_together_and_nothing_is_queued(call: Call, store: RedisStore) -> None:
    """SPEC T7: five cases are corrected in one turn; those that are right wait for them."""
    base = await solved(call, store, await created(call), ["a", "b"], ["c"])
    for cases, paths in (
        ({"x": ONE_MORE, "y": {"absent": ["n"]}, "z": {"absent": ["m"]}}, ["/cases/y/absent/0", "/cases/z/absent/0"]),
        ({"x": {"nonsense": 1}, "y": {"absent": "v"}}, ["/cases/x/nonsense", "/cases/y/absent"]),
    ):
        refused = await call("what_if", {"plan": base, "cases": cases})
        assert [fault["path"] for fault in refused.structured["errors"]] == paths
    assert (await call("list_jobs", {"status": "QUEUED"})).structured["total"] == 0


async def test_a_plan_that_is_not_there_yet_is_reported_at_its_argument(call: Call) -> None:
    """SPEC T7: at the argument that names it here."""
    queued = (await call("solve_vrp", {"scenario_id": await created(call)})).structured["job_id"]
    refused = await call("what_if", {"plan": queued, "cases": {"x": ONE_MORE}})
    assert refused.structured["type"] == "PlanNotReady"
    assert [fault["path"] for fault in refused.structured["errors"]] == ["/plan"]
