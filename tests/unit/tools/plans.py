"""Plans as a worker stores them, of any size."""

from typing import Any

CODES = ("NO_ROOM_FOUND", "ALL_CAPACITY_USED", "TIME_WINDOW_UNREACHABLE")


def stored_plan(*, routes: int, visits: int, left_out: int = 0, id_form: str = "{}-{}") -> dict[str, Any]:
    """Return a plan in the form of `Plan.as_json()`.

    Args:
        routes: How many agents drive.
        visits: Tickets of each.
        left_out: Tickets nobody serves.
        id_form: How kind and number become an id.
    """
    served = routes * visits
    return {
        "status": "partial" if left_out else "feasible",
        "cost": 1234.5678,
        "routes": [_route(number, visits, id_form) for number in range(routes)],
        "unassigned": [
            {
                "ticket_id": id_form.format("t", served + n),
                "code": CODES[n % len(CODES)],
                "detail": "The search found no route with room for it; more time or agents may help.",
            }
            for n in range(left_out)
        ],
        "distance_m": 412_345.678,
        "duration_s": 98_765.4,
        "agents_used": routes,
        "tickets_served": served,
        "tickets_total": served + left_out,
        "assumptions": ["Distances are straight lines (haversine) at 40 km/h."],
        "engine": "auto",
        "seed": 0,
        "versions": {},
        "input_hash": "",
    }


def _route(number: int, visits: int, id_form: str) -> dict[str, Any]:
    return {
        "agent_id": id_form.format("veh", number),
        "visits": [_visit(number * visits + n, n, id_form) for n in range(visits)],
        "start_location": "depot",
        "end_location": "depot",
        "start_s": 28_800.0,
        "end_s": 28_800.0 + 900.0 * visits,
        "distance_m": 42_123.456,
        "travel_s": 7200.0,
        "waiting_s": 300.5,
        "cost": 42.1234,
    }


def _visit(ticket: int, position: int, id_form: str) -> dict[str, Any]:
    arrival = 28_800.0 + 900.0 * position
    return {
        "kind": "ticket",
        "ticket_id": id_form.format("t", ticket),
        "location": id_form.format("LOC", ticket),
        "arrival_s": arrival,
        "start_s": arrival + 60,
        "departure_s": arrival + 360,
        "load": {"load": 20.0},
        "distance_m": 1234.567,
        "late_s": 0.0,
    }
