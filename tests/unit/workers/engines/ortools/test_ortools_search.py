"""The search of OR-Tools: what it reads of plans on the way, and that few tickets do not leave it where it began."""

import time
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
from ortools.constraint_solver import pywrapcp

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem, Route, Stop, StopKind
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.scenario_builders import body, compiled, plane
from tests.shared.scenarios.seeded_fleet import fleet, fleet_body
from workers.engines.engine_interface import OnImprovement, SearchLimits, StopReason
from workers.engines.ortools import ortools_engine
from workers.engines.ortools.ortools_engine import GUIDED_SEARCH_TICKETS, OrToolsEngine, search, search_parameters
from workers.engines.ortools.ortools_model import OrToolsModel
from workers.engines.selection import parallel_search

MANY = GUIDED_SEARCH_TICKETS + 10
REST = {"breaks": [{"earliest": 200, "latest": 400, "duration_s": 20}]}


def of_agents(**more: Any) -> dict[str, Any]:
    body = fleet_body(MANY)
    return {**body, "agents": [{**agent, **more} for agent in body["agents"]]}


def of_tickets(**more: Any) -> dict[str, Any]:
    body = fleet_body(MANY)
    return {**body, "tickets": [{**ticket, **more} for ticket in body["tickets"]]}


PAID_FOR_TIME = {
    "hours": of_agents(cost_per_hour=30),
    "overtime": of_agents(shift_end=600, overtime_s=400, overtime_cost_per_hour=60),
    "lateness": of_tickets(soft_close=300, lateness_cost_per_hour=90),
    "balance": {**fleet_body(MANY), "options": {"balance_cost_per_hour": 900}},
    "hours and breaks": of_agents(cost_per_hour=30, **REST),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("lateness", "hours and breaks") else pytest.mark.slow)
        for name in PAID_FOR_TIME
    ],
)
def test_days_that_pay_for_time_are_searched_from_ruins(name: str) -> None:
    """SPEC S1, J6: on a day of many tickets what the library shows with its times still open is passed over."""
    problem = compiled(PAID_FOR_TIME[name])
    deadline = time.monotonic() + 0.5
    found: list[Candidate] = []

    def searched(on_improvement: OnImprovement) -> None:
        OrToolsEngine().solve(problem, SearchLimits(deadline), on_improvement, lambda: False)

    parallel_search.run(
        [searched], deadline, found.append, lambda: False
    )  # whoever reads an open time ends the whole process
    plan = build_plan(problem, found[-1])
    assert verify(problem, plan) == []
    assert plan.tickets_served == MANY


def test_locked_visits_stay_first_where_days_are_searched_from_ruins() -> None:
    """SPEC S1, S2: what a ruin removes is not put before them, though they are those of the evening."""
    body = fleet_body(MANY)
    by_opening = sorted(body["tickets"], key=lambda each: each["time_windows"][0])
    body["agents"][0]["locked_tickets"] = [each["id"] for each in by_opening[-2:]]
    problem = compiled(body)
    found: list[Candidate] = []
    OrToolsEngine().solve(problem, SearchLimits(time.monotonic() + 0.4), found.append, lambda: False)
    assert found
    assert all(verify(problem, build_plan(problem, each)) == [] for each in found)


def test_breaks_are_read_only_where_times_are_fixed() -> None:
    """SPEC S1, J6: breaks do not pay for time, so what is shown of them has a price before it has times."""
    problem = compiled(of_agents(**REST))
    deadline = time.monotonic() + 20
    found: list[Candidate] = []

    def has_both() -> bool:
        return Candidate(()) in found and any(candidate.routes for candidate in found)

    parallel_search.run([partial(every_state, problem, deadline)], deadline, found.append, has_both)
    assert Candidate(()) in found, "no state had open times"
    assert any(candidate.routes for candidate in found)


def every_state(problem: Problem, deadline: float, on_improvement: OnImprovement) -> None:
    """Search and hand over whatever may be read, and once an empty plan where something may not."""
    day = OrToolsModel(problem)
    day.build()
    parameters = search_parameters(len(problem.tickets))
    day.close(parameters)
    improvements: list[Candidate] = []

    def read() -> None:
        candidate = day.candidate() if day.is_timed() else Candidate(())
        if candidate.routes or candidate not in improvements:
            improvements.append(candidate)
            on_improvement(candidate)

    day.routing.AddAtSolutionCallback(read)
    parameters.time_limit.FromMilliseconds(max(1, int(1000 * (deadline - time.monotonic()))))
    search(day, parameters, None)


def test_few_tickets_are_not_left_where_the_first_descent_ends() -> None:
    """SPEC S3: more time finds the best plan of a day whose two cheap agents have to share out their tickets anew."""
    rests = [{"earliest": 28, "latest": 51, "duration_s": 8}, {"earliest": 7, "latest": 28, "duration_s": 9}]
    late = {"cost_per_km": 1000, "speed_factor": 0.5, "overtime_s": 24}
    first = {"id": "v0", "capacity": 8, "shift_start": 4, "shift_end": 45, "overtime_cost_per_hour": 900}
    second = {"id": "v1", "capacity": 9, "shift_end": 49, "overtime_cost_per_hour": 1800}
    dear = {"id": "v2", "capacity": 9, "shift_start": 5, "shift_end": 100, "fixed_cost": 60}
    agents = [{**first, **late, "breaks": rests[:1]}, {**second, **late, "breaks": rests[1:]}, dear]
    tickets = [
        {"id": "t0", "location": "B", "demand": 5},
        {"id": "t1", "location": "B", "demand": 5, "service_time_s": 4},
        {"id": "t2", "location": "D", "demand": 4},
        {"id": "t3", "location": "A", "demand": 2, "service_time_s": 3},
    ]
    problem = compiled(body(agents, tickets, locations=plane({"D": (6, 5), "A": (3, 2), "B": (9, 10)})))
    best = price(problem, cheapest(problem))
    found: list[int] = []

    def note(candidate: Candidate) -> None:
        found.append(price(problem, candidate))

    limits = SearchLimits(time.monotonic() + 20)  # a busy machine does not get far in two seconds
    OrToolsEngine().solve(problem, limits, note, lambda: bool(found) and min(found) == best)
    assert min(found) == best


def test_no_plan_is_reported_in_which_a_break_lies_in_a_setup() -> None:
    """SPEC S2: setting up is travel to the library, which lets a rest part it; what is told holds all the same."""
    van = {"id": "v", "capacity": 1, "start_location": "L0", "end_location": "L0"}
    van |= {"shift_start": "11:40", "shift_end": "18:00"}
    van |= {"breaks": [{"earliest": "12:00", "latest": "12:30", "duration_s": 1800}]}
    # He is there at 11:50: ten of twenty minutes before the rest, ten behind it, served at 12:40.
    late = {"id": "t", "location": "L1", "demand": 1, "setup_time_s": 1200, "time_windows": [["12:40", "12:45"]]}
    day = {
        "name": "rest",
        "planning_date": "2026-06-01",
        "locations": [{"id": "L0", "x": 0, "y": 0}, {"id": "L1", "x": 600, "y": 0}],
        "agents": [van],
        "tickets": [late],
    }
    problem = compiled(day)
    improvements: list[Candidate] = []
    OrToolsEngine().solve(problem, SearchLimits(time.monotonic() + 0.2, 1, 1), improvements.append, lambda: False)
    assert all(not verify(problem, build_plan(problem, candidate)) for candidate in improvements)


def test_solutions_that_cost_more_are_not_read_while_the_warm_start_is_the_best_plan() -> None:
    """SPEC S3: to read, check and price each solution took most of the time of a search from a good plan."""
    problem, reads = fleet(2), []
    start, dearer = sorted(
        (Candidate.of_tickets(routes) for routes in ({0: [0, 1]}, {0: [1, 0]})), key=partial(price, problem)
    )

    class Solutions:
        costs = iter((30, 40, 35, 20))

        def __init__(self) -> None:
            self.problem = problem

        def cost(self) -> int:
            return next(self.costs)

        def is_timed(self) -> bool:
            return True

        def has_break_during_setup(self) -> bool:
            return False

        def candidate(self) -> Candidate:
            reads.append(dearer)
            return dearer

    found: list[Candidate] = []
    callback = ortools_engine._SolutionCallback(
        cast(OrToolsModel, Solutions()), time.monotonic() + 60, found.append, lambda: False
    )
    callback.begin_with(start)
    for _ in range(4):
        callback.on_solution()
    assert found == [start]
    assert len(reads) == 2


@pytest.mark.parametrize(("agents", "begins_anew"), [(None, True), (frozenset[int](), False)])
def test_where_routes_have_least_loads_a_plan_that_lacks_tickets_is_no_start(
    agents: frozenset[int] | None, begins_anew: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: local search finds no whole new route for them; of tickets that nobody may serve there is none."""
    day = fleet(2)
    last = replace(day.tickets[1], agents=agents)
    day = replace(day, tickets=(day.tickets[0], last), features=day.features | {Feature.MIN_LOAD})
    starts: list[object] = []
    monkeypatch.setattr(ortools_engine, "search", lambda _model, _parameters, start: starts.append(start))
    limits, start = SearchLimits(time.monotonic() + 1), Candidate.of_tickets({0: [0]})
    OrToolsEngine().solve(day, limits, lambda _: None, lambda: False, start)
    assert [each is None for each in starts] == [begins_anew]


def test_warm_start_is_reported_before_the_model_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC J6: a re-run never ends worse, also where the library finds nothing before the deadline."""
    problem = fleet(MANY)
    warm_start = Candidate((Route(0, (Stop(StopKind.TICKET, 0),)),))
    found: list[Candidate] = []

    def is_reported(_model: OrToolsModel) -> None:
        assert found == [warm_start]

    monkeypatch.setattr(OrToolsModel, "build", is_reported)
    monkeypatch.setattr(OrToolsModel, "close", lambda *_: None)
    monkeypatch.setattr(OrToolsModel, "assignment_of", lambda *_: None)
    outcome = OrToolsEngine().solve(
        problem, SearchLimits(time.monotonic()), found.append, lambda: False, warm_start=warm_start
    )
    assert (outcome.best, outcome.reason) == (warm_start, StopReason.TIME_LIMIT)


@pytest.mark.slow
def test_a_thousand_tickets_have_a_first_plan_within_a_second() -> None:
    """SPEC S3: what the library copies each time it weighs the times of a route is not the table of the day."""
    problem = fleet(1000)
    began = time.thread_time()
    spent: list[float] = []
    OrToolsEngine().solve(
        problem,
        SearchLimits(time.monotonic() + 3),
        lambda _: spent.append(time.thread_time() - began),
        lambda: bool(spent),
    )
    assert spent[0] < 1.0


def test_costs_are_registered_once_for_agents_of_many_speeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: a speed changes no distance, and on a large day each table takes a tenth of a second to hand over."""
    registered: list[int] = []
    register = pywrapcp.RoutingModel.RegisterTransitMatrix

    def counted(routing: pywrapcp.RoutingModel, matrix: list[list[int]]) -> int:
        registered.append(len(matrix))
        return int(register(routing, matrix))

    monkeypatch.setattr(pywrapcp.RoutingModel, "RegisterTransitMatrix", counted)
    body = fleet_body(MANY)
    agents = [{**agent, "speed_factor": 1 + number / 10} for number, agent in enumerate(body["agents"])]
    OrToolsModel(compiled({**body, "agents": agents})).build()
    assert len(registered) == 1
