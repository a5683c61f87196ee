"""How long the plan a search starts from is mended."""

from itertools import count

from planner_mcp.routing.problem import Candidate
from tests.shared.scenarios.scenario_builders import agent, problem, ticket
from workers.engines.heuristics.warm_start_repair import repaired

DAY = problem([agent(capacity=40)], [ticket(f"t{n}", "A") for n in range(60)])
FULL = Candidate.of_tickets({0: range(60)})
STEP_S = 0.01


def test_repair_ends_with_its_share_of_the_time() -> None:
    """SPEC T5, S2: of ten seconds two; a route that does not fit by then is cut, and there is a plan to start from."""
    steps = count()
    found = repaired(DAY, FULL, 10.0, lambda: False, lambda: STEP_S * next(steps))
    assert [len(route.tickets) for route in found.routes] == [40]
    assert 200 <= next(steps) < 210


def test_repair_stops_when_it_is_asked_to() -> None:
    """SPEC T5: a job that is cancelled or finished does not wait for it."""
    asked = count(1)
    found = repaired(DAY, FULL, 10.0, lambda: next(asked) > 5, lambda: 0.0)
    assert [len(route.tickets) for route in found.routes] == [40]
    assert next(asked) < 20
