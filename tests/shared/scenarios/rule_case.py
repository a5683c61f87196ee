"""What a small day is made of on which one rule of the model decides.

Every day has its tickets on the corners of a square: D (0, 0) is the depot, A (10, 0), B (10, 10), C (0, 10), and F
(30, 0) and X (50, 0) lie beyond A. Speed is 1, so times are lengths. The tour of A, B, C costs 40.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from planner_mcp.routing.problem import Feature, Problem
from planner_mcp.routing.scenario.scenario_patch import revise
from planner_mcp.text import Json
from tests.shared.scenarios.scenario_builders import body, compiled, plane

PLACES = {"D": (0, 0), "A": (10, 0), "B": (10, 10), "C": (0, 10), "F": (30, 0), "X": (50, 0)}
TOUR, SPLIT, DETOUR, CORNER, DIAGONAL = 40.0, 54.142, 48.284, 34.142, 28.284
"""All three; two and one; all three with B first; A and C (or A and B) on one route; B alone."""


@dataclass(frozen=True, kw_only=True)
class RuleCase:
    """A scenario in which one rule decides, and the prices of the best plans with it and without it."""

    feature: Feature | None
    """What an engine must claim; None for a rule that every engine keeps."""
    name: str
    agents: list[Json]
    tickets: list[Json]
    cost: float
    """Of the best plan; penalties of wanted tickets left out."""
    loose: float
    """Of the best plan if the rule were ignored."""
    ignoring: Json
    """The patch that ignores the rule."""
    refused: str
    """What the proof says of the plan of those who ignore it."""
    left: tuple[str, ...] = ()
    """Tickets that the best plan leaves out."""
    is_freedom: bool = False
    """Whether the rule allows what would be forbidden without it: then ignoring it costs more, and the best plan is
    refused by those who ignore it."""
    more: Json = field(default_factory=dict)

    @property
    def body(self) -> Json:
        """The scenario as a caller writes it."""
        fields = {"name": self.name, "locations": plane(PLACES), "travel": {}, **self.more}
        return body(self.agents, self.tickets, **fields)

    @cached_property
    def problem(self) -> Problem:
        """The day, compiled."""
        return compiled(self.body)

    @property
    def ignored(self) -> Problem:
        """The day of somebody who does not know the rule, compiled."""
        return compiled(revise(self.body, self.ignoring))

    @property
    def served(self) -> int:
        """Tickets of the best plan."""
        return len(self.tickets) - len(self.left)

    def goal(self, problem: Problem) -> int:
        """Return the price of the best plan in cost units, the penalties of wanted tickets left out included."""
        missed = sum(t.penalty for t in problem.tickets if t.id in self.left and not t.is_priced)
        return round(self.cost * problem.cost_scale) + missed

    def __str__(self) -> str:
        return self.name if self.feature is None else f"{self.feature.value}: {self.name}"


def agent(number: int = 1, **changes: Any) -> Json:
    """Return an agent who can serve three tickets and pays for metres alone."""
    return {"id": f"agent-{number}", "capacity": 3, "cost_per_km": 1000, **changes}


def ticket(place: str, **changes: Any) -> Json:
    """Return a ticket at a place, named after it."""
    return {"id": place, "location": place, "demand": 1, **changes}


def abc(**changes: Json) -> list[Json]:
    """Return the tickets A, B and C with changes by name."""
    return [ticket(place, **changes.get(place, {})) for place in "ABC"]


def of_agents(*numbers: int, **changes: Any) -> Json:
    """Return the patch that changes agents; None takes a field away."""
    return {"agents": {f"agent-{number}": changes for number in numbers}}


def of_tickets(*ids: str, **changes: Any) -> Json:
    """Return the patch that changes tickets; None takes a field away."""
    return {"tickets": dict.fromkeys(ids, changes)}
