"""The scenarios that benchmarks submit."""

import random
from typing import Any, Final

ONE_TICKET: Final = {
    "name": "bench",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}


def strewn_day(tickets: int, seed: int) -> dict[str, Any]:
    """Return a day of tickets strewn over a square of 20 km, windows of two to five hours, an agent for 15 tickets."""
    draw = random.Random(seed)
    places = {f"P{n}": (draw.randint(0, 20_000), draw.randint(0, 20_000)) for n in range(tickets)}
    return {
        "name": f"{tickets} tickets",
        "planning_date": "2025-07-15",
        "depot": "D",
        "locations": [{"id": name, "x": x, "y": y} for name, (x, y) in {"D": (10_000, 10_000), **places}.items()],
        "agents": [{"id": f"agent-{n}", "capacity": 100} for n in range(tickets // 15 + 2)],
        "tickets": [
            {
                "id": f"t-{n}",
                "location": f"P{n}",
                "demand": draw.randint(1, 10),
                "service_time_s": 300,
                "time_windows": [[f"{(opens := draw.randint(8, 14)):02d}:00", f"{opens + draw.randint(2, 5):02d}:00"]],
            }
            for n in range(tickets)
        ],
    }
