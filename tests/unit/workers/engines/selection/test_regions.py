"""Regions of a plan: a region is a problem of its own, and what is found in several adds up (SPEC O8, ADR 54)."""

from dataclasses import replace
from functools import cache
from itertools import combinations, count

import numpy as np
import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import AgentSpec, Candidate, Feature, Problem, is_narrow
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import searched
from tests.shared.scenarios.random_problems import random_problem
from workers.engines.selection.regions import cut_into_regions, merged_plans, region_of
from workers.engines.selection.time_allocation import NOT_DECOMPOSABLE

DAYS = 12


@cache
def days() -> list[tuple[int, Problem, Candidate]]:
    """Return problems of all features that can be decomposed, each with its number and a first plan."""
    found: list[tuple[int, Problem, Candidate]] = []
    for seed in count():
        chosen = frozenset(feature for n, feature in enumerate(Feature) if (seed + n) % 3 == 0) - NOT_DECOMPOSABLE
        problem = random_problem(seed, tickets=60, features=chosen)
        if len(problem.agents) >= 4 and (plan := searched(problem, 0)) is not None and is_valid(problem, plan):
            found.append((seed, problem, plan))
        if len(found) == DAYS:
            break
    return found


def improved(problem: Problem, *, iterations: int, start: Candidate, seed: int = 0) -> Candidate:
    """Return a plan that the native engine finds from another; that one where it finds none."""
    return searched(problem, iterations, seed=seed, start=start) or start


def is_valid(problem: Problem, plan: Candidate) -> bool:
    """Return whether the verifier accepts a plan."""
    return verify(problem, build_plan(problem, plan)) == []


def test_tables_of_a_large_day_stay_narrow_and_shared() -> None:
    """SPEC O8: a region costs no more memory for a place than the whole day does."""
    _seed, problem, plan = days()[0]
    size = len(problem.locations)
    narrow = np.zeros((size + 1, size + 1), dtype=np.int32)[:size, :size]
    narrow[:] = problem.distances[0]
    whole = replace(problem, distances=(narrow,), durations=(narrow,), agents=tuple(map(of_one_speed, problem.agents)))
    part = region_of(whole, plan, cut_into_regions(whole, plan, 2, turn=0), 0).problem
    assert part.distances[0] is part.durations[0] and is_narrow(part.distances[0])
    places = [whole.locations.index(place) for place in part.locations]
    assert (part.distances[0] == narrow[np.ix_(places, places)]).all()


def of_one_speed(agent: AgentSpec) -> AgentSpec:
    """Return an agent that travels as all others do."""
    return replace(agent, profile=0)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_a_cut_gives_every_agent_and_every_ticket_to_one_region(size: int) -> None:
    """SPEC O8: nothing of the day is left out or worked on twice; another turn moves the borders."""
    moved = 0
    for _seed, problem, plan in days():
        regions = cut_into_regions(problem, plan, size, turn=1)
        assert sorted(agent for region in regions for agent in region) == list(range(len(problem.agents)))
        parts = [region_of(problem, plan, regions, index).problem for index in range(size)]
        assert sorted(ticket.id for part in parts for ticket in part.tickets) == sorted(t.id for t in problem.tickets)
        moved += regions != cut_into_regions(problem, plan, size, turn=2)
        assert regions == cut_into_regions(problem, plan, size, turn=1)
    assert moved >= DAYS // 2


def test_what_a_region_saves_the_whole_day_saves() -> None:
    """SPEC S3, O8: the plan of a region fits the rest of the day, and its gain is the same there."""
    gains = 0
    for seed, problem, plan in days():
        region = region_of(problem, plan, cut_into_regions(problem, plan, 2, turn=seed), 0)
        start = region.routes_of(plan)
        assert region.inserted(plan, start) == plan
        found = improved(region.problem, iterations=300, start=start)
        whole = region.inserted(plan, found)
        assert is_valid(problem, whole), f"seed {seed}"
        gain = price(problem, plan) - price(problem, whole)
        assert gain == price(region.problem, start) - price(region.problem, found), f"seed {seed}"
        gains += gain > 0
    assert gains >= DAYS // 2


def test_improvements_of_different_regions_add_up() -> None:
    """SPEC O8: the merge of two plans saves what each of them saves."""
    together = 0
    for seed, problem, plan in days():
        regions = cut_into_regions(problem, plan, 2, turn=seed)
        parts = [region_of(problem, plan, regions, index) for index in range(2)]
        plans = [
            part.inserted(plan, improved(part.problem, iterations=200, start=part.routes_of(plan))) for part in parts
        ]
        both = merged_plans(problem, *plans)
        before, *after = (price(problem, each) for each in (plan, *plans))
        assert is_valid(problem, both), f"seed {seed}"
        assert before - price(problem, both) >= sum(before - each for each in after), f"seed {seed}"
        together += all(each < before for each in after)
    assert together >= DAYS // 3


def test_a_merge_of_any_two_plans_is_a_plan_not_dearer_than_either() -> None:
    """SPEC S3: also of plans that have little in common."""
    mixed = 0
    for seed, problem, plan in days():
        plans = [plan, *(improved(problem, iterations=200, seed=number, start=plan) for number in range(2))]
        for one, other in combinations(plans, 2):
            both = merged_plans(problem, one, other)
            assert is_valid(problem, both), f"seed {seed}"
            assert price(problem, both) <= min(price(problem, one), price(problem, other)), f"seed {seed}"
            mixed += both.routes not in (one.routes, other.routes)
    assert mixed > 0
