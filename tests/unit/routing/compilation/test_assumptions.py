"""What is assumed, told from a sketch."""

from typing import Any

import pytest

from planner_mcp.routing.compilation.assumptions import assumptions_of
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.scenario_builders import agent, body, compiled, ticket

CITY = [{"id": "D", "lat": 39.9, "lon": 116.4}, {"id": "A", "lat": 39.95, "lon": 116.5}]
MATRIX = {"distances": [[0, 5], [5, 0]], "matrix_locations": ["D", "A"]}
CENTRE = {"source": "offline", "accuracy": "town", "radius_m": 7000, "confidence": 0.9}
DAYS: dict[str, dict[str, Any]] = {
    "plane": body(),
    "globe": body(tickets=[ticket()], locations=CITY, travel={"speed_kmh": 30}),
    "centres": body(
        tickets=[ticket()],
        locations=[{**CITY[0], "resolved": CENTRE}, {**CITY[0], "id": "A", "resolved": CENTRE}],
    ),
    "unknown": body(depot=None, locations=[]),
    "matrix": body(tickets=[ticket()], locations=[], travel=MATRIX),
    "open ends": body(agents=[agent("v"), agent("w", end_location=None), agent("u", start_location=None)]),
    "references": body(
        agents=[agent("v", locked_tickets=["a"], skills=["s"])],
        tickets=[ticket("a", "A", skills=["s"]), ticket("b", "B", agents=["v"])],
        incompatible=[["a", "b"]],
    ),
}


@pytest.mark.parametrize("day", DAYS.values(), ids=DAYS)
def test_the_sketch_says_what_the_whole_day_says(day: dict[str, Any]) -> None:
    """SPEC T1: `assumptions` are those the plan will carry."""
    scenario = parse_scenario(day)
    assert assumptions_of(scenario) == compile_scenario(scenario).assumptions
    assert assumptions_of(scenario)


def test_a_plan_says_between_how_many_addresses_no_travel_is_counted() -> None:
    """SPEC T1, O4: who opens it later would take 0 km for a distance."""
    said = "Addresses known only as a centre they share, between which no travel is counted: 2."
    assert said in compiled(DAYS["centres"]).assumptions
    house = {**CENTRE, "accuracy": "point"}
    places = [{**place, "resolved": house} for place in DAYS["centres"]["locations"]]
    assert said not in compiled({**DAYS["centres"], "locations": places}).assumptions


@pytest.mark.parametrize(("travel", "source"), [({"matrix": "mat-0-a"}, "matrix"), ({"router": "car"}, "engine car")])
def test_travel_that_is_not_at_hand_is_reported_to_come_later(travel: dict[str, str], source: str) -> None:
    """SPEC T1, T7: from where the day names, and from nowhere else."""
    scenario = parse_scenario(body(tickets=[ticket()], locations=CITY, travel=travel))
    (said,) = (each for each in assumptions_of(scenario) if "when the scenario is solved" in each)
    assert (source in said, "None" in said) == (True, False)


def test_a_large_day_is_reported_at_once() -> None:
    """Our choice: milliseconds, where compiling takes seconds."""
    tickets = [ticket(f"t{n}", "ABCE"[n % 4]) for n in range(2000)]
    scenario = parse_scenario(body(tickets=tickets))
    watch = Stopwatch()
    assumptions_of(scenario)
    assert watch.spent_s < 0.2
