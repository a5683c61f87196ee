"""What is held of a plan while vehicles are out: what has begun, and that nothing else is planned into the past."""

from itertools import product
from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.vrp.advice.locks import locks
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.patch import revise
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.problem import Candidate, Problem
from planner_mcp.vrp.proof.verify import verify
from planner_mcp.vrp.scenario import parse_scenario

from .days import agent, body, candidate, route, ticket

Json = dict[str, Any]
HOUR: int = 10
"""Until when the plan is held; `late` has closed by then, though whoever is out comes by in time."""


def late(name: str, **fields: Any) -> Json:
    return ticket(name, "B", time_windows=[[3, 6]], **fields)


def begun(count: int) -> tuple[list[Json], list[Json]]:
    """Return agents, and as many tickets that must be begun at once."""
    agents = [agent(f"v{n}") for n in range(count)]
    return agents, [ticket(f"first-{n}", "A", time_windows=[[1, 1]]) for n in range(count)]


def held(day: Json, agents: int) -> Problem:
    """Return a day as it is left where each of some agents has begun its ticket of the same number."""
    known = compile_scenario(parse_scenario(day))
    routes = (route(known, f"first-{n}", agent=n) for n in range(agents))
    plan = lay_out(known, Candidate(tuple(routes))).as_json()
    return compile_scenario(parse_scenario(revise(day, locks(parse_scenario(day), plan, until_s=HOUR))))


def kept_apart(problem: Problem) -> set[tuple[str, str]]:
    names = [spec.id for spec in problem.tickets]
    return {(names[low], names[high]) for low, high in problem.incompatible}


def test_a_ticket_whose_window_has_closed_is_not_served_in_the_past() -> None:
    """SPEC T5: whoever is out would have come by in time; now the hour is past, and the ticket is left out."""
    agents, first = begun(1)
    day = held(body(agents, [*first, late("missed"), ticket("next", "C")]), 1)
    assert verify(day, lay_out(day, candidate(day, "first-0", "next"))) == []
    found = verify(day, lay_out(day, candidate(day, "first-0", "missed", "next")))
    assert any("exclude each other" in sentence for sentence in found)


def test_hundreds_of_late_tickets_are_kept_from_every_route_begun() -> None:
    """SPEC T5, T7: 300 tickets and 80 vehicles out are 24,000 pairs, more than the lists a day may have."""
    agents, first = begun(80)
    missed = [late(f"late-{n}") for n in range(300)]
    found = kept_apart(held(body(agents, [*first, *missed], incompatible=[["first-0", "first-1"]]), 80))
    assert set(product((spec["id"] for spec in first), (spec["id"] for spec in missed))) <= found


def test_more_late_tickets_than_a_day_can_keep_apart_are_refused_with_what_to_do() -> None:
    """SPEC T7: said of the tickets, which the caller knows, not of lists that the server would have written."""
    agents, first = begun(250)
    with pytest.raises(InputError) as refused:
        held(body(agents, [*first, *(late(f"late-{n}") for n in range(400))]), 250)
    (fault,) = refused.value.errors
    assert (fault.path, fault.kind) == ("/tickets", "logic")
    assert "400 tickets" in fault.problem
    assert "Remove" in fault.hint
