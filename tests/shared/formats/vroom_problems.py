"""A problem of VROOM with most of what both models know."""

from typing import Any

VROOM: dict[str, Any] = {
    "vehicles": [
        {
            "id": 1,
            "start": [2.35, 48.87],
            "end": [2.35, 48.87],
            "capacity": [4, 2],
            "skills": [1, 14],
            "time_window": [28800, 43200],
            "breaks": [{"id": 1, "time_windows": [[32400, 34200]], "service": 300}],
            "max_tasks": 4,
            "costs": {"fixed": 100, "per_hour": 36, "per_km": 1},
        },
        {"id": 2, "start": [2.35, 48.87]},
    ],
    "jobs": [
        {"id": 1, "location": [2.36, 48.88], "service": 300, "delivery": [1, 0], "skills": [1], "priority": 100},
        {"id": 2, "location": [2.37, 48.89], "pickup": [1, 0], "time_windows": [[1752570000, 1752573600]]},
    ],
    "shipments": [
        {
            "amount": [1, 1],
            "pickup": {"id": 4, "location": [2.34, 48.86], "setup": 60},
            "delivery": {"id": 4, "location": [2.33, 48.85]},
        }
    ],
}
