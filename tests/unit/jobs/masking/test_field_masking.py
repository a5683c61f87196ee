"""What a principal without `planner:sensitive` sees."""

from dataclasses import replace
from typing import Any

import manifest
from planner_mcp.jobs.masking.field_masking import plan_for, scenario_for, sensitive_fields
from planner_mcp.jobs.principals import LOCAL, READ, Principal
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.text import MASK
from tests.shared.scenarios.stored_plans import stored_plan

READER = Principal("u-1", frozenset({READ}))
PRICES = {"fixed_cost", "cost_per_km", "cost_per_hour", "overtime_cost_per_hour"}
PERSON = {"name": "王小明", "address": "朝阳路 1 号", "phone": "+86 138", "notes": "back door\u202e"}


def day() -> dict[str, Any]:
    """Return a day with every sensitive field."""
    prices = dict.fromkeys(PRICES, 7)
    ticket = {"id": "t-1", "location": "L", "demand": 1, "penalty": 9, "lateness_cost_per_hour": 3, **PERSON}
    ticket |= {"preferred_agent": "veh-1", "switch_cost": 4}
    return {
        "name": "day",
        "planning_date": "2025-07-15",
        "agents": [{"id": "veh-1", "capacity": 10, "name": "Li", "phone": "139", **prices}],
        "tickets": [ticket, {**ticket, "id": "t-2"}],
        "locations": [{"id": "L", "x": 1234.5, "y": -2, "name": "Yard", "address": "Road 2"}],
        "groups": [{"kind": "one_of", "tickets": ["t-1", "t-2"], "penalty": 5}],
        "options": {"balance_cost_per_hour": 1},
    }


def test_every_sensitive_field_is_masked_and_nothing_else() -> None:
    """SPEC R3: text becomes ***, a price null, the rest stays as it was sent."""
    parse_scenario(day())
    seen = scenario_for(READER, day())
    ticket = seen["tickets"][0]
    assert {name: ticket[name] for name in PERSON} == dict.fromkeys(PERSON, MASK)
    assert (ticket["penalty"], ticket["lateness_cost_per_hour"], ticket["switch_cost"]) == (None, None, None)
    assert (ticket["id"], ticket["demand"], ticket["location"]) == ("t-1", 1, "L")
    assert {name: seen["agents"][0][name] for name in PRICES} == dict.fromkeys(PRICES)
    assert seen["agents"][0]["phone"] == seen["locations"][0]["address"] == MASK
    assert seen["groups"][0]["penalty"] is seen["options"]["balance_cost_per_hour"] is None
    assert seen["name"] == "day"


def test_a_position_is_a_kilometre_coarse() -> None:
    """SPEC R3: where somebody lives is as private as the address; a map of the town still shows the routes."""
    assert scenario_for(READER, day())["locations"][0] == {"id": "L", "x": 1000, "y": 0, "name": MASK, "address": MASK}
    place = {"id": "L", "lat": 52.516275, "lon": -13.377704}
    seen = scenario_for(READER, day() | {"locations": [place, {"id": "M"}]})["locations"]
    assert seen == [{"id": "L", "lat": 52.52, "lon": -13.38}, {"id": "M"}]
    assert scenario_for(LOCAL, day() | {"locations": [place]})["locations"] == [place]


def test_the_scope_shows_everything_but_what_does_not_show() -> None:
    """SPEC R3: with the scope a body is as sent, save for characters that hide or turn text."""
    seen = scenario_for(LOCAL, day())
    assert seen["tickets"][0]["notes"] == "back door"
    assert seen["agents"] == day()["agents"]


def test_the_cost_of_a_route_is_a_price_and_the_total_is_not() -> None:
    """SPEC R3: with distance and time the cost of a route would tell the prices."""
    plan = Plan.from_json(stored_plan(routes=2, visits=1))
    seen = plan_for(READER, plan)
    assert [route.cost for route in seen.routes] == [None, None]
    assert replace(seen, routes=plan.routes) == plan
    assert [replace(route, cost=42.1234) for route in seen.routes] == list(plan.routes)
    assert plan_for(LOCAL, plan) == plan


def test_sensitive_fields_stand_in_the_schemas() -> None:
    """SPEC R3: declared where a client reads them, and each declared field exists."""
    schemas = manifest.load()["components"]["schemas"]
    assert set(sensitive_fields()) == {"Agent", "Ticket", "Location", "OpenAddress", "Group", "Options", "Held"}
    for name, fields in sensitive_fields().items():
        assert schemas[name]["x-sensitive-fields"] == list(fields)
        assert set(fields) <= set(schemas[name]["properties"])
