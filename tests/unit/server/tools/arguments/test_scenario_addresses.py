"""What is said of addresses that gave no position (SPEC T1, O4)."""

from typing import Any

from planner_mcp.addresses.offline_resolver import resolve_offline
from planner_mcp.server.tools.arguments.scenario_addresses import with_resolved_addresses
from tests.shared.scenarios.scenario_builders import agent, body, ticket

PLACES = [{"id": "D", "lat": 53.5, "lon": 10.0}, {"id": "A", "lat": 53.6, "lon": 10.0}]


def place_of(address: str) -> dict[str, Any]:
    """Return the location that a ticket with this address gets."""
    day = body([agent("v")], [ticket("a", "A"), {"id": "u", "address": address, "demand": 1}], locations=PLACES)
    (place,) = (
        each for each in with_resolved_addresses(day, resolve_offline).body["locations"] if each["id"] == "at u"
    )
    return dict(place)


def test_a_town_that_is_not_sure_is_named_as_it_would_be() -> None:
    """SPEC T1, T7: a bare name may be another place of that name; written as it was read, it is taken."""
    reading = {"status": "partial", "candidates": ["Lübeck, DE"]}
    assert place_of("Lübeck") == {"id": "at u", "open_address": reading}
    assert place_of("Lübeck, DE")["resolved"]["accuracy"] == "city"


def test_an_address_that_was_not_read_as_any_place_names_none() -> None:
    """SPEC T1: its own words are no candidate."""
    assert place_of("Xyzgasse 99, Nirgendwo")["open_address"]["candidates"] == []
