"""Which faults are told beside a mistake of schema, and which wait until it is mended (SPEC T7)."""

from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.checks.error_recovery import ErrorLocation, is_doubtful
from planner_mcp.routing.scenario.checks.scenario_checks import contradictions
from planner_mcp.routing.scenario.scenario_model import Agent, Location, Ticket, Travel
from planner_mcp.text import Json
from tests.shared.scenarios.scenario_builders import SHIPMENT, agent, body, raw_scenario, ticket
from tests.unit.routing.scenario.checks.test_scenario_checks import CASES

ENTRIES = {"agents": Agent, "tickets": Ticket, "locations": Location}
PLACES: list[ErrorLocation] = [
    *((section, 7) for section in ENTRIES),
    *((section, 7, field) for section, model in ENTRIES.items() for field in model.model_fields),
    *(("travel", field) for field in Travel.model_fields),
    ("travel",),
    ("locations",),
    ("depot",),
]
"""Where a mistake of schema can be, beside whatever a fault stands in."""


WITHOUT_TWO = body([agent(capacity={"kg": 9, "m3": 0}), agent("w", capacity={"kg": 0, "m3": 9})])
HEAVY = body([agent(locked_tickets=["a", "b"], capacity=1), agent("w")])
BEHIND = body([agent(locked_tickets=["a", "b"])], [ticket(kind="pickup"), ticket("b", "B")], options={"backhaul": True})


@pytest.mark.parametrize(
    ("day", "shaken", "unshaken"),
    [
        (body(tickets=[ticket(agents=["w"])]), ("agents", 7, "id"), ("agents", 7, "name")),
        (body([agent(locked_tickets=["zz"])]), ("tickets", 7), ("tickets", 7, "demand")),
        (body(tickets=[ticket(location="Q")]), ("travel", "matrix_locations"), ("travel", "detour")),
        (body(tickets=[ticket(demand=11)]), ("agents", 7, "capacity"), ("agents", 7, "shift_end")),
        (
            WITHOUT_TWO | {"tickets": [ticket(demand={"kg": 5, "m3": 5})]},
            ("agents", 7, "capacity"),
            ("tickets", 7, "demand"),
        ),
        (body(tickets=[ticket(skills=["crane"])]), ("agents", 7, "skills"), ("agents", 7, "id")),
        (body([agent(max_tickets=0)], [ticket()]), ("agents", 7), ("agents", 7, "max_tickets")),
        (body(tickets=[SHIPMENT[0], SHIPMENT[1] | {"demand": 2}]), ("tickets", 7, "pickup"), ("tickets", 7, "skills")),
        (HEAVY, ("tickets", 7, "kind"), ("tickets", 7, "name")),
        (BEHIND, ("tickets", 7, "kind"), ("agents", 7, "capacity")),
    ],
    ids=["agent", "ticket", "location", "room", "both", "skill", "stops", "unequal", "heavy", "backhaul"],
)
def test_a_fault_waits_for_what_it_needs_and_for_nothing_else(
    day: Json, shaken: ErrorLocation, unshaken: ErrorLocation
) -> None:
    """SPEC T7: all faults at once, save those a mended value may have caused."""
    (fault,) = contradictions(raw_scenario(day))
    assert is_doubtful(fault, [unshaken, shaken])
    assert not is_doubtful(fault, [unshaken])
    assert not is_doubtful(fault, [shaken], is_alone=True)


@pytest.mark.parametrize("rule", CASES, ids=lambda rule: rule.__name__)
def test_the_wording_of_a_fault_never_decides_whether_it_is_reported(rule: Any) -> None:
    """SPEC T7: other words for the same fault are told, or wait, beside the same mistakes."""
    for fault in rule(raw_scenario(CASES[rule])):
        for words in ("It is wrong.", "There is no agent that can serve the capacity locked behind than its pickup."):
            reworded = replace(fault, problem=words)
            assert [is_doubtful(reworded, [place]) for place in PLACES] == [
                is_doubtful(fault, [place]) for place in PLACES
            ]


@pytest.mark.parametrize("name", ["*", "", "1", "2"])
def test_a_field_of_any_name_is_never_taken_for_a_whole_entry(name: str) -> None:
    """SPEC T7: what a field nobody knows holds is judged by nothing else."""
    (fault,) = contradictions(raw_scenario(body(tickets=[ticket(demand=11)])))
    assert not is_doubtful(fault, [("agents", 7, name)])


def test_what_a_fault_depends_on_is_never_shown_and_makes_it_no_other_fault() -> None:
    """SPEC T7: a fault is where, what, what would be accepted and what to do."""
    fault = Fault("/agents", "It is wrong.", needs=("carriers",))
    assert fault == Fault("/agents", "It is wrong.")
    assert set(fault.as_json()) == {"path", "problem", "accepted", "hint"}
    assert "carriers" not in f"{fault.as_line()} {fault}"
