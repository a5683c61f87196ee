"""Locked visits that exclude each other, or are not their agent's, are refused; nothing else is (SPEC T7, S1)."""

import pytest

from planner_mcp.text import Json
from tests.shared.scenarios.scenario_builders import (
    SHIPMENT,
    agent,
    all_faults,
    body,
    raw_scenario,
    ticket,
)

CASES: list[tuple[str, Json, str, str, str]] = [
    (
        "delivery of another",
        body([agent(locked_tickets=["p"]), agent("w")], [SHIPMENT[0], SHIPMENT[1] | {"agents": ["w"]}]),
        "/agents/0/locked_tickets/0",
        "may not serve the delivery",
        "SKILL_OR_AGENT",
    ),
    (
        "delivery counts",
        body([agent(locked_tickets=["p"], max_tickets=1), agent("w")], SHIPMENT),
        "/agents/0/locked_tickets",
        "max_tickets",
        "MAX_TICKETS",
    ),
    (
        "delivery excluded",
        body(
            [agent(locked_tickets=["p", "x"]), agent("w")],
            [*SHIPMENT, ticket("x")],
            incompatible=[["q", "x"]],
        ),
        "/agents/0/locked_tickets/1",
        "excludes it",
        "INCOMPATIBLE",
    ),
    (
        "group of the delivery",
        body(
            [agent(locked_tickets=["p"]), agent("w", locked_tickets=["x"])],
            [*SHIPMENT, ticket("x"), ticket("y", penalty=0)],
            groups=[{"kind": "one_of", "tickets": ["q", "x"]}],
        ),
        "/agents/1/locked_tickets/0",
        "excludes it",
        "GROUP_OTHER_CHOSEN",
    ),
    (
        "all of a group",
        body(
            [agent(locked_tickets=["a", "x"])],
            [ticket("a"), ticket("b", "B"), ticket("x")],
            groups=[{"kind": "all", "tickets": ["a", "b"]}, {"kind": "one_of", "tickets": ["b", "x"]}],
        ),
        "/agents/0/locked_tickets/1",
        "excludes it",
        "GROUP_OTHER_CHOSEN",
    ),
    (
        "both pickups first",
        body(
            [agent(locked_tickets=["p", "r"], reload_locations=["D"])],
            [entry | {"demand": 6} for entry in (*SHIPMENT, ticket("r", kind="pickup"), ticket("s", "B", pickup="r"))],
        ),
        "/agents/0/locked_tickets",
        "capacity",
        "CAPACITY",
    ),
]


@pytest.mark.parametrize(
    ("day", "path", "words", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_must_be_served_with_a_locked_visit_is_checked_with_it(
    day: Json, path: str, words: str, reason: str
) -> None:
    """SPEC T7, S1: refused with its place and its reason when it is stored, not after a whole solve."""
    (fault,) = all_faults(raw_scenario(day))
    assert (fault.path, fault.reason) == (path, reason)
    assert words in fault.problem


def test_locked_visits_that_a_reload_or_their_order_makes_possible_pass() -> None:
    """SPEC T7: a check says only what it can prove."""
    mixed = [ticket(kind="pickup"), ticket("b", "B")]
    back = {"options": {"backhaul": True}}
    assert (
        all_faults(raw_scenario(body([agent(locked_tickets=["a", "b"], reload_locations=["D"])], mixed, **back))) == []
    )
    assert all_faults(raw_scenario(body([agent(locked_tickets=["b", "a"])], mixed, **back))) == []
    shipped = [agent(locked_tickets=["p", "q"], max_tickets=2)]
    assert all_faults(raw_scenario(body(shipped, SHIPMENT, **back))) == []
    never = agent(locked_tickets=["a", "b"], reload_locations=["D"], max_reloads=0)
    assert [fault.path for fault in all_faults(raw_scenario(body([never], mixed, **back)))] == [
        "/agents/0/locked_tickets/1"
    ]
