"""The features a compiled problem requires of an engine.

Owns the table from data to `Feature`. A feature is set exactly where it matters: where ignoring it would change which
plans are feasible, or what they cost.
"""

from planner_mcp.routing.problem import Feature, LoadKind, Problem
from planner_mcp.routing.scenario.scenario_model import Scenario


def features_of(scenario: Scenario, problem: Problem) -> frozenset[Feature]:
    """Return the features of a problem that was compiled from a scenario."""
    agents, tickets = problem.agents, problem.tickets
    kinds = {(a.capacity, a.fixed_cost, a.distance_cost, a.time_cost, a.overtime_cost) for a in agents}
    ends = {agent.start for agent in agents} | {agent.end for agent in agents}
    shifts = any(agent.shift_start is not None or agent.shift_end is not None for agent in scenario.agents)
    required = {
        Feature.MULTI_CAPACITY: len(problem.dimensions) > 1,
        Feature.TIME_WINDOWS: any(ticket.windows for ticket in tickets),
        Feature.MULTI_WINDOWS: any(len(ticket.windows) > 1 for ticket in tickets),
        Feature.SOFT_WINDOWS: any(ticket.lateness_cost for ticket in tickets),
        Feature.SETUP: any(ticket.setup for ticket in tickets),
        Feature.HETEROGENEOUS: len(kinds) > 1,
        Feature.TIME_COST: any(agent.time_cost for agent in agents),
        Feature.MULTI_DEPOT: len(ends - {None}) > 1,
        Feature.OPEN_ROUTES: None in ends,
        Feature.SHIFTS: shifts or problem.frozen_until > 0,
        Feature.BREAKS: any(agent.breaks for agent in agents),
        Feature.OVERTIME: any(agent.overtime for agent in agents),
        Feature.MAX_DISTANCE: any(agent.max_distance is not None for agent in agents),
        Feature.MAX_DURATION: any(agent.max_duration is not None for agent in agents),
        Feature.MAX_STOPS: any(agent.max_stops is not None for agent in agents),
        Feature.SKILLS: any(ticket.agents is not None for ticket in tickets),
        Feature.INCOMPATIBLE: any(len(set(names)) > 1 for names in scenario.incompatible),
        Feature.SHIPMENTS: bool(problem.partner_of),
        Feature.PICKUPS: any(
            ticket.load is LoadKind.PICKUP and index not in problem.partner_of for index, ticket in enumerate(tickets)
        ),
        Feature.BACKHAUL: problem.backhaul,
        Feature.RELOAD: any(agent.max_reloads for agent in agents),
        Feature.RELEASE: any(ticket.release for ticket in tickets),
        Feature.OPTIONAL: any(ticket.is_priced for ticket in tickets),
        Feature.LOCKS: any(agent.locked for agent in agents),
        Feature.PREFERENCES: any(ticket.switch_cost for ticket in tickets),
        Feature.GROUPS: bool(problem.groups),
        Feature.BALANCE: problem.span_cost > 0,
        Feature.MIN_LOAD: any(any(agent.min_load) for agent in agents),
        Feature.PROFILES: len({agent.profile for agent in agents}) > 1,
        Feature.RUSH_HOURS: bool(problem.travel_periods),
    }
    return frozenset(feature for feature, is_required in required.items() if is_required)
