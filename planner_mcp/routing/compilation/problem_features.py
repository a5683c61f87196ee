"""The features a compiled problem requires of an engine.

Owns the table from data to `Feature`. A feature is set exactly where it matters: where ignoring it would change which
plans are feasible, or what they cost.
"""

from planner_mcp.routing.problem import AgentSpec, Feature, LoadKind, TicketSpec, TravelPeriod
from planner_mcp.routing.scenario.scenario_model import Scenario


def features_of(
    scenario: Scenario,
    agents: tuple[AgentSpec, ...],
    tickets: tuple[TicketSpec, ...],
    travel_periods: tuple[TravelPeriod, ...],
    span_cost: int,
) -> frozenset[Feature]:
    """Return the features of a problem."""
    shifts = any(agent.shift_start is not None or agent.shift_end is not None for agent in scenario.agents)
    shifts |= scenario.held is not None and scenario.held.until_s > 0
    required = (
        _of_agents(agents)
        | _of_tickets(tickets)
        | {
            Feature.SHIFTS: shifts,
            Feature.INCOMPATIBLE: any(len(set(names)) > 1 for names in scenario.incompatible),
            Feature.GROUPS: bool(scenario.groups),
            Feature.BACKHAUL: scenario.options.backhaul,
            Feature.RUSH_HOURS: bool(travel_periods),
            Feature.BALANCE: span_cost > 0,
        }
    )
    return frozenset(feature for feature, is_required in required.items() if is_required)


def _of_agents(agents: tuple[AgentSpec, ...]) -> dict[Feature, bool]:
    kinds = {(a.capacity, a.fixed_cost, a.distance_cost, a.time_cost, a.overtime_cost) for a in agents}
    ends = {agent.start for agent in agents} | {agent.end for agent in agents}
    return {
        Feature.MULTI_CAPACITY: len(agents[0].capacity) > 1,
        Feature.HETEROGENEOUS: len(kinds) > 1,
        Feature.TIME_COST: any(agent.time_cost for agent in agents),
        Feature.MULTI_DEPOT: len(ends - {None}) > 1,
        Feature.OPEN_ROUTES: None in ends,
        Feature.BREAKS: any(agent.breaks for agent in agents),
        Feature.OVERTIME: any(agent.overtime for agent in agents),
        Feature.MAX_DISTANCE: any(agent.max_distance is not None for agent in agents),
        Feature.MAX_DURATION: any(agent.max_duration is not None for agent in agents),
        Feature.MAX_STOPS: any(agent.max_stops is not None for agent in agents),
        Feature.MIN_LOAD: any(any(agent.min_load) for agent in agents),
        Feature.RELOAD: any(agent.max_reloads for agent in agents),
        Feature.LOCKS: any(agent.locked for agent in agents),
        Feature.PROFILES: len({agent.profile for agent in agents}) > 1,
    }


def _of_tickets(tickets: tuple[TicketSpec, ...]) -> dict[Feature, bool]:
    shipment_pickups = {ticket.pickup for ticket in tickets if ticket.pickup is not None}
    return {
        Feature.TIME_WINDOWS: any(ticket.windows for ticket in tickets),
        Feature.MULTI_WINDOWS: any(len(ticket.windows) > 1 for ticket in tickets),
        Feature.SOFT_WINDOWS: any(ticket.lateness_cost for ticket in tickets),
        Feature.SETUP: any(ticket.setup for ticket in tickets),
        Feature.SKILLS: any(ticket.agents is not None for ticket in tickets),
        Feature.PREFERENCES: any(ticket.switch_cost for ticket in tickets),
        Feature.SHIPMENTS: bool(shipment_pickups),
        Feature.PICKUPS: any(
            t.load is LoadKind.PICKUP and index not in shipment_pickups for index, t in enumerate(tickets)
        ),
        Feature.RELEASE: any(ticket.release for ticket in tickets),
        Feature.OPTIONAL: any(ticket.is_priced for ticket in tickets),
    }
