"""Every reason why a ticket, a route or a set of tickets cannot be served, and the text of each.

Owns the codes and nothing else. Whoever finds an infeasibility names it with one of them: the checks of a scenario
(`reason` of an error), plans (`code` of an unassigned ticket), insertion candidates (`in_the_way`), fixes (`kinds`) and
infeasible subsets (`conflict.kind`). The module stands beside `plan` and `problem`, because the scenario checks below
`feasibility` name reasons too.
"""

from enum import StrEnum
from typing import Final


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


REASON_TEXTS: Final[dict[InfeasibilityReason, str]] = {
    InfeasibilityReason.TIME_WINDOW: "A ticket would be reached after a time window has closed: "
    "its last, or one before too long a wait.",
    InfeasibilityReason.SHIFT_END: "The route would end after the agent's shift and overtime.",
    InfeasibilityReason.CAPACITY: "The route would carry more than the agent's capacity.",
    InfeasibilityReason.MAX_DURATION: "The route would take longer than the agent's max_duration_s.",
    InfeasibilityReason.MAX_DISTANCE: "The route would be longer than the agent's max_distance_km or max_distance_m.",
    InfeasibilityReason.MAX_TICKETS: "The route would serve more than the agent's max_tickets.",
    InfeasibilityReason.MIN_LOAD: "The route would serve less than the agent's min_load.",
    InfeasibilityReason.SKILL_OR_AGENT: "The agent lacks a skill, or the ticket's agents or not_agents keep it away.",
    InfeasibilityReason.NO_ROAD: "Its location is too far from any road of the map, or no road joins it to the others.",
    InfeasibilityReason.NO_POSITION: "The address of its location gave no position.",
    InfeasibilityReason.INCOMPATIBLE: "Two tickets may not share a route, or no agent has time for both.",
    InfeasibilityReason.ORDER: "Locks, shipments, backhaul or breaks do not allow the order of stops.",
    InfeasibilityReason.ROUTE_OVER: "At keep_until the agent is on its way to the end of its route, or is there.",
    InfeasibilityReason.KEPT_ELSEWHERE: "What is held of an earlier plan keeps the ticket with another agent.",
    InfeasibilityReason.SHIPMENT_HALF_UNSERVED: "The other half of its shipment cannot be served.",
    InfeasibilityReason.GROUP_INCOMPLETE: "Another ticket of its all-or-none group cannot be served, or gave way "
    "to an alternative.",
    InfeasibilityReason.GROUP_OTHER_CHOSEN: "Another ticket of its group is served.",
    InfeasibilityReason.WORKING_TIME: "The tickets take longer than the shifts and max_duration_s of all agents leave.",
    InfeasibilityReason.COMBINED: "Several limits together leave no way to share the tickets among the agents.",
    InfeasibilityReason.ALL_CAPACITY_USED: "In this plan the agents that may serve it have no capacity left, or serve "
    "all their max_tickets.",
    InfeasibilityReason.PENALTY_LOWER_THAN_COST: "It has a price, and the search found no plan in which serving it is "
    "worth more.",
    InfeasibilityReason.NO_ROOM_FOUND: "The search found no route with room for it; more time or agents may help.",
}
"""The meaning of each."""
