"""Small days, one or more for each feature, in which ignoring the feature gives another price.

Every day has its tickets on the corners of a square: D (0, 0) is the depot, A (10, 0), B (10, 10), C (0, 10), and F
(30, 0) lies beyond A. Speed is 1, so times are lengths. The tour of A, B, C costs 40.
"""

from dataclasses import dataclass, field
from typing import Any

from planner_mcp.vrp.problem import Feature, Problem

PLACES = {"D": (0, 0), "A": (10, 0), "B": (10, 10), "C": (0, 10), "F": (30, 0), "X": (50, 0)}
Json = dict[str, Any]


@dataclass(frozen=True)
class Day:
    """A scenario that has a feature, and the price a right plan has."""

    feature: Feature
    name: str
    agents: list[Json]
    tickets: list[Json]
    cost: float
    """Of the best plan; penalties of wanted tickets left out."""
    loose: float
    """What the best plan would cost if the feature were ignored."""
    served: int | None = None
    """Tickets the best plan serves; None for all."""
    more: Json = field(default_factory=dict)

    @property
    def body(self) -> Json:
        """The scenario as a caller writes it."""
        return {
            "name": self.name,
            "planning_date": "2025-07-15",
            "depot": "D",
            "locations": [{"id": place, "x": x, "y": y} for place, (x, y) in PLACES.items()],
            "agents": self.agents,
            "tickets": self.tickets,
            **self.more,
        }

    def goal(self, problem: Problem) -> int:
        """Return the price of the best plan in cost units, the penalties of wanted tickets left out included."""
        wanted = [ticket.penalty for ticket in problem.tickets if not ticket.is_priced]
        left_out = 0 if self.served is None or self.feature is Feature.OPTIONAL else len(self.tickets) - self.served
        return round(self.cost * problem.cost_scale) + left_out * max(wanted, default=0)

    def __str__(self) -> str:
        return f"{self.feature.value}: {self.name}"


def agent(number: int = 1, **changes: Any) -> Json:
    """Return an agent who can serve three tickets and pays for metres alone."""
    return {"id": f"agent-{number}", "capacity": 3, "cost_per_km": 1000, **changes}


def ticket(place: str, **changes: Any) -> Json:
    """Return a ticket at a place, named after it."""
    return {"id": place, "location": place, "demand": 1, **changes}


def abc(**changes: Json) -> list[Json]:
    """Return the tickets A, B and C with changes by name."""
    return [ticket(place, **changes.get(place, {})) for place in "ABC"]


TOUR, SPLIT, DETOUR, CORNER = 40.0, 54.142, 48.284, 34.142
"""All three; two and one; all three with B first; A and C (or A and B) on one route."""

DAYS = [
    Day(
        Feature.MULTI_CAPACITY,
        "the second dimension allows two tickets a route",
        [agent(n, capacity={"kg": 9, "m3": 10}) for n in (1, 2)],
        abc(**{place: {"demand": {"kg": 1, "m3": 5}} for place in "ABC"}),
        cost=SPLIT,
        loose=TOUR,
    ),
    Day(
        Feature.TIME_WINDOWS,
        "B closes before the tour reaches it",
        [agent()],
        abc(A={"time_windows": [[20, 99]]}, B={"time_windows": [[0, 15]]}, C={"time_windows": [[20, 99]]}),
        cost=DETOUR,
        loose=TOUR,
    ),
    Day(
        Feature.MULTI_WINDOWS,
        "A and C are closed in between, and the shift ends",
        [agent(shift_end=55)],
        abc(A={"time_windows": [[0, 5], [30, 99]]}, C={"time_windows": [[0, 5], [35, 99]]}),
        cost=DETOUR,
        loose=TOUR,
    ),
    Day(
        Feature.RUSH_HOURS,
        "at half the speed the tour reaches B too late",
        [agent()],
        abc(B={"time_windows": [[0, 30]]}),
        cost=DETOUR,
        loose=TOUR,
        more={"travel": {"rush_hours": [{"start": 0, "end": 100, "factor": 2}]}},
    ),
    Day(
        Feature.SOFT_WINDOWS,
        "lateness at B costs more than going there first",
        [agent()],
        abc(B={"soft_close": 15, "lateness_cost_per_hour": 7200}),
        cost=DETOUR,
        loose=TOUR,
    ),
    Day(
        Feature.SETUP,
        "two tickets at A share a setup, B would need another",
        [agent(shift_end=45)],
        [ticket("A", setup_time_s=15), ticket("A", id="A2", setup_time_s=15), ticket("B", setup_time_s=15)],
        cost=20.0,
        loose=CORNER,
        served=2,
    ),
    Day(
        Feature.HETEROGENEOUS,
        "the cheap agent takes one ticket only",
        [agent(1, capacity=1), agent(2, cost_per_km=3000)],
        [ticket("A"), ticket("C")],
        cost=80.0,
        loose=CORNER,
    ),
    Day(
        Feature.TIME_COST,
        "waiting for C costs more than a second route",
        [agent(n, cost_per_hour=3600) for n in (1, 2)],
        [ticket("A", time_windows=[[0, 12]]), ticket("C", time_windows=[[60, 99]])],
        cost=80.0,
        loose=CORNER,
    ),
    Day(
        Feature.MULTI_DEPOT,
        "the second agent comes from far away",
        [agent(1, capacity=1), agent(2, capacity=1, start_location="X", end_location="X")],
        [ticket("A"), ticket("C")],
        cost=100.0,
        loose=40.0,
    ),
    Day(
        Feature.OPEN_ROUTES,
        "no way back",
        [agent(end_location=None)],
        abc(),
        cost=30.0,
        loose=TOUR,
    ),
    Day(
        Feature.OPEN_ROUTES,
        "no way there",
        [agent(start_location=None)],
        [ticket("A"), ticket("F")],
        cost=30.0,
        loose=60.0,
    ),
    Day(Feature.SHIFTS, "the shift ends before the tour", [agent(n, shift_end=35) for n in (1, 2)], abc(), SPLIT, TOUR),
    Day(
        Feature.SHIFTS,
        "the shift starts too late for B",
        [agent(1, shift_start=10, cost_per_km=1), agent(2)],
        abc(B={"time_windows": [[0, 15]]}),
        cost=28.284 + 0.034,
        loose=0.04,
    ),
    Day(
        Feature.BREAKS,
        "rest and tour do not fit into the shift together",
        [
            agent(1, shift_end=50, breaks=[{"earliest": 10, "latest": 20, "duration_s": 20}]),
            agent(2, fixed_cost=100),
        ],
        abc(),
        cost=140.0,
        loose=TOUR,
    ),
    Day(
        Feature.BREAKS,
        "the rest has to wait for B and delays the rest",
        [agent(1, shift_end=60, breaks=[{"earliest": 15, "latest": 20, "duration_s": 20}])],
        abc(B={"time_windows": [[0, 25]]}, A={"time_windows": [[50, 99]]}),
        cost=TOUR,
        loose=TOUR,
    ),
    Day(
        Feature.OVERTIME,
        "five seconds of it are cheaper than a second route",
        [agent(n, shift_end=35, overtime_s=10, overtime_cost_per_hour=3600) for n in (1, 2)],
        abc(),
        cost=45.0,
        loose=TOUR,
    ),
    Day(Feature.MAX_DISTANCE, "35 metres", [agent(n, max_distance_m=35) for n in (1, 2)], abc(), SPLIT, TOUR),
    Day(
        Feature.MAX_DURATION,
        "service counts",
        [agent(n, max_duration_s=45) for n in (1, 2)],
        abc(B={"service_time_s": 10}),
        cost=SPLIT,
        loose=TOUR,
    ),
    Day(Feature.MAX_STOPS, "two tickets a route", [agent(n, max_tickets=2) for n in (1, 2)], abc(), SPLIT, TOUR),
    Day(
        Feature.SKILLS,
        "B needs the agent who can take one ticket",
        [agent(1), agent(2, capacity=1, skills=["ladder"])],
        abc(B={"skills": ["ladder"]}),
        cost=CORNER + 28.284,
        loose=TOUR,
    ),
    Day(
        Feature.INCOMPATIBLE,
        "A and B never together",
        [agent(1), agent(2)],
        abc(),
        cost=SPLIT,
        loose=TOUR,
        more={"incompatible": [["A", "B"]]},
    ),
    Day(
        Feature.SHIPMENTS,
        "what A gets is picked up beyond it",
        [agent(end_location=None)],
        [ticket("F", demand=1), ticket("A", pickup="F")],
        cost=50.0,
        loose=30.0,
    ),
    Day(
        Feature.PICKUPS,
        "no room at A before F is served",
        [agent(end_location=None, capacity=10)],
        [ticket("A", kind="pickup", demand=6), ticket("F", demand=6)],
        cost=50.0,
        loose=30.0,
    ),
    Day(
        Feature.BACKHAUL,
        "deliver first",
        [agent(end_location=None)],
        [ticket("A", kind="pickup"), ticket("F")],
        cost=50.0,
        loose=30.0,
        more={"options": {"backhaul": True}},
    ),
    Day(
        Feature.RELOAD,
        "one at a time",
        [agent(capacity=1, reload_locations=["D"], max_reloads=1)],
        [ticket("A"), ticket("C")],
        cost=40.0,
        loose=CORNER,
    ),
    Day(
        Feature.RELEASE,
        "A is released after C has closed",
        [agent(1), agent(2)],
        [ticket("A", release_time=30), ticket("C", time_windows=[[0, 20]])],
        cost=40.0,
        loose=CORNER,
    ),
    Day(
        Feature.OPTIONAL,
        "B is not worth its detour",
        [agent()],
        abc(B={"penalty": 5}),
        cost=CORNER + 5,
        loose=TOUR,
        served=2,
    ),
    Day(Feature.LOCKS, "B first", [agent(locked_tickets=["B"])], abc(), DETOUR, TOUR),
    Day(
        Feature.PREFERENCES,
        "each keeps its own, since a switch costs more than a second route",
        [agent(1), agent(2)],
        [
            ticket("A", preferred_agent="agent-1", switch_cost=6),
            ticket("C", preferred_agent="agent-2", switch_cost=6),
        ],
        cost=40.0,
        loose=CORNER,
    ),
    Day(
        Feature.PREFERENCES,
        "one switches, the cheaper of the two, since a second route costs more",
        [agent(1), agent(2)],
        [
            ticket("A", preferred_agent="agent-1", switch_cost=5),
            ticket("C", preferred_agent="agent-2", switch_cost=4),
        ],
        cost=CORNER + 4,
        loose=CORNER,
    ),
    Day(
        Feature.GROUPS,
        "one of A and F is enough",
        [agent()],
        [ticket("A"), ticket("F")],
        cost=20.0,
        loose=60.0,
        served=1,
        more={"groups": [{"kind": "one_of", "tickets": ["A", "F"]}]},
    ),
    Day(
        Feature.GROUPS,
        "there is room for two, and A does not go without F",
        [agent(capacity=2)],
        [ticket("A"), ticket("B"), ticket("F")],
        cost=60.0,
        loose=CORNER,
        served=2,
        more={"groups": [{"kind": "all", "tickets": ["A", "F"]}]},
    ),
    Day(
        Feature.BALANCE,
        "two shorter days instead of a long one",
        [agent(1), agent(2)],
        abc(),
        cost=54.142 + 5 * 34.142,
        loose=TOUR,
        more={"options": {"balance_cost_per_hour": 18_000}},
    ),
    Day(
        Feature.PROFILES,
        "the slow agent cannot make the tour",
        [agent(1, speed_factor=0.5, shift_end=45), agent(2, fixed_cost=5, shift_end=45)],
        abc(),
        cost=45.0,
        loose=TOUR,
    ),
]
