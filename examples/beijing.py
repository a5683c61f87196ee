"""Writes the day of `planner-mcp demo`: one day of a fresh-food distributor in Beijing, made up from a seed.

Owns the making of the day; the JSON is what the demos and the tests read. Two depots, ten vans in two shifts,
120 shops around real neighbourhoods (WGS-84), with time windows, service times and a cold chain that only some vans
keep. Nothing in it belongs to a real customer. Run `python -m examples.beijing` to write the file anew.
"""

import json
from pathlib import Path
from random import Random
from typing import Any, Final

SEED: Final = 20250715
TICKETS: Final = 120
DAY_FILE: Final = Path(__file__).parents[1] / "planner_mcp" / "cli" / "commands" / "demo_day.json"

DEPOTS: Final = {"depot-shunyi": (40.0930, 116.5560), "depot-daxing": (39.7610, 116.3330)}
NEIGHBOURHOODS: Final = {
    "Wangjing": (39.9960, 116.4740, 0.012),
    "Sanlitun": (39.9340, 116.4540, 0.010),
    "Guomao": (39.9090, 116.4600, 0.010),
    "Zhongguancun": (39.9840, 116.3160, 0.012),
    "Wudaokou": (39.9930, 116.3380, 0.009),
    "Xidan": (39.9130, 116.3740, 0.009),
    "Dongzhimen": (39.9410, 116.4330, 0.009),
    "Fengtai": (39.8580, 116.2870, 0.018),
    "Shijingshan": (39.9060, 116.2230, 0.016),
    "Yizhuang": (39.7950, 116.5060, 0.016),
    "Tongzhou": (39.9020, 116.6560, 0.018),
    "Huilongguan": (40.0710, 116.3360, 0.014),
}
"""Centre (lat, lon) and spread in degrees of latitude."""
WINDOWS: Final = (
    (30, ("07:30", "11:30")),
    (25, ("13:00", "17:00")),
    (10, ("08:00", "10:00")),
    (10, ("10:00", "12:00")),
    (10, ("14:00", "16:00")),
    (15, ("07:00", "17:30")),
)
"""Share in percent and the window in which service may start."""


def day(seed: int = SEED) -> dict[str, Any]:
    """Return the scenario, equal for equal seeds."""
    random = Random(seed)  # noqa: S311 - a reproducible day, not a secret
    shops = [_shop(random, index) for index in range(TICKETS)]
    depots = [{"id": name, "lat": lat, "lon": lon} for name, (lat, lon) in DEPOTS.items()]
    return {
        "name": "北京城配",
        "planning_date": "2025-07-15",
        "agents": [_van(index) for index in range(10)],
        "tickets": [ticket for ticket, _ in shops],
        "locations": depots + [location for _, location in shops],
        "travel": {"speed_kmh": 26, "detour": 1.35},
    }


def _shop(random: Random, index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a ticket and its location."""
    names = list(NEIGHBOURHOODS)
    area = names[index % len(names)]
    lat, lon, spread = NEIGHBOURHOODS[area]
    place = f"{area}-{index // len(names) + 1:02d}"
    location = {
        "id": place,
        "lat": round(random.gauss(lat, spread * 0.7), 5),
        "lon": round(random.gauss(lon, spread * 0.9), 5),
    }
    shares, windows = zip(*WINDOWS, strict=True)
    ticket: dict[str, Any] = {
        "id": f"t-{index + 1:03d}",
        "location": place,
        "demand": random.randint(3, 14),
        "time_windows": [list(random.choices(windows, shares)[0])],
        "service_time_s": 60 * random.randint(5, 14),
    }
    if random.random() < 0.2:
        ticket["skills"] = ["chilled"]
    return ticket, location


def _van(index: int) -> dict[str, Any]:
    """Return a van: every third starts late, the first four keep the cold chain, depots take turns."""
    depot = list(DEPOTS)[index % 2]
    is_late = index in (3, 6, 9)
    van: dict[str, Any] = {
        "id": f"van-{index + 1:02d}",
        "capacity": 120,
        "start_location": depot,
        "end_location": depot,
        "shift_start": "09:00" if is_late else "06:30",
        "shift_end": "18:30" if is_late else "16:00",
        "fixed_cost": 180,
        "cost_per_km": 2.2,
        "cost_per_hour": 45,
    }
    if index < 4:
        van["skills"] = ["chilled"]
    return van


def text(scenario: dict[str, Any]) -> str:
    """Return the scenario as the file holds it: one agent, ticket or location a line."""
    lines = []
    for key, value in scenario.items():
        if isinstance(value, list):
            rows = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f'  "{key}": [\n    {rows}\n  ]')
        else:
            lines.append(f'  "{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    DAY_FILE.write_text(text(day()), encoding="utf-8")
    print(f"{DAY_FILE.name}: {TICKETS} tickets")
