"""What passes as a plan, and when it is judged."""

from itertools import count
from typing import Any

import pytest

from planner_mcp.errors import EngineError, PlanRejectedError
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan, ProofRecord
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.rule_case import TOUR, abc, agent, ticket
from tests.shared.scenarios.rule_cases import RULE_CASES
from tests.shared.scenarios.scenario_builders import compiled
from workers.engines.heuristics.locked_only_plan import broken_locks, locked_only
from workers.solver_processes.verified_incumbent import FALLBACK_S, MIN_INTERVAL_S, Incumbent, PlanOrigin

STAMP = PlanOrigin("test", 7, {"test": "1"}, "hash")
TOURS = Candidate.of_tickets({0: [0, 1, 2]})
WORSE = Candidate.of_tickets({0: [1, 0, 2]})
TOO_MUCH = Candidate.of_tickets({0: [0, 1, 2], 1: [0]})
"""Serves A twice, and costs more than it should."""


class IncumbentHarness:
    """Keeps what is published, at times it sets itself."""

    def __init__(self, **changes: object) -> None:
        self.now = 100.0
        self.sent: list[tuple[float, int]] = []
        body = {**RULE_CASES[0].body, "agents": [agent(1), agent(2)], "tickets": abc(), **changes}
        self.problem: Problem = compiled(body)
        self.incumbent = Incumbent(self.problem, STAMP, self._publish, clock=lambda: self.now)

    def _publish(self, plan: Plan, improvements: int) -> None:
        self.sent.append((plan.cost, improvements))


def test_only_cheaper_plans_are_published() -> None:
    """SPEC S3: never a worse plan."""
    harness = IncumbentHarness()
    for candidate in (WORSE, TOURS, WORSE):
        harness.incumbent.offer(candidate)
        harness.now += 1
    assert [improvements for _, improvements in harness.sent] == [1, 2]
    assert harness.sent[-1][0] == TOUR


def test_candidates_that_come_fast_wait_for_their_turn_and_the_newest_is_checked() -> None:
    """Our choice: judging must not eat the time of the search."""
    harness = IncumbentHarness()
    harness.incumbent.offer(WORSE)
    harness.incumbent.offer(Candidate.of_tickets({0: [0, 2, 1]}))
    harness.incumbent.offer(TOURS)
    assert len(harness.sent) == 1
    harness.now += MIN_INTERVAL_S
    harness.incumbent.evaluate_if_due()
    assert harness.sent[1:] == [(TOUR, 2)]


def test_a_proof_is_published_with_the_waiting_plan() -> None:
    """SPEC S2: a plan that was found just before its proof is not hidden behind the one before it."""
    harness = IncumbentHarness()
    harness.incumbent.offer(WORSE)
    harness.incumbent.offer(TOURS)
    harness.incumbent.attach(ProofRecord(TOUR, is_optimal=True))
    assert harness.incumbent.plan is not None and harness.incumbent.plan.proof is not None
    assert [cost for cost, _ in harness.sent[1:]] == [TOUR, TOUR]


def test_a_plan_that_costs_more_than_the_proved_one_is_not_called_optimal() -> None:
    """SPEC S2: where the proved plan did not wait any more, because a later candidate had taken its place."""
    harness = IncumbentHarness()
    for candidate in (WORSE, TOURS, TOO_MUCH):
        harness.incumbent.offer(candidate)
    harness.incumbent.attach(ProofRecord(TOUR, is_optimal=True))
    assert harness.incumbent.plan is not None
    assert harness.incumbent.plan.proof == ProofRecord(TOUR)
    assert harness.incumbent.settle(TOURS).proof == ProofRecord(TOUR, is_optimal=True)


def test_rejected_plan_is_never_an_answer() -> None:
    """SPEC S2: a plan that fails the verifier is an engine error."""
    harness = IncumbentHarness()
    harness.incumbent.offer(TOO_MUCH)
    assert harness.sent == []
    with pytest.raises(PlanRejectedError):
        harness.incumbent.settle(TOO_MUCH)


def test_of_a_rejected_plan_what_holds_is_an_answer() -> None:
    """SPEC S2: a mistake of an engine costs the tickets it concerns, not the job; the rejection is kept for the log."""
    harness = IncumbentHarness(agents=[agent(1, capacity=2)])
    plan = harness.incumbent.settle(Candidate.of_tickets({0: [0, 1, 2]}))
    assert plan.tickets_served == 2
    assert harness.incumbent.violations


def test_a_rejected_plan_is_repaired_as_long_as_there_is_time() -> None:
    """SPEC S2: the search is over by then; what does not hold when that time is up is cut."""
    tickets = [ticket("A", id=f"t{n}") for n in range(60)]
    harness, ticks, step_s = IncumbentHarness(agents=[agent(1, capacity=40)], tickets=tickets), count(), 0.01
    incumbent = Incumbent(harness.problem, STAMP, lambda *_: None, clock=lambda: step_s * next(ticks))
    assert incumbent.settle(Candidate.of_tickets({0: [*range(60)]})).tickets_served == 40
    assert next(ticks) < FALLBACK_S / step_s + 10


def test_verified_plan_stands_beside_a_rejected_one() -> None:
    """Our choice: what was proved stays proved; the rejection is kept for the log."""
    harness = IncumbentHarness()
    harness.incumbent.offer(WORSE)
    harness.now += 1
    harness.incumbent.offer(Candidate.of_tickets({0: [0, 1], 1: [1]}))
    assert harness.incumbent.settle(None).engine == "test"


def test_engine_without_a_plan_leaves_everything_unassigned() -> None:
    """SPEC S2: an infeasible day is a result."""
    plan = IncumbentHarness().incumbent.settle(None)
    assert plan.tickets_served == 0
    assert len(plan.unassigned) == 3


def test_engine_without_a_plan_leaves_locked_visits_alone() -> None:
    """SPEC S1, S2: that the time was too short for a search is no fault of the locks."""
    plan = IncumbentHarness(agents=[agent(1, locked_tickets=["B"]), agent(2)]).incumbent.settle(None)
    assert [visit.ticket_id for route in plan.routes for visit in route.visits] == ["B"]


def test_locks_that_nobody_can_keep_are_an_error() -> None:
    """SPEC T7: not even the empty plan holds where an agent must serve a ticket; it is told what is in the way."""
    harness = IncumbentHarness(agents=[agent(1, locked_tickets=["B"], max_distance_m=28)])
    with pytest.raises(EngineError, match="locked") as refusal:
        harness.incumbent.settle(None)
    (fault,) = refusal.value.errors
    assert (fault.path, fault.problem) == ("/agents/0/locked_tickets", "The locked visits break MAX_DISTANCE.")


HAULED = [ticket("A", id="p", kind="pickup"), ticket("F", id="d", pickup="p")]
RESTING = {"breaks": [{"earliest": 40, "latest": 60, "duration_s": 20}], "shift_end": 200}
TIMED = [ticket("A", id="a", time_windows=[[10, 15]]), ticket("B", id="b", time_windows=[[100, 110]])]


def served(plan: Plan) -> dict[str, list[str | None]]:
    return {route.agent_id: [visit.ticket_id for visit in route.visits] for route in plan.routes}


def test_engine_without_a_plan_leaves_what_locked_visits_bring_along() -> None:
    """SPEC S1, S2: the delivery of a locked pickup follows it, and the rest of a group finds an agent."""
    tickets = [
        *HAULED,
        ticket("B", id="x"),
        ticket("C", id="r", kind="pickup"),
        ticket("B", id="s", pickup="r"),
        ticket("C", id="y"),
    ]
    groups = [{"kind": "all", "tickets": ["d", "x", "s"]}]
    drivers = [agent(1, locked_tickets=["p"], max_tickets=2), agent(2, max_tickets=3)]
    plan = IncumbentHarness(agents=drivers, tickets=tickets, groups=groups).incumbent.settle(None)
    assert {name: set(visits) for name, visits in served(plan).items()} == {
        "agent-1": {"p", "d"},
        "agent-2": {"x", "r", "s"},
    }


def reasons(**changes: Any) -> list[tuple[str, str]]:
    """Return the faults of a day whose locks nobody can keep."""
    with pytest.raises(EngineError, match="locked") as refusal:
        IncumbentHarness(**changes).incumbent.settle(None)
    return [(fault.path, fault.problem) for fault in refusal.value.errors]


def test_the_reason_of_impossible_locks_names_the_agent() -> None:
    """SPEC T7: another whose visits leave room for its break is not; the delivery counts with its locked pickup."""
    drivers = [agent(1, locked_tickets=["a", "b"], **RESTING), agent(2, locked_tickets=["p"], reload_locations=["D"])]
    assert "agent-1" in served(IncumbentHarness(agents=drivers, tickets=[*TIMED, *HAULED]).incumbent.settle(None))
    found = reasons(agents=[drivers[0], drivers[1] | {"shift_end": 50}, agent(3)], tickets=[*TIMED, *HAULED])
    assert found == [
        ("/agents/1/locked_tickets", "The locked visits break SHIFT_END. Deliveries of locked pickups count.")
    ]


def test_breaks_that_locked_visits_leave_no_time_for_are_reported_as_such() -> None:
    """SPEC T7, S1: in the caller's words."""
    rest = {"breaks": [{"earliest": 5, "latest": 20, "duration_s": 30}], "shift_start": 0, "shift_end": 60}
    late = ticket("A", id="a", time_windows=[[25, 30]])
    assert reasons(agents=[agent(1, locked_tickets=["a"], **rest)], tickets=[late]) == [
        ("/agents/0/locked_tickets", "The locked visits leave no time for breaks.")
    ]


def test_locks_that_the_rest_of_a_group_breaks_are_reported_at_the_visit() -> None:
    """SPEC T7, S1: all or none; where there is no room for all, the lock of one is what nobody can keep."""
    tickets = [
        ticket("A", id="a", demand=4),
        ticket("B", id="b", demand=4),
        ticket("B", id="c"),
        ticket("C", id="x"),
        ticket("C", id="y"),
    ]
    groups = [{"kind": "all", "tickets": ["a", "b"]}, {"kind": "all", "tickets": ["x", "y"]}]
    found = reasons(agents=[agent(1, capacity=6, locked_tickets=["x", "a"])], tickets=tickets, groups=groups)
    assert found == [("/agents/0/locked_tickets/1", "No room was found for the rest of its all-or-none group.")]


def test_locks_that_exclude_each_other_are_reported_for_all_agents() -> None:
    """SPEC T7, S1: each agent could keep its own, no plan both of two alternatives; on a day no check has seen."""
    body = {
        **RULE_CASES[0].body,
        "agents": [agent(1, locked_tickets=["a"]), agent(2, locked_tickets=["b"])],
        "tickets": [ticket("A", id="a"), ticket("B", id="b")],
        "groups": [{"kind": "one_of", "tickets": ["a", "b"]}],
    }
    day = compile_scenario(Scenario.model_validate(body))
    locked = locked_only(day, lambda: False)
    assert verify(day, build_plan(day, locked))
    (fault,) = broken_locks(day, locked, lambda: False)
    assert (fault.path, fault.problem) == ("/agents", "The locked visits cannot all be kept.")


@pytest.mark.parametrize("first", ["wide", "narrow"])
def test_of_two_deliveries_that_locked_pickups_bring_along_the_narrower_comes_first(first: str) -> None:
    """SPEC S1: each is placed behind the locked visits where it is least in the way, whichever is named first."""
    pickups = [ticket("A", id="p", kind="pickup"), ticket("A", id="r", kind="pickup")]
    owed = [ticket("F", id="q", pickup="p"), ticket("B", id="s", pickup="r", time_windows=[[0, 25]])]
    tickets = [*pickups, *(owed if first == "wide" else reversed(owed))]
    plan = IncumbentHarness(agents=[agent(1, locked_tickets=["p", "r"])], tickets=tickets).incumbent.settle(None)
    assert served(plan) == {"agent-1": ["p", "r", "s", "q"]}


def test_a_plan_names_its_origin() -> None:
    """SPEC S3: the plan records seed, versions and input hash."""
    plan = IncumbentHarness().incumbent.settle(TOURS)
    assert (plan.engine, plan.seed, plan.versions, plan.input_hash) == ("test", 7, {"test": "1"}, "hash")
