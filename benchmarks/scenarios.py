"""The scenarios that benchmarks submit."""

from typing import Final

ONE_TICKET: Final = {
    "name": "bench",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 100}],
    "tickets": [{"id": "t-1", "location": "LOC_A", "demand": 20}],
}
