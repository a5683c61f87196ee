"""Days made to cost time and memory: each fits into the body of one call, and is judged in few steps."""

import json
from collections.abc import Callable
from cProfile import Profile
from itertools import combinations, islice
from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.routing.scenario.checks.scenario_checks import warnings
from planner_mcp.routing.scenario.checks.size_checks import MAX_PAIRS
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.text import Json
from tests.shared.scenarios.scenario_builders import agent, body, ticket

PER_BYTE = 8
"""Calls that checking may take for each byte of the body; the costliest of these days takes four."""
PER_PAIR = 12
"""Calls that checking may take for each pair of an agent and a ticket, as eligibility looks at all; seven are taken."""


def many(count: int, **fields: Any) -> list[Json]:
    return [ticket(f"t{n}", **fields) for n in range(count)]


def names(count: int) -> list[str]:
    return [f"t{n}" for n in range(count)]


def locked(count: int, ids: list[str]) -> list[Json]:
    return [agent(f"v{n}", capacity=10_000, locked_tickets=ids) for n in range(count)]


def dims(n: int) -> Json:
    return {f"d{n}-{m}": 9 for m in range(10)}


def barred(agents: int, count: int) -> list[Json]:
    pairs = islice(combinations(range(agents), 2), count)
    return [ticket(f"t{n}", not_agents=[f"v{a}", f"v{b}"]) for n, (a, b) in enumerate(pairs)]


DAYS: dict[str, Callable[[], Json]] = {
    "one id, 20,000 times": lambda: body(incompatible=[["a"] * 20_000]),
    "all tickets exclude each other": lambda: body(tickets=many(5000), incompatible=[names(5000)]),
    "all are locked, and one may be served": lambda: body(
        locked(1, names(5000)), many(5000), groups=[{"kind": "one_of", "tickets": names(5000)}]
    ),
    "one delivery is locked a million times": lambda: body(
        locked(49, ["q"] * 20_000), [ticket("p", kind="pickup"), ticket("q", pickup="p")]
    ),
    "a million unknown ids": lambda: body(incompatible=[["z"] * 20_000 for _ in range(50)]),
    "10,000 dimensions": lambda: body(
        [agent(f"v{n}", capacity=dims(n), locked_tickets=names(5000)[5 * n : 5 * n + 5]) for n in range(1000)],
        [ticket(f"t{n}", demand=dims(n // 5)) for n in range(5000)],
    ),
    "ids that are numbers, two million times": lambda: body(incompatible=[[1] * 20_000 for _ in range(95)]),
    "half a million wrong hours": lambda: body(tickets=many(5000, time_windows=[[-1, -1]] * 50)),
    "long names that are alike": lambda: body(
        tickets=[ticket(f"t{n}", "ab" * 50) for n in range(10)],
        locations=[{"id": "ba" * 46 + f"{n:06d}"} for n in range(20_000)],
    ),
    "all are locked everywhere, and each bars another agent": lambda: body(
        locked(1000, names(100) * 4), [ticket(f"t{n}", not_agents=[f"v{n}"]) for n in range(100)]
    ),
    "tickets that each bar other agents": lambda: body([agent(f"v{n}") for n in range(500)], barred(500, 5000)),
}

QUICK = ("one id, 20,000 times", "all tickets exclude each other", "all are locked, and one may be served")
"""Counting every call of the others takes seconds each."""
CASES = [pytest.param(day, id=name, marks=[] if name in QUICK else pytest.mark.slow) for name, day in DAYS.items()]


@pytest.mark.parametrize("day", CASES)
def test_no_day_takes_more_steps_to_check_than_its_size_explains(day: Callable[[], Json]) -> None:
    """SPEC T7, J8: whatever a body of 4 MB holds, its judgement does not take long; calls are counted, not seconds."""
    args = day()
    counter = Profile()
    try:
        counter.runcall(lambda: warnings(parse_scenario(args)))
    except InputError as error:
        assert all(fault.path.startswith("/") or "more problems" in fault.problem for fault in error.errors)
    calls = sum(entry.callcount for entry in counter.getstats())
    pairs = len(args["agents"]) * len(args["tickets"])
    assert calls < PER_BYTE * len(json.dumps(args)) + PER_PAIR * pairs


def test_pairs_are_counted_and_the_largest_group_is_named() -> None:
    """SPEC T7: as many as the bound holds pass; more are refused with what to change."""
    pairs = [list(pair) for pair in islice(combinations(names(200), 2), 1000)]
    size = next(n for n in range(2, 1000) if n * (n - 1) // 2 + 1000 > MAX_PAIRS)
    assert parse_scenario(body(tickets=many(700), incompatible=[*pairs, names(size - 1)]))
    with pytest.raises(InputError) as refused:
        parse_scenario(body(tickets=many(700), incompatible=[*pairs, names(size)]))
    (fault,) = refused.value.errors
    assert (refused.value.code, fault.path) == (4005, "/incompatible/1000")
    assert str(MAX_PAIRS) in fault.accepted
    assert "smaller" in fault.hint
