"""The day that most chapters plan: two vans, three visits in Beijing, as in docs/first-steps.md."""

from typing import Any

THREE_VISITS: dict[str, Any] = {
    "name": "three visits",
    "planning_date": "2025-07-15",
    "depot": "depot",
    "agents": [
        {"id": "van-1", "capacity": 10, "shift_start": "08:00", "shift_end": "16:00"},
        {"id": "van-2", "capacity": 10, "shift_start": "08:00", "shift_end": "16:00"},
    ],
    "tickets": [
        {"id": "t-1", "location": "wangjing", "demand": 6, "time_windows": [["09:00", "11:00"]], "service_time_s": 600},
        {"id": "t-2", "location": "guomao", "demand": 6, "time_windows": [["09:00", "12:00"]], "service_time_s": 600},
        {"id": "t-3", "location": "xidan", "demand": 3, "service_time_s": 300},
    ],
    "locations": [
        {"id": "depot", "lat": 40.093, "lon": 116.556},
        {"id": "wangjing", "lat": 39.996, "lon": 116.474},
        {"id": "guomao", "lat": 39.909, "lon": 116.46},
        {"id": "xidan", "lat": 39.913, "lon": 116.374},
    ],
    "travel": {"speed_kmh": 26, "detour": 1.35},
}
"""Either van can take 10, so `t-1` and `t-2` need one each, and `t-3` goes with one of them."""
