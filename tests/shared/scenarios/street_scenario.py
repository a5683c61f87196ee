"""A day on a few streets."""

from typing import Any

CORNERS = {"D": (39.90, 116.40), "A": (39.91, 116.40), "B": (39.91, 116.41), "C": (39.90, 116.41), "E": (39.92, 116.4)}


def day(router: str = "car", **fields: Any) -> dict[str, Any]:
    """Return a day that asks a road engine."""
    return {
        "name": "roads",
        "planning_date": "2025-07-15",
        "agents": [{"id": "v", "capacity": 10}],
        "tickets": [{"id": name.lower(), "location": name, "demand": 1} for name in "ABCE"],
        "locations": [{"id": name, "lat": lat, "lon": lon} for name, (lat, lon) in CORNERS.items()],
        "depot": "D",
        "travel": {"router": router},
        **fields,
    }
