"""`validate_scenario`: a day judged and not kept, in the words of the tools that keep it (SPEC T1, T5, T7)."""

import pytest

from planner_mcp.routing.feasibility import infeasibility_faults
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import DAY, Call, created

pytestmark = pytest.mark.anyio


async def test_a_day_is_checked_without_being_kept(call: Call, ctx: ToolContext) -> None:
    """SPEC T5, T7: faults are the answer; conflicts and bounds come with a sound day."""
    wrong = await call("validate_scenario", {"scenario": {**DAY, "depot": "nowhere"}})
    assert not wrong.is_error
    assert (wrong.structured["valid"], wrong.structured["errors"][0]["path"]) == (False, "/depot")
    full = body([agent(capacity=2)], [ticket("a"), ticket("b", "B"), ticket("c", "C")])
    right = (await call("validate_scenario", {"scenario": full})).structured
    assert (right["valid"], right["conflict"]["kind"], right["conflict"]["tickets"]) == (True, "CAPACITY", 3)
    assert (await ctx.job_service.scenarios(ctx.principal))[1] == 0
    scenario_id = await created(call)
    patch = {"tickets": {"a": {"demand": 99}}}
    patched = (await call("validate_scenario", {"scenario_id": scenario_id, "patch": patch})).structured
    assert (patched["valid"], patched["unservable"][0]["path"]) == (True, "/tickets/a/demand")
    strict = await call("validate_scenario", {"scenario_id": scenario_id, "patch": {**patch, "strict": True}})
    assert strict.structured["errors"][0]["path"] == "/patch/tickets/a/demand"


async def test_faults_that_are_not_listed_are_counted(call: Call) -> None:
    """SPEC T7, T9: the same number in every tool, however few of them it has room for."""
    tickets = [{"id": f"t{n}", "location": "A", "demand": 1, f"x{n}": 1} for n in range(100)]
    wrong = body(tickets=tickets)
    refused = (await call("create_scenario", wrong)).structured
    kept = len(refused["errors"])
    assert refused["message"] == f"100 problems; the first {kept} are listed."
    assert kept + refused["errors_omitted"] == 100
    validation_report = (await call("validate_scenario", {"scenario": wrong})).structured["errors"]
    assert validation_report[10]["problem"] == "90 more problems are not listed."


async def test_equal_mistakes_are_reported_as_one_with_their_tickets(call: Call) -> None:
    """SPEC T7, T9: all hundred in one error, and in the report."""
    wrong = body(tickets=[{"id": f"t{n}", "location": "A"} for n in range(100)])
    (fault,) = (await call("create_scenario", wrong)).structured["errors"]
    assert (fault["count"], fault["which"][:3]) == (100, ["t0", "t1", "t2"])
    (reported,) = (await call("validate_scenario", {"scenario": wrong})).structured["errors"]
    assert reported["count"] == 100


async def test_large_matrices_never_pass_through_a_call(call: Call, ctx: ToolContext) -> None:
    """SPEC T1: neither in a day nor in a patch, and told with what else is wrong; 200 rows do."""
    names = [f"L{n}" for n in range(201)]
    travel = {"distances": [[0] * 201] * 201, "matrix_locations": names}
    large = body([agent(shift_start=9, shift_end=8)], [ticket("a", "L0")], depot="L1", locations=[], travel=travel)
    refused = await call("create_scenario", large)
    answered = {fault["path"]: fault for fault in refused.structured["errors"]}
    assert answered.keys() == {"/travel/distances", "/agents/0/shift_end"}
    assert "/matrices" in answered["/travel/distances"]["hint"]
    validation_report = await call("validate_scenario", {"scenario": large})
    assert {fault["path"] for fault in validation_report.structured["errors"]} == answered.keys()
    patch = {"scenario_id": await created(call), "patch": {"travel": travel}}
    assert (await call("revise_scenario", patch)).structured["errors"][0]["path"] == "/patch/travel/distances"
    small = {"distances": [[0] * 200] * 200, "matrix_locations": names[:200]}
    assert not (await call("create_scenario", {**large, "agents": [agent()], "travel": small})).is_error


async def test_a_lower_bound_is_never_above_what_the_best_plan_costs(call: Call) -> None:
    """SPEC T5, J5: 3.006 is "3 or more"; the nearest cent would claim more than there is to pay."""
    day = body([agent(fixed_cost=3.006)], [ticket("a", "D")])
    validation_report = await call("validate_scenario", {"scenario": day})
    assert validation_report.structured["lower_bound"] == 3
    assert "cost: 3 or more." in validation_report.text


async def test_one_ticket_in_the_way_of_all_plans_is_described_in_the_singular(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T5: "a cannot be served", not "a cannot all be served"; in a scenario too large to be refused for it."""
    monkeypatch.setattr(infeasibility_faults, "MAX_PROVED_TICKETS", 1)
    late = ticket("a", setup_time_s=3, time_windows=[[0, 2]])
    day = body([agent(shift_end=6, max_duration_s=3)], [late, ticket("b", "D")])
    conflict = (await call("validate_scenario", {"scenario": day})).structured["conflict"]
    assert conflict["ticket_ids"] == ["a"]
    assert conflict["text"].startswith("a cannot be served: ")
