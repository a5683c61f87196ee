"""Two days that look the same without `planner:sensitive`: they differ in masked values alone (ADR 0035).

Whatever is asked about them must be answered alike; then nothing that is computed from answers tells them apart.
"""

import re
from typing import Final

from planner_mcp.text import Json

DEPOT: Final = (39.9042, 116.4074)
SHOWN: Final = (39.9, 116.41)
"""The depot as it is shown."""
KNOWN: Final = {"K1": (39.95, 116.3), "K2": (39.85, 116.5), "K3": (39.99, 116.52)}
"""Points that the attacker chooses."""


def day(*, shift: float = 0.0, price: float = 2.0, name: str = "Ada") -> Json:
    """Return a scenario; `shift` moves every position, in degrees that the rounding hides."""
    places = {"D": DEPOT, "A": (39.9089, 116.4311), "B": (39.9312, 116.3878), "C": (39.8712, 116.3588)}
    return {
        "name": "d",
        "planning_date": "2025-07-15",
        "depot": "D",
        "agents": [
            {
                "id": "veh-1",
                "capacity": 4,
                "name": name,
                "fixed_cost": 21.37 * price,
                "cost_per_km": price,
                "cost_per_hour": 7 * price,
                "shift_start": "08:00",
                "shift_end": "18:00",
            }
        ],
        "tickets": [
            {
                "id": f"t-{n}",
                "location": at,
                "demand": 2,
                "name": name,
                "penalty": 300 * price,
                "service_time_s": 300,
            }
            for n, at in enumerate("ABC", start=1)
        ],
        "locations": [
            {"id": key, "lat": lat + shift, "lon": lon - shift, "address": f"{name} Street {key}"}
            for key, (lat, lon) in places.items()
        ],
    }


TWINS: Final = (day(), day(shift=-0.0031, price=3.7, name="Bob"))
SECRETS: Final = ("Ada", "Bob", "39.9042", "116.4074", 'cost_per_km": 2', 'cost_per_km":2')


def with_known_points(*, until: str = "18:00", fixed_to: list[str] | None = None) -> Json:
    """Return a patch that sends the agent from the depot to points that the attacker knows."""
    return {
        "locations": {key: {"lat": lat, "lon": lon} for key, (lat, lon) in KNOWN.items()},
        "tickets": {f"x-{key}": {"location": key, "demand": 0} for key in KNOWN} | {f"t-{n}": None for n in (1, 2, 3)},
        "agents": {"veh-1": {"shift_end": until, "locked_tickets": fixed_to or []}},
    }


def without_names(text: str) -> str:
    """Return an answer without ids, times of the clock and the true gap, which may be known (ADR 0035)."""
    text = re.sub(r"(scn|job|plan)-\d+-[a-z0-9]+", r"\1", text)
    text = re.sub(r"\d{4}-?\d\d-?\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r'"(elapsed_s|gap|next_offset|position)": ?("\d+-\d+"|[\d.]+)', "", text)
    text = re.sub(r"\b\d{13}-\d+", "POSITION", text)
    text = re.sub(r"/(downloads|shared)/[\w-]+", r"/\1", text)
    return re.sub(r"at most [\d.]+% cheaper", "", text)
