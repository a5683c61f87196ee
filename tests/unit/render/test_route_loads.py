"""What pages tell of loads (SPEC R1, T5)."""

import re
from typing import Any

import pytest

from planner_mcp.render.plan_report import report_page
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate, Route, Stop, StopKind
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.verification.plan_verification import verify

KG: dict[str, Any] = {"kg": 1000, "pallets": 10}


def drop(name: str, demand: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "location": "A", "demand": demand, **more}


def drawn(capacity: Any, tickets: list[dict[str, Any]], *, reload_after: int | None = None) -> str:
    """Return what the report of a proven plan, all tickets in order on one agent, says of its load."""
    agent = {"id": "v", "capacity": capacity, "reload_locations": ["D"], "max_reloads": 1}
    body = {
        "name": "day",
        "planning_date": "2025-07-15",
        "depot": "D",
        "locations": [{"id": "D", "lat": 39.9, "lon": 116.4}, {"id": "A", "lat": 39.95, "lon": 116.4}],
        "agents": [agent],
        "tickets": tickets,
    }
    problem = compile_scenario(parse_scenario(body))
    stops = [Stop(StopKind.TICKET, number) for number in range(len(tickets))]
    if reload_after is not None:
        stops.insert(reload_after, Stop(StopKind.RELOAD, problem.locations.index("D")))
    plan = build_plan(problem, Candidate((Route(0, tuple(stops)),)))
    assert not verify(problem, plan)
    (share,) = re.findall(r'title="(\S+) of capacity"', report_page(body, plan))
    return str(share)


@pytest.mark.parametrize(
    ("capacity", "tickets", "share"),
    [
        (KG, [drop(f"t{n}", {"pallets": 2, "kg": 100}) for n in range(4)], "80%"),
        (KG, [drop(f"t{n}", {"pallets": 1, "kg": 225}) for n in range(4)], "90%"),
        (10, [drop("out", {"load": 8}), drop("back", 7, kind="pickup")], "80%"),
        (10, [drop("out", 3), drop("back", 6, kind="pickup"), drop("more", 1, kind="pickup")], "70%"),
        (10, [drop("fetch", 6), drop("bring", 6, pickup="fetch")], "60%"),
        ({"kg": 0, "box": 4}, [drop("t", {"box": 1})], "25%"),
        ({"kg": 0}, [drop("t", {"kg": 0})], "0%"),
    ],
)
def test_the_report_shows_the_fullest_load_of_an_agent(
    capacity: Any, tickets: list[dict[str, Any]], share: str
) -> None:
    """SPEC R1: by the fullest dimension, in whatever order they are named; what has left the agent is gone."""
    assert drawn(capacity, tickets) == share


def test_trips_do_not_add_up_to_more_than_an_agent_carries() -> None:
    """SPEC R1: the fullest trip is what counts."""
    tickets = [drop("t1", 7), drop("t2", 9)]
    assert drawn(10, tickets, reload_after=1) == "90%"


def test_the_report_of_a_chinese_day_says_in_chinese_what_was_assumed() -> None:
    """SPEC R1, T11: a plan keeps its assumptions in English; the page has the language of its day."""
    day = {"name": "城配", "planning_date": "2025-07-15", "agents": [{"id": "v"}]}
    day |= {"locations": [{"id": "A", "lat": 39.95, "lon": 116.4}], "tickets": [{"id": "单", "location": "A"}]}
    problem = compile_scenario(parse_scenario(day))
    plan = build_plan(problem, Candidate((Route(0, (Stop(StopKind.TICKET, 0),)),)))
    shown = report_page(day, plan)
    assert "Roads are not known" in "".join(plan.assumptions)
    assert ("道路未知" in shown, "Roads are not known" in shown) == (True, False)
