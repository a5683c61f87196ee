"""Every reason why a ticket, a route or a set of tickets cannot be served, with all that is said of each.

Owns the codes and their words: what each means, what is wrong with a ticket that nobody can serve for this reason and
what to do about it, what a fix changes. Whoever finds an infeasibility names it with one of them: the checks of a
scenario (`reason` of an error), plans (`code` of an unassigned ticket), insertion candidates (`in_the_way`), fixes
(`kinds`) and infeasible subsets (`conflict.kind`). The module stands beside `plan` and `problem`, because the scenario
checks below `feasibility` name reasons too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Final, NamedTuple


class InfeasibilityReason(StrEnum):
    """Why something cannot be served."""

    TIME_WINDOW = "TIME_WINDOW"
    SHIFT_END = "SHIFT_END"
    CAPACITY = "CAPACITY"
    MAX_DURATION = "MAX_DURATION"
    MAX_DISTANCE = "MAX_DISTANCE"
    MAX_TICKETS = "MAX_TICKETS"
    MIN_LOAD = "MIN_LOAD"
    SKILL_OR_AGENT = "SKILL_OR_AGENT"
    NO_ROAD = "NO_ROAD"
    NO_POSITION = "NO_POSITION"
    INCOMPATIBLE = "INCOMPATIBLE"
    ORDER = "ORDER"
    ROUTE_OVER = "ROUTE_OVER"
    KEPT_ELSEWHERE = "KEPT_ELSEWHERE"
    SHIPMENT_HALF_UNSERVED = "SHIPMENT_HALF_UNSERVED"
    GROUP_INCOMPLETE = "GROUP_INCOMPLETE"
    GROUP_OTHER_CHOSEN = "GROUP_OTHER_CHOSEN"
    WORKING_TIME = "WORKING_TIME"
    COMBINED = "COMBINED"
    ALL_CAPACITY_USED = "ALL_CAPACITY_USED"
    PENALTY_LOWER_THAN_COST = "PENALTY_LOWER_THAN_COST"
    NO_ROOM_FOUND = "NO_ROOM_FOUND"


class LimitUnit(Enum):
    """What a limit of an agent counts."""

    CLOCK_TIME = auto()
    DURATION = auto()
    DISTANCE = auto()
    TICKETS = auto()
    AMOUNT = auto()
    """An amount of one dimension."""


@dataclass(frozen=True, slots=True)
class AgentLimit:
    """A number of an agent that a fix may change.

    Args:
        unit: What it counts.
        missing: What a route is over or short by, in words: minutes, metres, tickets, or a dimension and an amount.
        changes: The words of the change by the field that has the number; of several fields the caller wrote one, or
            means the last.
    """

    unit: LimitUnit
    missing: str
    changes: Mapping[str, str]


class FaultText(NamedTuple):
    """What is wrong with a ticket: at which field of it, "" for none, in words, and what to do about it."""

    field: str
    problem: str
    hint: str


_NO_FAULT: Final = FaultText("", "", "")


@dataclass(frozen=True, slots=True)
class ReasonWords:
    """What is said of one reason.

    Args:
        meaning: What it says of a ticket or a route.
        fix: What a fix that removes it changes; "" where none does.
        limit: The number that such a fix changes, where it is one of an agent.
        ticket: The fault of a ticket that no agent can serve.
        shipment: The fault of the delivery of a shipment that no agent can make.
        locked: The fault of locked visits that take too much together.
        shown_fields: What of a ticket says why, where its fault names no field or its location alone.
    """

    meaning: str
    fix: str = ""
    limit: AgentLimit | None = None
    ticket: FaultText = _NO_FAULT
    shipment: FaultText = _NO_FAULT
    locked: str = ""
    shown_fields: tuple[str, ...] = ()


INCOMPLETE: Final = "Another ticket of its all-or-none group cannot be served."
"""The detail of `GROUP_INCOMPLETE` where no plan could complete the group."""
GAVE_WAY: Final = (
    "A ticket that is served only together with it gave way to an alternative, which is served; a new solve may choose "
    "otherwise."
)
"""Its detail where nothing but the choice of this plan keeps the group incomplete."""
NO_ROAD_FIX: Final = "Check its position, or move it to a street that vehicles drive on; the map may not cover it."
"""What to do about a place off the road network."""
NO_POSITION_FIX: Final = "Ask the user for lat and lon of its location, or for a fuller address."
"""What to do about an address without a position."""

REASONS: Final[Mapping[InfeasibilityReason, ReasonWords]] = {
    InfeasibilityReason.TIME_WINDOW: ReasonWords(
        "A ticket would be reached after a time window has closed: its last, or one before too long a wait.",
        fix="Close a time window later.",
        ticket=FaultText(
            "/location",
            "No agent can drive there in time, even directly.",
            "Widen the window or start a shift earlier.",
        ),
        shipment=FaultText(
            "",
            "No agent can pick it up first and be there in its window.",
            "Widen this window or open the pickup earlier.",
        ),
        shown_fields=("location", "time_windows"),
    ),
    InfeasibilityReason.SHIFT_END: ReasonWords(
        "The route would end after the agent's shift and overtime.",
        fix="End a shift later.",
        limit=AgentLimit(LimitUnit.CLOCK_TIME, "{} min over", {"shift_end": "extend the shift of {} to {}"}),
        ticket=FaultText(
            "/location", "No agent can drive there and back within its shift.", "Extend a shift or start nearer."
        ),
        shipment=FaultText(
            "", "No agent can pick it up and deliver it within its shift.", "Extend a shift or start nearer."
        ),
        locked="The locked visits take longer than the shift.",
        shown_fields=("location", "time_windows"),
    ),
    InfeasibilityReason.CAPACITY: ReasonWords(
        "The route would carry more than the agent's capacity.",
        fix="Raise an agent's capacity in one dimension.",
        limit=AgentLimit(LimitUnit.AMOUNT, "{} short by {}", {"capacity": "raise the capacity ({}) of {} to {}"}),
        ticket=FaultText(
            "/demand",
            "The demand is above the capacity of every agent that may serve the ticket.",
            "Split the ticket, or raise a capacity.",
        ),
        shipment=FaultText(
            "/demand",
            "No agent that may serve both halves of the shipment has the capacity for it.",
            "Split the shipment, or raise a capacity.",
        ),
    ),
    InfeasibilityReason.MAX_DURATION: ReasonWords(
        "The route would take longer than the agent's max_duration_s.",
        fix="Raise an agent's max_duration_s.",
        limit=AgentLimit(LimitUnit.DURATION, "{} min over", {"max_duration_s": "raise max_duration_s of {} to {}"}),
        ticket=FaultText(
            "/location", "A direct trip is longer than max_duration_s of every agent.", "Raise max_duration_s."
        ),
        shipment=FaultText(
            "", "A trip over its pickup is longer than max_duration_s of every agent.", "Raise max_duration_s."
        ),
        locked="The locked visits take longer than max_duration_s.",
    ),
    InfeasibilityReason.MAX_DISTANCE: ReasonWords(
        "The route would be longer than the agent's max_distance_km or max_distance_m.",
        fix="Raise an agent's limit of distance.",
        limit=AgentLimit(
            LimitUnit.DISTANCE,
            "{} m over",
            {
                "max_distance_km": "raise max_distance_km of {} to {}",
                "max_distance_m": "raise max_distance_m of {} to {}",
            },
        ),
        ticket=FaultText(
            "/location",
            "A direct trip is farther than the distance limit of every agent.",
            "Raise the distance limit.",
        ),
        shipment=FaultText(
            "", "A trip over its pickup is farther than the distance limit of every agent.", "Raise the distance limit."
        ),
        locked="The locked visits are farther than the distance limit.",
    ),
    InfeasibilityReason.MAX_TICKETS: ReasonWords(
        "The route would serve more than the agent's max_tickets.",
        fix="Raise an agent's max_tickets.",
        limit=AgentLimit(LimitUnit.TICKETS, "over by {}", {"max_tickets": "raise max_tickets of {} to {}"}),
        ticket=FaultText(
            "",
            "Every agent that could serve the ticket has too small a max_tickets.",
            "Raise max_tickets of an agent; a shipment counts as two.",
        ),
    ),
    InfeasibilityReason.MIN_LOAD: ReasonWords(
        "The route would serve less than the agent's min_load.",
        fix="Lower an agent's min_load in one dimension.",
        limit=AgentLimit(LimitUnit.AMOUNT, "{} short by {}", {"min_load": "lower min_load ({}) of {} to {}"}),
        ticket=FaultText(
            "",
            "All that an agent may serve is less than its min_load, for every agent that could serve the ticket.",
            "Lower min_load of an agent.",
        ),
    ),
    InfeasibilityReason.SKILL_OR_AGENT: ReasonWords(
        "The agent lacks a skill, or the ticket's agents or not_agents keep it away.",
        fix="Give an agent the skill it lacks, or let the ticket name it.",
        ticket=FaultText("", "No agent may serve the ticket.", "Relax skills, agents or not_agents."),
        shipment=FaultText("", "No agent may serve both the delivery and its pickup.", "Relax one of the two."),
        shown_fields=("skills", "agents", "not_agents"),
    ),
    InfeasibilityReason.NO_ROAD: ReasonWords(
        "Its location is too far from any road of the map, or no road joins it to the others.",
        ticket=FaultText("/location", "No road of the map leads to its location.", NO_ROAD_FIX),
    ),
    InfeasibilityReason.NO_POSITION: ReasonWords("The address of its location gave no position."),
    InfeasibilityReason.INCOMPATIBLE: ReasonWords("Two tickets may not share a route, or no agent has time for both."),
    InfeasibilityReason.ORDER: ReasonWords("Locks, shipments, backhaul or breaks do not allow the order of stops."),
    InfeasibilityReason.ROUTE_OVER: ReasonWords(
        "At keep_until the agent is on its way to the end of its route, or is there."
    ),
    InfeasibilityReason.KEPT_ELSEWHERE: ReasonWords(
        "What is held of an earlier plan keeps the ticket with another agent."
    ),
    InfeasibilityReason.SHIPMENT_HALF_UNSERVED: ReasonWords("The other half of its shipment cannot be served."),
    InfeasibilityReason.GROUP_INCOMPLETE: ReasonWords(
        "Another ticket of its all-or-none group cannot be served, or gave way to an alternative."
    ),
    InfeasibilityReason.GROUP_OTHER_CHOSEN: ReasonWords("Another ticket of its group is served."),
    InfeasibilityReason.WORKING_TIME: ReasonWords(
        "The tickets take longer than the shifts and max_duration_s of all agents leave."
    ),
    InfeasibilityReason.COMBINED: ReasonWords(
        "Several limits together leave no way to share the tickets among the agents."
    ),
    InfeasibilityReason.ALL_CAPACITY_USED: ReasonWords(
        "In this plan the agents that may serve it have no capacity left, or serve as many tickets as they may."
    ),
    InfeasibilityReason.PENALTY_LOWER_THAN_COST: ReasonWords(
        "It has a price, and the search found no plan in which serving it is worth more."
    ),
    InfeasibilityReason.NO_ROOM_FOUND: ReasonWords(
        "The search found no route with room for it; more time or agents may help."
    ),
}
"""The words of each."""
REASON_TEXTS: Final[Mapping[InfeasibilityReason, str]] = {code: words.meaning for code, words in REASONS.items()}
"""The meaning of each."""
