"""Upper bounds of the length and duration of any plan of a scenario.

Owns the bounds from which scales are chosen, and the end of shifts that have none. They hold for every feasible route.
Legs that exceed any shift or limit are ignored: matrices often have a large number where there is no connection.
"""

import math
from dataclasses import dataclass
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.arrays import Integers
from planner_mcp.routing.compilation.integer_matrices import IntegerMatrices
from planner_mcp.routing.problem import Matrix
from planner_mcp.routing.scenario.field_types import MAX_TIME_S
from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, end_of, most_reloads, start_of
from planner_mcp.text import DAY_S

_CHUNK_ROWS: Final = 64
"""Rows of a matrix processed at once."""
_ENDLESS: Final = math.inf
LONGEST_LEG: Final = 2**31 - 1
"""Largest leg in units that every engine represents: the native engine stores legs in 32 bits."""
_MAX_UNITS: Final = 2**62

Longest = tuple[Integers, Integers]
"""(n,) the longest leg out of each place, and (n,) the longest leg into it."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Bounds of one scenario."""

    distance: int
    """Upper bound of the total distance of all routes, in units."""
    horizon: int
    """A time, in units, by which every route ends that waits only for windows, breaks and releases."""


def finest_scale(scenario: Scenario, travel: IntegerMatrices, factors: list[float]) -> int:
    """Return the largest scale, that of the matrices or a power of ten below, at which no relevant leg is too long.

    Relevant are legs that can be driven, and limits that longer legs must be seen to violate. In explicit matrices,
    legs of more than `MAX_TIME_S` count as no connection.

    Args:
        scenario: A checked scenario.
        travel: Its matrices.
        factors: Speed factors in the order of the profiles.
    """
    travel_matrices = (*travel.distances, *travel.durations)
    if all(table.dtype == np.int32 or int(table.max(initial=0)) <= LONGEST_LEG for table in travel_matrices):
        return travel.scale
    profiles = zip(factors, travel.distances, travel.durations, strict=True)
    longest, scale = max(_longest_relevant_leg(scenario, travel.scale, *profile) for profile in profiles), travel.scale
    while scale > 1 and longest > LONGEST_LEG:
        longest, scale = longest // 10 + 1, scale // 10
    return scale


def _longest_relevant_leg(scenario: Scenario, scale: int, factor: float, metres: Matrix, seconds: Matrix) -> int:
    """Return the longest relevant leg or limit of agents with this speed factor, in units."""
    max_distance, max_time = _limits(scenario, scale, factor)
    undrivable = MAX_TIME_S * scale
    is_drivable = seconds <= min(max_time, _ENDLESS if scenario.travel_matrices is None else undrivable)
    length = min(int(metres[is_drivable].max(initial=0)), max_distance)
    time = int((seconds[is_drivable] if max_time == _ENDLESS else seconds).max(initial=0))
    return math.ceil(max(length, min(time, max_time, undrivable)))


def extent_of(scenario: Scenario, travel: IntegerMatrices, names: tuple[str, ...], factors: list[float]) -> Extent:
    """Return the bounds of a scenario.

    Legs of more than `MAX_TIME_S` count as no connection where every ticket can be served without them. A shift without
    an end then has no time for them either.

    Args:
        scenario: A checked scenario.
        travel: Its matrices.
        names: Locations in the order of the matrices.
        factors: Speed factors in the order of the profiles.
    """
    place = {name: index for index, name in enumerate(names)}
    longest = _longest_legs(scenario, travel, factors, _ENDLESS)
    if int(longest[1][0].max(initial=0)) > MAX_TIME_S * travel.scale:
        usual = _longest_legs(scenario, travel, factors, MAX_TIME_S * travel.scale)
        visited = np.array(sorted({place[ticket.location] for ticket in scenario.tickets}), dtype=np.intp)
        cut_off = ((few[visited] == 0) & (all_[visited] > 0) for few, all_ in zip(usual[1], longest[1], strict=True))
        if not any(bool(lost.any()) for lost in cut_off):
            longest = usual
    lengths, times = longest
    used = min(len(scenario.agents), len(scenario.tickets))
    slowest = max([1.0, *(period.factor for period in scenario.travel.rush_hours)])
    driving = math.ceil(_longest_travel(scenario, place, times, 1) * slowest)
    horizon = _latest_time_without_travel(scenario, travel.scale) + driving
    return Extent(_longest_travel(scenario, place, lengths, used), horizon)


def _latest_time_without_travel(scenario: Scenario, scale: int) -> int:
    """Return a time by which every route would end if travel took no time, in units."""
    times = [2.0 * DAY_S]
    for ticket in scenario.tickets:
        times += [close for _, close in ticket.time_windows] + [ticket.release_time or 0.0, ticket.soft_close or 0.0]
    for agent in scenario.agents:
        times += [agent.shift_start or 0.0, (agent.shift_end or 0.0) + agent.overtime_s]
        times += [break_spec.latest for break_spec in agent.breaks]
    times += _frozen_times(scenario)
    work = sum(ticket.service_time_s + ticket.setup_time_s for ticket in scenario.tickets)
    breaks = max(sum(break_spec.duration_s for break_spec in agent.breaks) for agent in scenario.agents)
    return math.ceil((max(times) + work + breaks) * scale)


def _frozen_times(scenario: Scenario) -> list[float]:
    """Return the latest times of the frozen prefix, in seconds."""
    if (held := scenario.held) is None:
        return []
    times_by_route = (
        [route.arrival_s, route.end_s or 0.0, *(v.departure_s for v in route.visits)] for route in held.routes
    )
    return [held.until_s, *(max(times) for times in times_by_route)]


def _longest_travel(scenario: Scenario, place: dict[str, int], longest: Longest, routes: int) -> int:
    """Return an upper bound of the total travel of so many routes that serve every ticket.

    Every ticket, start and reload is left once, by its longest leg out at most. Likewise every ticket, end and reload
    is entered once. Both bounds hold, so the smaller one is returned.
    """
    trips = routes * (1 + max(map(most_reloads, scenario.agents)))
    visited = np.array([place[ticket.location] for ticket in scenario.tickets], dtype=np.intp)
    reloads = {name for agent in scenario.agents for name in agent.reload_locations}
    longest_legs = []
    for legs, ends in zip(longest, (start_of, end_of), strict=True):
        named = {ends(scenario, agent) for agent in scenario.agents} | reloads
        longest_ends = [int(legs[place[name]]) for name in named if name is not None]
        longest_legs.append(int(legs[visited].sum()) + trips * max(longest_ends, default=0))
    return min(longest_legs)


def _longest_legs(
    scenario: Scenario, travel: IntegerMatrices, factors: list[float], most: float
) -> tuple[Longest, Longest]:
    """Return the longest distances and times of legs that some agent can drive; legs longer than `most` are ignored."""
    size = len(travel.distances[0])
    lengths, times = ((np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)) for _ in range(2))
    for factor, metres, seconds in zip(factors, travel.distances, travel.durations, strict=True):
        max_distance, max_time = _limits(scenario, travel.scale, factor)
        _widen((lengths, times), (metres, seconds), (max_distance, min(most, max_time)))
    return lengths, times


def _limits(scenario: Scenario, scale: int, factor: float) -> tuple[float, float]:
    """Return the longest distance and time of one leg that an agent with this speed factor could drive, in units."""
    if scenario.held is not None and scenario.held.until_s:
        return _ENDLESS, _ENDLESS  # limits below the executed part are raised to it
    agents = [agent for agent in scenario.agents if agent.speed_factor == factor]
    quickest = min([1.0, *(period.factor for period in scenario.travel.rush_hours)])
    max_distance = max(_ENDLESS if agent.longest_m is None else agent.longest_m for agent in agents)
    max_time = max(longest_s(agent) for agent in agents)
    return max_distance * scale + 1, max_time * scale / quickest + 1


def longest_s(agent: Agent) -> float:
    """Return an upper bound of the duration of a route of the agent, in seconds."""
    shift = _ENDLESS if agent.shift_end is None else agent.shift_end + agent.overtime_s - (agent.shift_start or 0.0)
    return max(0.0, min(shift, _ENDLESS if agent.max_duration_s is None else agent.max_duration_s))


def _widen(
    longest_legs: tuple[Longest, Longest], travel_matrices: tuple[Matrix, Matrix], limits: tuple[float, float]
) -> None:
    """Update `longest_legs` with the longest legs of a pair of matrices, without those beyond a limit."""
    allowed = [int(min(limit, _MAX_UNITS)) for limit in limits]
    for low in range(0, len(travel_matrices[0]), _CHUNK_ROWS):
        rows = [table[low : low + _CHUNK_ROWS] for table in travel_matrices]
        longest_of_rows = [part.max(axis=1) for part in rows]
        if any(int(longest.max()) > limit for longest, limit in zip(longest_of_rows, allowed, strict=True)):
            usable = (rows[0] <= allowed[0]) & (rows[1] <= allowed[1])
            rows = [np.where(usable, part, 0) for part in rows]
            longest_of_rows = [part.max(axis=1) for part in rows]
        for (out, into), part, longest in zip(longest_legs, rows, longest_of_rows, strict=True):
            longest_out = out[low : low + _CHUNK_ROWS]
            np.maximum(longest_out, longest, out=longest_out)
            np.maximum(into, part.max(axis=0), out=into)
