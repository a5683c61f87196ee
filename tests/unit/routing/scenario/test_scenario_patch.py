"""A day under a merge patch."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.errors import Fault, InvalidScenarioError
from planner_mcp.routing.scenario.scenario_model import end_of, start_of
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.scenario_patch import ListChange, changes, merge, patch_faults, revise, with_id_path
from tests.shared.scenarios.scenario_builders import agent, body, ticket

APPENDIX: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(("target", "patch", "result"), APPENDIX)
def test_the_examples_of_the_rfc(target: Any, patch: Any, result: Any) -> None:
    """SPEC T5: RFC 7396, appendix A, every row."""
    assert merge(target, patch) == result


@given(JSON, JSON)
def test_a_patch_applied_twice_changes_nothing_more(target: Any, patch: Any) -> None:
    """SPEC T5: a merge patch says how things shall be."""
    once = merge(target, patch)
    assert merge(once, patch) == once


@given(JSON)
def test_an_empty_patch_leaves_objects_alone(target: Any) -> None:
    """SPEC T5."""
    assert merge(target, {}) == (target if isinstance(target, dict) else {})


def test_lists_are_patched_by_id() -> None:
    """SPEC T5: merged, removed, added at the end; the rest stays in its order, and the day itself is not touched."""
    day = body([agent("v"), agent("w")], [ticket("a", demand=1, service_time_s=60), ticket("b", "B")])
    patch = {
        "agents": {"w": None},
        "tickets": {"a": {"demand": 2, "service_time_s": None}, "c": {"location": "C", "demand": 1}},
    }
    revised = revise(day, patch)
    assert [entry["id"] for entry in revised["agents"]] == ["v"]
    assert revised["tickets"] == [
        {"id": "a", "location": "A", "demand": 2},
        {"id": "b", "location": "B", "demand": 1},
        {"id": "c", "location": "C", "demand": 1},
    ]
    assert day["tickets"][0]["demand"] == 1
    assert changes(day, revised) == {
        "agents": ListChange((), ("w",), ()),
        "tickets": ListChange(("c",), (), ("a",)),
    }


def test_null_opens_a_route_in_a_patch_as_in_a_day() -> None:
    """SPEC T5, S1: of an agent there is and of a new one; the depot by its name closes it, and other nulls remove."""
    day = body([agent("v", skills=["lift"]), agent("w", end_location=None)])
    patch = {
        "agents": {
            "v": {"end_location": None, "skills": None},
            "w": {"end_location": "D"},
            "sub": {"capacity": 5, "start_location": None, "end_location": None},
        }
    }
    revised = revise(day, patch)
    assert revised["agents"] == [
        {"id": "v", "capacity": 10, "end_location": None},
        {"id": "w", "capacity": 10, "end_location": "D"},
        {"id": "sub", "capacity": 5, "start_location": None, "end_location": None},
    ]
    assert revise(revised, patch) == revised
    read = parse_scenario(revised)
    assert [(start_of(read, each), end_of(read, each)) for each in read.agents] == [
        ("D", None),
        ("D", "D"),
        (None, None),
    ]


def test_null_at_a_name_that_no_field_has_is_left_for_the_checks() -> None:
    """SPEC T7: they refuse it as they would in a day; a patch would otherwise pass it over in silence."""
    revised = revise(body(), {"agents": {"v": {"end_locaton": None, "skills": None}}, "extras": None, "groups": None})
    assert revised["agents"][0] == {"id": "v", "capacity": 10, "end_locaton": None}
    assert (revised["extras"], "groups" in revised) == (None, False)


MATRIX = [[abs(row - column) for column in range(4)] for row in range(4)]
ORDER = [{"id": name} for name in "Dabc"]
"""Places whose rows have no names: they go by their order."""


def by_order(**travel: Any) -> dict[str, Any]:
    """Return a day of tickets at a, b and c, with a matrix whose rows go by the order of the locations."""
    return body(tickets=[ticket(n, n) for n in "abc"], locations=ORDER, travel={"durations": MATRIX, **travel})


def test_rows_of_a_matrix_keep_their_places_when_locations_come_and_go() -> None:
    """SPEC T5: b goes and e comes at the end, and c keeps its row; e has none, and is named where a ticket is there."""
    gone = revise(by_order(), {"locations": {"a": None, "e": {}}, "tickets": {"a": None}})
    travel_matrices = parse_scenario(gone).travel_matrices
    assert travel_matrices is not None
    assert travel_matrices.durations is not None
    assert travel_matrices.locations == ("D", "a", "b", "c")
    assert travel_matrices.durations[0].tolist() == [0, 1, 2, 3]
    with pytest.raises(InvalidScenarioError) as refused:
        parse_scenario(revise(gone, {"tickets": {"e": {"location": "e", "demand": 1}}}))
    assert [(fault.path, fault.problem) for fault in refused.value.errors] == [
        ("/travel/matrix_locations", "Locations in use have no row in the matrices: e.")
    ]


def test_rows_are_named_only_where_a_patch_would_shift_them() -> None:
    """SPEC T5: not for a change of an entry, and not where new tables, names or a whole list come along."""
    renamed = revise(by_order(), {"locations": {"a": {"name": "Ann's"}}})
    assert "matrix_locations" not in renamed["travel"]
    larger = [[abs(row - column) for column in range(5)] for row in range(5)]
    grown = revise(by_order(), {"locations": {"e": {}}, "travel": {"durations": larger}})
    assert "matrix_locations" not in grown["travel"]
    assert parse_scenario(grown).travel_matrices is not None
    named = revise(by_order(), {"locations": {"e": {}}, "travel": {"matrix_locations": ["D", "c", "b", "a"]}})
    assert named["travel"]["matrix_locations"] == ["D", "c", "b", "a"]
    assert "matrix_locations" not in revise(by_order(), {"locations": [*ORDER[1:], ORDER[0]]})["travel"]
    assert revise(by_order(), {"locations": {"e": {}}, "travel": 5})["travel"] == 5


def test_tickets_name_an_agent_that_is_removed_no_longer() -> None:
    """SPEC T5: a breakdown is told by one null; a name that the patch itself writes, or that never was, is refused."""
    tickets = [
        ticket("a", preferred_agent="w", switch_cost=5),
        ticket("b", "B", not_agents=["v", "w"]),
        ticket("c", agents=["w", "x"]),
    ]
    day = body([agent("v"), agent("w"), agent("x")], tickets)
    revised = revise(day, {"agents": {"w": None}})
    assert revised["tickets"] == [ticket("a"), ticket("b", "B", not_agents=["v"]), ticket("c", agents=["x"])]
    assert day["tickets"] == tickets
    parse_scenario(revised)
    for patch in (
        {"agents": {"w": None, "x": None}},
        {"agents": {"w": None}, "tickets": {"c": {"preferred_agent": "w"}}},
        {"tickets": {"c": {"not_agents": ["W"]}}},
        {"agents": [agent("v"), agent("W")]},
    ):
        with pytest.raises(InvalidScenarioError):
            parse_scenario(revise(day, patch))


SHIPMENT = [ticket("p"), ticket("d", "B", pickup="p"), ticket("x", "C")]


@pytest.mark.parametrize(
    ("entries", "path"),
    [
        ({"d": None}, "/patch/tickets/d"),
        ({"d": None, "p": {"demand": 2}}, "/patch/tickets/d"),
        ({"d": {"pickup": None}}, "/patch/tickets/d/pickup"),
        ({"d": {"pickup": "x"}}, "/patch/tickets/d/pickup"),
    ],
)
def test_a_pickup_does_not_silently_become_a_delivery(entries: Any, path: str) -> None:
    """SPEC T5, T7: its goods would be taken along from the depot."""
    (fault,) = patch_faults(body(tickets=SHIPMENT), {"tickets": entries})
    assert (fault.path, fault.hint) == (path, "Remove the pickup too, or give it kind pickup.")


@pytest.mark.parametrize(
    "entries",
    [
        {"d": None, "p": None},
        {"d": None, "p": {"kind": "pickup"}},
        {"d": None, "p": {"kind": "delivery"}},
        {"d": None, "e": {"location": "C", "demand": 1, "pickup": "p"}},
        {"d": {"demand": 2, "pickup": "p"}, "p": {"demand": 2}},
        {"x": None},
    ],
)
def test_a_shipment_is_parted_by_who_says_what_becomes_of_it(entries: Any) -> None:
    """SPEC T5: of its pickup: nothing, some kind, or another delivery's."""
    day = body(tickets=SHIPMENT)
    assert list(patch_faults(day, {"tickets": entries})) == []
    parse_scenario(revise(day, {"tickets": entries}))


def test_a_ticket_that_is_removed_is_neither_locked_nor_grouped_nor_kept_apart_any_more() -> None:
    """SPEC T5: a cancellation is told by one null; what the patch itself writes, or a pickup's delivery, is refused."""
    tickets = [ticket("a"), ticket("b", "B"), ticket("c", "C")]
    groups = [{"kind": "one_of", "tickets": ["a", "c"], "penalty": 9}, {"kind": "all", "tickets": ["a"]}]
    incompatible = [["a", "b"], ["a", "b", "c"]]
    day = body([agent(locked_tickets=["a"]), agent("w")], tickets, groups=groups, incompatible=incompatible)
    revised = revise(day, {"tickets": {"a": None}})
    parse_scenario(revised)
    assert revised["agents"] == [agent(locked_tickets=[]), agent("w")]
    assert revised["groups"] == [{"kind": "one_of", "tickets": ["c"], "penalty": 9}]
    assert revised["incompatible"] == [["b", "c"]]
    assert (day["groups"], day["incompatible"]) == (groups, incompatible)
    with pytest.raises(InvalidScenarioError):
        parse_scenario(revise(day, {"tickets": {"a": None}, "groups": groups}))


def test_a_list_replaces_the_list() -> None:
    """SPEC T5: as the RFC has it."""
    assert revise(body(), {"tickets": [ticket("z")]})["tickets"] == [ticket("z")]


def test_all_faults_of_a_patch_are_reported_together() -> None:
    """SPEC T7."""
    patch = {"tickets": {"nobody": None, "a": 5, "b": {"id": "c"}}, "agents": {"v": {"capacity": 1}}}
    assert [fault.path for fault in patch_faults(body(), patch)] == [
        "/patch/tickets/nobody",
        "/patch/tickets/a",
        "/patch/tickets/b/id",
    ]
    (removal,) = patch_faults(body(), {"tickets": {"A": None}})
    assert removal.hint == "Did you mean a?"


def test_a_near_id_is_looked_for_of_the_first_few_removals_alone() -> None:
    """SPEC T7: each look compares an id with all of the day, and a patch may remove thousands."""
    many = list(patch_faults(body(), {"tickets": {f"a{number}": None for number in range(30)}}))
    assert [bool(fault.hint) for fault in many] == [True] * 10 + [False] * 20


def test_faults_are_reported_by_id() -> None:
    """SPEC T7: who wrote a patch knows ids, not positions."""
    day = body()
    assert with_id_path(Fault("/tickets/1/demand", "No."), day).path == "/tickets/b/demand"
    assert with_id_path(Fault("/travel/speed_kmh", "No."), day).path == "/travel/speed_kmh"
    assert with_id_path(Fault("/tickets", "No."), day).path == "/tickets"


def test_what_is_held_goes_with_its_date() -> None:
    """SPEC T5: yesterday's hour and visits are none of today's; whoever names `held` in the patch has it in mind."""
    held = {"until_s": 45_000, "routes": []}
    day = body(held=held)
    assert "held" not in revise(day, {"planning_date": "2025-07-16"})
    assert day["held"] == held
    for patch in ({"planning_date": "2025-07-15"}, {"name": "other"}):
        assert revise(day, patch)["held"] == held
    named = revise(day, {"planning_date": "2025-07-16", "held": {"until_s": 25_200}})
    assert named["held"] == {"until_s": 25_200, "routes": []}
