"""Where the model says more than PyVRP's own words: releases, half priced shipments, priorities (SPEC S1, S2)."""

import math
import time
import weakref
from collections.abc import Callable
from dataclasses import replace

import pytest
from pyvrp import (
    Activity,
    IteratedLocalSearchCallbacks,
    IteratedLocalSearchParams,
    PenaltyParams,
    ProblemData,
    Solution,
    SolveParams,
    solve,
)
from pyvrp.search import compute_neighbours
from pyvrp.stop import MaxIterations

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Feature, Problem, Route
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.text import Json
from tests.shared.scenarios.rule_case import PLACES, agent, ticket
from tests.shared.scenarios.scenario_builders import compiled, plane, problem
from tests.shared.scenarios.seeded_fleet import fleet, fleet_body
from workers.engines.engine_interface import SearchLimits
from workers.engines.pyvrp import pyvrp_iterated_search, pyvrp_run
from workers.engines.pyvrp.pyvrp_engine import PyvrpEngine
from workers.engines.pyvrp.pyvrp_iterated_search import IteratedSearch, neighbours_of
from workers.engines.pyvrp.pyvrp_model import MAX_PRIZES, PyvrpModel
from workers.engines.pyvrp.pyvrp_penalties import (
    MIN_SHARE,
    UPDATE_INTERVAL,
    InitialPenalties,
    Penalties,
    initial_penalties,
    neighbourhood_of,
)
from workers.engines.pyvrp.pyvrp_run import StopCriterion, search


def day(agents: list[Json], tickets: list[Json]) -> Problem:
    """Return a day on the square of `tests/shared/scenarios/rule_case.py`."""
    return problem(agents, tickets, locations=plane(PLACES), travel={})


def planned(problem: Problem, seconds: float = 0.2) -> Plan:
    """Return what PyVRP makes of a day it claims to know, proved."""
    assert PyvrpEngine().missing(problem) == frozenset()
    best = PyvrpEngine().solve(problem, SearchLimits(time.monotonic() + seconds), lambda _: None, lambda: False).best
    assert best is not None
    plan = build_plan(problem, best)
    assert verify(problem, plan) == []
    return plan


def found(problem: Problem, looks: int, start: Candidate | None = None) -> Candidate:
    """Return the best plan of a search of so many plans."""
    stop_criterion = StopCriterion(PyvrpModel(problem), time.monotonic() + 3600, math.inf, lambda _: None, after(looks))
    search(stop_criterion, 1, 5.0, start)
    assert stop_criterion.best is not None
    return stop_criterion.best


def after(looks: int) -> Callable[[], bool]:
    """Return what is true once it was asked so often."""
    left = iter(range(looks))
    return lambda: next(left, None) is None


def shipped(**changes: Json) -> list[Json]:
    """Return a shipment from A to F and a ticket at C, with changes by name."""
    tickets = [ticket("A", kind="pickup"), ticket("F", pickup="A"), ticket("C")]
    return [{**each, **changes.get(each["id"], {})} for each in tickets]


def test_what_is_released_late_and_shipped_is_not_its_own() -> None:
    """SPEC S2: PyVRP's shipments know no release, so it says so; a release of something else is no matter."""
    late = day([agent(1), agent(2)], shipped(A={"release_time": 30}, C={"time_windows": [[0, 20]]}))
    assert PyvrpEngine().missing(late) == {Feature.RELEASE}
    assert planned(day([agent(1), agent(2)], shipped(C={"release_time": 30}))).tickets_served == 3


def test_a_shipment_with_one_half_priced_is_wanted() -> None:
    """SPEC S1: leaving it out costs the wanted half's penalty as well."""
    problem = day([agent()], shipped(F={"penalty": 5}))
    assert planned(problem).tickets_served == 3


def test_a_shipment_with_one_half_priced_keeps_its_worth_where_something_stays_out() -> None:
    """SPEC S1: of a shipment and a priced ticket that exclude each other the wanted one stays."""
    short = agent(max_distance_m=62)
    plan = planned(day([short], shipped(F={"penalty": 5}, C={"penalty": 50})))
    assert [left.ticket_id for left in plan.unassigned] == ["C"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_shipment_and_a_delivery_share_a_vehicle(seed: int) -> None:
    """SPEC S3: on the smallest days too each is a neighbour of the other; with a vehicle each the way is longer."""
    square = plane({"D": (0, 0), "A": (100, 0), "B": (0, 100), "C": (-100, 0)})
    agents, tickets = [agent(1, capacity=9), agent(2, capacity=9)], [ticket("A"), ticket("B", pickup="A"), ticket("C")]
    day = problem(agents, tickets, locations=square, travel={})
    outcome = PyvrpEngine().solve(day, SearchLimits(time.monotonic() + 0.15, seed), lambda _: None, lambda: False)
    assert outcome.best is not None
    assert [len(route.tickets) for route in outcome.best.routes] == [3]


def test_small_days_with_shipments_have_every_neighbour_and_large_ones_the_librarys() -> None:
    """Our choice: a shipment's two ends are no neighbours of each other, nor is anything its own."""
    model, begin = PyvrpModel(day([agent()], shipped())), initial_penalties(day([agent()], shipped()))
    near = {str(one): {str(other) for other in others} for one, others in _neighbours(model.data, begin).items()}
    assert near == {"L0": {"C0"}, "C0": {"L0", "U0"}}
    large = PyvrpModel(day([agent()], [*shipped(), *(ticket("X", id=f"X{number}") for number in range(50))]))
    assert _neighbours(large.data, begin) == compute_neighbours(large.data, neighbourhood_of(begin))


def _neighbours(data: ProblemData, begin: InitialPenalties) -> dict[Activity, list[Activity]]:
    return neighbours_of(data, neighbourhood_of(begin))


def test_low_priorities_are_served_beside_the_highest() -> None:
    """SPEC S1: what nobody can serve makes nothing else not worth its way."""
    heavy = [ticket("A", id=f"A{number}", priority=9, demand=2) for number in range(3)]
    tickets = [*heavy, ticket("X", priority=1), ticket("F", priority=5)]
    plan = planned(day([agent(1), agent(2)], tickets))
    assert [left.ticket_id[0] for left in plan.unassigned] == ["A"]
    assert plan.tickets_served == 4


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 9), (5, 9)])
def test_prizes_exceed_detours_and_stand_to_each_other_as_penalties_do(low: int, high: int) -> None:
    """Our choice: the least wanted ticket is worth ten longest legs, the others their multiple."""
    problem = day([agent()], [ticket("A", priority=high), *(ticket("X", id=f"X{n}", priority=low) for n in range(9))])
    dear, cheap, *_ = (client.prize for client in PyvrpModel(problem, is_complete=False).data.clients())
    assert cheap >= 10 * int(problem.distances[0].max()) * problem.agents[0].distance_cost
    assert dear == pytest.approx(cheap * 2 ** (high - low), rel=1e-6)


def test_prizes_too_large_to_reckon_with_keep_their_order() -> None:
    """Our choice: days at the end of what 64 bits can add up still prefer what is wanted more."""
    problem = day(
        [agent()], [ticket(place, priority=priority) for place, priority in zip("ABX", (9, 5, 1), strict=True)]
    )
    vast = replace(problem, distances=(problem.distances[0] * 10**8,))
    tickets = tuple(replace(each, penalty=each.penalty * 10**8) for each in problem.tickets)
    model = PyvrpModel(replace(vast, tickets=tickets), is_complete=False)
    first, second, third = (client.prize for client in model.data.clients())
    assert first > second > third > int(vast.distances[0].max())
    assert first + second + third <= MAX_PRIZES


def test_what_a_broken_rule_costs_is_reckoned_in_the_money_of_the_day() -> None:
    """SPEC S2: a day with prices, whose cost units are many, is served as soon as one in metres."""
    body = fleet_body(60)
    prices = {"cost_per_km": 1.55, "cost_per_hour": 24, "fixed_cost": 150}
    problem = compiled({**body, "agents": [{**each, **prices} for each in body["agents"]]})
    assert verify(problem, build_plan(problem, found(problem, 400))) == []


def test_a_broken_rule_costs_no_more_than_64_bits_can_add_up() -> None:
    """SPEC S2: where legs nobody may drive are longer than any shift, what breaking them costs stays a number."""
    tickets = [ticket("A", skills=["lift"]), *(ticket("C", id=f"C{number}", penalty=1e6) for number in range(9))]
    model = PyvrpModel(day([agent(1, cost_per_km=1e6), agent(2, skills=["lift"])], tickets))
    longest = max(int(matrix.max()) for matrix in model.data.duration_matrices())
    assert model.max_penalty * longest * len(tickets) < 2**60


def test_a_search_of_legs_too_long_for_64_bits_ends() -> None:
    """SPEC S3: where ten of the longest legs and a broken limit would come to more, a deadline is kept all the same."""
    tickets = [ticket(place, id=f"{place}{number}") for place in "ABCF" for number in range(10)]
    problem = day([agent(number, capacity=8, max_distance_m=1000) for number in range(8)], tickets)
    far = problem.distances[0] * 10**7
    drivers = tuple(replace(each, max_distance=3 * int(far.max())) for each in problem.agents)
    vast = replace(problem, distances=(far,), durations=(far,), agents=drivers)
    for is_complete in (True, False):
        model = PyvrpModel(vast, is_complete=is_complete)
        assert model.max_penalty * int(far.max()) * len(tickets) < 2**60
    search(
        StopCriterion(PyvrpModel(vast, is_complete=False), time.monotonic() + 1, math.inf, lambda _: None, after(50)),
        1,
        5.0,
        None,
    )


def test_tickets_of_one_address_are_as_far_as_their_depot() -> None:
    """SPEC S2: a load too much costs a way out there, not nothing, where no ticket is away from another."""
    near = day([agent()], [ticket("A"), ticket("C")])
    (one_place, *_), _time, _distance = initial_penalties(
        day([agent()], [ticket("A", id=f"A{number}") for number in range(9)])
    )
    (load, *_), _time, _distance = initial_penalties(near)
    assert one_place == pytest.approx(load, rel=1)


@pytest.mark.parametrize("stale_after", [40, 150_000])
def test_the_loop_finds_what_the_library_finds(monkeypatch: pytest.MonkeyPatch, stale_after: int) -> None:
    """Our choice: but for what its module names the loop is the library's, plan by plan, also where it begins again."""
    problem = fleet(60)
    model, begin = PyvrpModel(problem), initial_penalties(problem)
    theirs, ours = Bests(), Bests()
    ils = IteratedLocalSearchParams(stale_after, 7, callbacks=theirs)
    params = SolveParams(ils, Begun(begin, model.max_penalty), neighbourhood_of(begin))
    solve(model.data, MaxIterations(400), 3, collect_stats=False, params=params)

    monkeypatch.setattr(pyvrp_iterated_search, "RESTART_AFTER", stale_after)
    loop = IteratedSearch(model.data, Penalties(begin, model.max_penalty), neighbourhood_of(begin), seed=3)
    assert loop.run(loop.begin(None), 7, after(400), ours.on_best) == 400
    assert len(theirs.found) > 5
    assert ours.found[1:] == theirs.found


class Bests(IteratedLocalSearchCallbacks):
    """Keeps every better plan."""

    def __init__(self) -> None:
        self.found: list[Solution] = []

    def on_best(self, best: Solution) -> None:
        self.found.append(best)


class Begun(PenaltyParams):
    """The library's penalties, begun where ours are."""

    def __init__(self, start: InitialPenalties, most: float) -> None:
        super().__init__(solutions_between_updates=UPDATE_INTERVAL, max_penalty=most)
        self.start = start

    def midpoint_penalties(self, data: ProblemData) -> InitialPenalties:
        return self.start


def test_each_rule_gets_cheaper_by_its_own_measure() -> None:
    """Our choice: where nothing is broken each penalty falls to its share of the start, whatever its unit."""
    problem = day([agent(cost_per_km=2.5)], [ticket("A", demand=2), ticket("C")])
    model, begin = PyvrpModel(problem), initial_penalties(problem)
    penalties = Penalties(begin, model.max_penalty)
    whole = model.solution_of(found(problem, 10))
    for _ in range(60 * UPDATE_INTERVAL):
        penalties.register(whole)
    (load, *_), late, far = begin
    costs = penalties.evaluator
    assert costs.load_penalty(10**6, 0, 0) == pytest.approx(MIN_SHARE * load * 10**6, abs=1)
    assert costs.tw_penalty(10**6) == pytest.approx(MIN_SHARE * late * 10**6, abs=1)
    assert costs.dist_penalty(10**6, 0) == pytest.approx(MIN_SHARE * far * 10**6, abs=1)


def test_a_stop_is_heard_before_the_first_plan() -> None:
    """Engine contract: every step of a search that cannot be ended in its midst is preceded by a look."""
    stop_criterion = StopCriterion(
        PyvrpModel(fleet(100)), time.monotonic() + 3600, math.inf, lambda _: None, lambda: True
    )
    assert search(stop_criterion, 1, 5.0, found(fleet(100), 300)) == 0
    assert stop_criterion.is_stopped
    assert stop_criterion.best is None


@pytest.mark.slow
def test_a_start_that_lacks_wanted_tickets_is_completed_and_built_upon() -> None:
    """SPEC S3: a plan of an earlier day with new tickets is as good a start as any."""
    problem = fleet(100)
    whole = found(problem, 300)
    routes = [Route(each.agent, tuple(stop for stop in each.stops if stop.index % 10)) for each in whole.routes]
    lacking = Candidate(tuple(each for each in routes if each.stops))
    ends = [price(problem, found(problem, 600, start)) for start in (lacking, whole)]
    assert ends[0] <= ends[1] < price(problem, whole)


def test_a_day_that_cannot_be_served_whole_is_held_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: the tables of a day fill much of a job's memory; the second search begins after the first is gone."""
    alive, most = weakref.WeakSet[PyvrpModel](), []

    class Counted(PyvrpModel):
        def __init__(self, problem: Problem, *, is_complete: bool = True) -> None:
            super().__init__(problem, is_complete=is_complete)
            alive.add(self)
            most.append(len(alive))

    monkeypatch.setattr(pyvrp_run, "PyvrpModel", Counted)
    both_at_once = [ticket("A", time_windows=[[0, 12]]), ticket("C", time_windows=[[0, 12]])]
    assert planned(day([agent()], both_at_once)).tickets_served == 1
    assert most == [1, 1]


def test_agents_of_many_kinds_on_a_large_day_are_not_its_own() -> None:
    """Our choice: a pair of tables for each choice of skills would fill a job's memory, and a good plan be lost."""
    skills = [f"s{number}" for number in range(12)]
    crews = [agent(number, skills=skills[number % 12 :][:3]) for number in range(24)]
    tickets = [ticket("A", id=f"A{number}", skills=[skills[number % 12]]) for number in range(1300)]
    assert PyvrpEngine().missing(day(crews, tickets)) == {Feature.SKILLS}
    assert PyvrpEngine().missing(day(crews, tickets[:1000])) == frozenset()
    assert PyvrpEngine().missing(day(crews[:1], [ticket("A", id=f"A{n}") for n in range(4500)])) == frozenset()
