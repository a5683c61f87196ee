"""Compiles a scenario into a problem in integers.

Owns the choice of scales, the defaults of absent fields, and when a problem has a `Feature`. It expects a scenario that
`scenario/checks/scenario_checks.py` accepted. Travel data come from `compilation/integer_matrices.py`, prices from
`compilation/integer_prices.py`.
"""

import math
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from planner_mcp.routing.compilation.frozen_prefix_compilation import bind_to_held_agents, freeze_prefix
from planner_mcp.routing.compilation.integer_matrices import IntegerMatrices, integer_matrices_of
from planner_mcp.routing.compilation.integer_prices import (
    IntegerPrices,
    exact,
    integer_prices_of,
    roundings,
    shortfalls,
)
from planner_mcp.routing.compilation.scenario_extent import extent_of, finest_scale
from planner_mcp.routing.problem import (
    AgentSpec,
    BreakSpec,
    Feature,
    GroupKind,
    GroupSpec,
    LoadKind,
    Problem,
    TicketSpec,
    TravelPeriod,
)
from planner_mcp.routing.scenario import scenario_model
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.amount_checks import total
from planner_mcp.routing.scenario.scenario_model import AREAS, Scenario, end_of, most_reloads, start_of
from planner_mcp.routing.scenario.time_windows import merged_windows

_AMOUNT_SCALES: Final = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
_MAX_LOADED: Final = 2**51
"""Limit of the sum of all demands and one capacity, in amount units, so that floats represent loads exactly."""
_OWNERS: Final = {"roads": "roads: © OpenStreetMap contributors"}
"""Sources of positions that must be named with whose they are."""
_FLOAT_TOLERANCE: Final = Fraction(1, 10**6)
"""In amount units: the error that adding floats may cause."""


def compile_scenario(scenario: Scenario) -> Problem:
    """Return the scenario as integers.

    Times and lengths are rounded to the nearest unit, windows inwards, so a plan in integers keeps every constraint in
    the caller's numbers; only a window without a whole unit becomes the nearest unit. An agent without a capacity
    dimension has capacity 0 in it. The frozen prefix is applied last (`compilation/frozen_prefix_compilation.py`).
    """
    scenario = bind_to_held_agents(scenario)
    names = _locations(scenario)
    factors = sorted({agent.speed_factor for agent in scenario.agents})
    travel = _matrices_of(scenario, names, factors)
    extent = extent_of(scenario, travel, names, factors)
    units = _Units(scenario, names, factors, travel.scale, extent.horizon)
    prices = integer_prices_of(scenario, travel.scale, extent)
    apart = {} if scenario.travel_matrices is None else scenario.travel_matrices.off_network
    off_network = _by_location(units, apart)
    open_addresses = _by_location(units, {name: each.status for name, each in scenario.open_places.items()})
    tickets = _tickets(scenario, units, prices, off_network.keys() | open_addresses.keys())
    agents = tuple(_agent(scenario, agent, units, prices) for agent in scenario.agents)
    groups = tuple(_group(group, tickets, units, prices) for group in scenario.groups)
    tickets = _without_group_penalties(tickets, groups, scenario)
    unfrozen = Problem(
        agents=agents,
        tickets=tickets,
        locations=names,
        distances=travel.distances,
        durations=travel.durations,
        dimensions=units.dimensions,
        scale=travel.scale,
        cost_scale=prices.cost_scale,
        amount_scale=units.amount_scale,
        incompatible=_pairs(scenario, units),
        groups=groups,
        backhaul=scenario.options.backhaul,
        span_cost=prices.per_hour(scenario.options.balance_cost_per_hour),
        travel_periods=_travel_periods(scenario, units),
        assumptions=(
            *travel.assumptions,
            *_resolved_positions(scenario),
            *_open_ends(agents),
            *roundings(scenario, prices),
            *shortfalls(prices),
            *_rounded_amounts(scenario, units.amount_scale),
        ),
        positions=travel.positions,
        provenance=travel.provenance,
        off_network=off_network,
        open_addresses=open_addresses,
    )
    wanted = [prices.wanted(ticket.priority) for ticket in scenario.tickets]
    problem = freeze_prefix(unfrozen, scenario.held, units.horizon, wanted)
    return replace(problem, features=_features(scenario, problem))


def _resolved_positions(scenario: Scenario) -> Iterator[str]:
    """Yield what is to be known of positions that came from addresses."""
    resolved = [place.resolved for place in scenario.locations if place.resolved is not None]
    if not resolved:
        return
    centres = Counter(
        (place.lat, place.lon) for place in scenario.locations if place.resolved and place.resolved.accuracy in AREAS
    )
    shared = sum(count for count in centres.values() if count > 1)
    sources = ", ".join(sorted({_OWNERS.get(each.source, each.source) for each in resolved}))
    radii = sorted(each.radius_m / 1000 for each in resolved)
    within = f"{radii[0]:.3g} km" if radii[0] == radii[-1] else f"{radii[0]:.3g} to {radii[-1]:.3g} km"
    yield f"Positions from addresses: {len(resolved)} ({sources}), true within {within}."
    if shared:
        yield f"Addresses known only as a centre they share, between which no travel is counted: {shared}."


def _matrices_of(scenario: Scenario, names: tuple[str, ...], factors: list[float]) -> IntegerMatrices:
    """Return the matrices, with fewer decimals than the caller's where legs are too long for engines."""
    travel = integer_matrices_of(scenario, names, factors)
    if (scale := finest_scale(scenario, travel, factors)) == travel.scale:
        return travel
    travel_fields = scenario.travel.model_copy(update={"decimals": len(str(scale)) - 1})
    travel = integer_matrices_of(scenario.model_copy(update={"travel": travel_fields}), names, factors)
    assumed = f"Lengths and times are rounded to {1 / scale:g}, because the longest legs are so long."
    return replace(travel, assumptions=(*travel.assumptions, assumed))


def _locations(scenario: Scenario) -> tuple[str, ...]:
    """Return the ids of the locations in use, ends of routes first."""
    ends = [place for agent in scenario.agents for place in (start_of(scenario, agent), end_of(scenario, agent))]
    reloads = [place for agent in scenario.agents for place in agent.reload_locations]
    used = [*ends, *reloads, *(ticket.location for ticket in scenario.tickets)]
    return tuple(dict.fromkeys(place for place in used if place is not None))


class _Units:
    """Indexes and scales of one compilation."""

    def __init__(
        self, scenario: Scenario, names: tuple[str, ...], factors: list[float], scale: int, horizon: int
    ) -> None:
        self.location = {name: index for index, name in enumerate(names)}
        self.agent = {agent.id: index for index, agent in enumerate(scenario.agents)}
        self.ticket = {ticket.id: index for index, ticket in enumerate(scenario.tickets)}
        self.profile = {factor: index for index, factor in enumerate(factors)}
        self.scale = scale
        amounts = list(_amounts(scenario))
        self.dimensions = tuple(dict.fromkeys(name for amount in amounts for name in amount))
        self.amount_scale = _amount_scale(amounts)
        self.horizon = horizon
        self._floor, self._ceil = lru_cache(1024)(_amount_floor), lru_cache(1024)(_amount_ceil)

    def time(self, seconds: float) -> int:
        """Return the nearest unit."""
        return round(seconds * self.scale)

    def opening(self, seconds: float) -> int:
        """Return the first unit at or after a time."""
        return math.ceil(seconds * self.scale - 1e-6)

    def closing(self, seconds: float) -> int:
        """Return the last unit at or before a time or length."""
        return math.floor(seconds * self.scale + 1e-6)

    def span(self, opens: float, closes: float) -> tuple[int, int]:
        """Return a window in whole units, rounded inwards; the nearest unit where none lies inside."""
        first, last = self.opening(opens), self.closing(closes)
        return (first, last) if first <= last else (self.time(opens), self.time(opens))

    def capacity_units(self, amount: dict[str, float]) -> tuple[int, ...]:
        """Return a capacity or a smallest load, rounded down."""
        return tuple(self._floor(amount.get(name, 0.0), self.amount_scale) for name in self.dimensions)

    def demand_units(self, amount: dict[str, float]) -> tuple[int, ...]:
        """Return a demand, rounded up."""
        return tuple(self._ceil(amount.get(name, 0.0), self.amount_scale) for name in self.dimensions)


def _amount_floor(value: float, scale: int) -> int:
    return math.floor(exact(value) * scale + _FLOAT_TOLERANCE)


def _amount_ceil(value: float, scale: int) -> int:
    return math.ceil(exact(value) * scale - _FLOAT_TOLERANCE)


def _amount_scale(amounts: Sequence[dict[str, float]]) -> int:
    """Return the smallest power of ten that makes every amount an integer, else the largest within `_MAX_LOADED`."""
    values = {value for amount in amounts for value in amount.values()}
    most = max(map(abs, values), default=0.0) + max(total(amounts).values(), default=0.0)
    roomy = [scale for scale in _AMOUNT_SCALES if most * scale <= _MAX_LOADED] or [1]
    return next((scale for scale in roomy if all(_is_whole(value, scale) for value in values)), roomy[-1])


def _is_whole(value: float, scale: int) -> bool:
    scaled = exact(value) * scale
    return abs(scaled - round(scaled)) <= _FLOAT_TOLERANCE


def _amounts(scenario: Scenario) -> Iterator[dict[str, float]]:
    for agent in scenario.agents:
        yield agent.capacity
        yield {name: least for name, least in (agent.min_load or {}).items() if least}
    yield from (ticket.demand for ticket in scenario.tickets)


def _rounded_amounts(scenario: Scenario, scale: int) -> Iterator[str]:
    """Yield a sentence where amounts are finer than the scale."""
    values = {value for amount in _amounts(scenario) for value in amount.values()}
    if not all(_is_whole(value, scale) for value in values):
        yield f"Amounts are rounded to {1 / scale:g}: demands up, capacities down."


def _agent(scenario: Scenario, agent: scenario_model.Agent, units: _Units, prices: IntegerPrices) -> AgentSpec:
    start, end = start_of(scenario, agent), end_of(scenario, agent)
    reloads = most_reloads(agent)
    distance = agent.longest_m
    has_end = agent.shift_end is not None
    return AgentSpec(
        id=agent.id,
        capacity=units.capacity_units(agent.capacity),
        start=None if start is None else units.location[start],
        end=None if end is None else units.location[end],
        shift=_shift(agent, units),
        fixed_cost=prices.amount(agent.fixed_cost),
        distance_cost=prices.per_km(agent.cost_per_km),
        time_cost=prices.per_hour(agent.cost_per_hour or 0.0),
        max_distance=None if distance is None else units.closing(distance),
        max_duration=None if agent.max_duration_s is None else units.closing(agent.max_duration_s),
        max_stops=agent.max_tickets,
        min_load=() if agent.min_load is None else units.capacity_units(agent.min_load),
        overtime=units.closing(agent.overtime_s) if has_end else 0,
        overtime_cost=prices.per_hour(agent.overtime_cost_per_hour) if has_end and agent.overtime_s else 0,
        breaks=tuple(
            BreakSpec(units.span(break_spec.earliest, break_spec.latest), units.time(break_spec.duration_s))
            for break_spec in agent.breaks
            if break_spec.latest >= (agent.shift_start or 0.0)  # one that is over before the shift is not taken in it
        ),
        reload_at=tuple(dict.fromkeys(units.location[place] for place in agent.reload_locations)) if reloads else (),
        max_reloads=reloads,
        profile=units.profile[agent.speed_factor],
        locked=tuple(units.ticket[ticket] for ticket in agent.locked_tickets),
    )


def _shift(agent: scenario_model.Agent, units: _Units) -> tuple[int, int]:
    opens = agent.shift_start or 0.0
    return (units.opening(opens), units.horizon) if agent.shift_end is None else units.span(opens, agent.shift_end)


def _by_location(units: _Units, words: Mapping[str, str]) -> dict[int, str]:
    return {units.location[name]: why for name, why in words.items() if name in units.location}


def _tickets(
    scenario: Scenario, units: _Units, prices: IntegerPrices, unreachable: Container[int]
) -> tuple[TicketSpec, ...]:
    eligibility = Eligibility(scenario)
    pickups = {ticket.pickup for ticket in scenario.tickets if ticket.pickup is not None}
    promised = frozenset(scenario.held.promised) if scenario.held else frozenset[str]()
    return tuple(
        _ticket(
            ticket,
            units,
            prices,
            frozenset() if units.location[ticket.location] in unreachable else eligibility.restriction(ticket),
            is_picked_up=ticket.id in pickups,
            is_promised=ticket.id in promised,
        )
        for ticket in scenario.tickets
    )


def _ticket(
    ticket: scenario_model.Ticket,
    units: _Units,
    prices: IntegerPrices,
    agents: frozenset[int] | None,
    *,
    is_picked_up: bool,
    is_promised: bool,
) -> TicketSpec:
    is_priced = ticket.penalty is not None
    preferred = None if ticket.preferred_agent is None else units.agent[ticket.preferred_agent]
    load = (
        LoadKind.PICKUP if is_picked_up else LoadKind.DELIVERY if ticket.pickup is not None else LoadKind(ticket.kind)
    )
    return TicketSpec(
        id=ticket.id,
        location=units.location[ticket.location],
        demand=units.demand_units(ticket.demand),
        load=load,
        windows=tuple(merged_windows(units.span(*window) for window in ticket.time_windows)),
        soft_close=None if ticket.soft_close is None else units.closing(ticket.soft_close),
        lateness_cost=0 if ticket.soft_close is None else prices.per_hour(ticket.lateness_cost_per_hour),
        service=units.time(ticket.service_time_s),
        setup=units.time(ticket.setup_time_s),
        release=units.opening(ticket.release_time or 0.0),
        penalty=prices.amount(ticket.penalty or 0.0)
        if is_priced
        else prices.wanted(ticket.priority, is_promised=is_promised),
        is_priced=is_priced,
        agents=agents,
        preferred=preferred,
        switch_cost=0 if preferred is None else prices.amount(ticket.switch_cost),
        pickup=None if ticket.pickup is None else units.ticket[ticket.pickup],
    )


def _group(
    group: scenario_model.Group, tickets: tuple[TicketSpec, ...], units: _Units, prices: IntegerPrices
) -> GroupSpec:
    members = tuple(units.ticket[ticket] for ticket in group.tickets)
    kind = GroupKind(group.kind)
    if kind is GroupKind.ALL:
        return GroupSpec(kind, members)
    penalty = max(tickets[m].penalty for m in members) if group.penalty is None else prices.amount(group.penalty)
    return GroupSpec(kind, members, penalty)


def _without_group_penalties(
    tickets: tuple[TicketSpec, ...], groups: tuple[GroupSpec, ...], scenario: Scenario
) -> tuple[TicketSpec, ...]:
    """Return the tickets with penalty 0 where their ONE_OF group has the penalty; priced where the group is."""
    changed = list(tickets)
    for group, source in zip(groups, scenario.groups, strict=True):
        if group.kind is GroupKind.ONE_OF:
            is_priced = source.penalty is not None or all(tickets[m].is_priced for m in group.tickets)
            for member in group.tickets:
                changed[member] = replace(changed[member], penalty=0, is_priced=is_priced)
    return tuple(changed)


def _travel_periods(scenario: Scenario, units: _Units) -> tuple[TravelPeriod, ...]:
    """Return the periods whose factor is not 1, in order."""
    travel_periods = (
        TravelPeriod(units.time(period.start), units.time(period.end), round(period.factor * 1000))
        for period in scenario.travel.rush_hours
    )
    return tuple(
        sorted((r for r in travel_periods if r.factor != 1000 and r.start < r.end), key=lambda period: period.start)
    )


def _pairs(scenario: Scenario, units: _Units) -> frozenset[tuple[int, int]]:
    pairs: set[tuple[int, int]] = set()
    for names in scenario.incompatible:
        members = sorted({units.ticket[name] for name in names})
        pairs.update((low, high) for i, low in enumerate(members) for high in members[i + 1 :])
    return frozenset(pairs)


def _open_ends(agents: Sequence[AgentSpec]) -> Iterator[str]:
    if any(agent.start is None for agent in agents):
        yield "Agents without start_location begin at their first ticket."
    if any(agent.end is None for agent in agents):
        yield "Agents without end_location stop at their last ticket."


def _features(scenario: Scenario, problem: Problem) -> frozenset[Feature]:
    """Return what a problem requires of an engine: where ignoring it would change which plans are feasible, or cost."""
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
