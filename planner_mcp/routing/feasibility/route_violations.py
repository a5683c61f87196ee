"""What keeps an agent from driving a route, and by how much.

Owns the measure of each constraint of a single route, for searches of small changes: repair, evidence, fixes. It
takes its times from `evaluation/route_schedule.py` and proves nothing: `verification/plan_verification.py` decides
about every plan.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from planner_mcp.routing.evaluation.loads_on_board import loads_along
from planner_mcp.routing.evaluation.route_schedule import RouteSchedule, break_overlap, schedule_route
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import AgentSpec, LoadKind, Problem, Route, Stop, StopKind, TicketSpec


@dataclass(frozen=True, slots=True)
class Violation:
    """One constraint that a route breaks.

    Args:
        limit: Which.
        short: How much is missing, in the units of the problem: time, distance, amount or tickets; 1 for a yes or no.
        share: The same as a share of what there is, so that unlike limits can be weighed; an hour counts as 1.
        index: Ticket (window, allowed, incompatible) or dimension (capacity) it is about.
        value: What the limit would have to be; 0 where it has no value. Of a ticket's windows it is meant for the last
            that opens by then.
    """

    limit: InfeasibilityReason
    short: int
    share: float
    index: int = 0
    value: int = 0


def violations(problem: Problem, route: Route, schedule: RouteSchedule | None = None) -> list[Violation]:
    """Return every constraint a route breaks by itself.

    Groups and other routes are left aside, and so is a pickup without its delivery: shipments are moved whole.

    Args:
        problem: The day.
        route: What is to be driven.
        schedule: Its times, where they are known already.
    """
    tickets = route.tickets
    schedule = schedule_route(problem, route) if schedule is None else schedule
    return [
        *_exclusions(problem, route.agent, tickets),
        *_loads(problem, route),
        *_smallest_loads(problem, route),
        *_times(problem, route, schedule),
        *_limits(problem, problem.agents[route.agent], schedule, len(tickets)),
        *_order(problem, route, tickets),
    ]


def violation_share(problem: Problem, route: Route) -> float:
    """Return how far a route is from keeping all constraints: the shares of all that is missing."""
    return sum(each.share for each in violations(problem, route))


def violations_without_waiting(problem: Problem, route: Route, ticket: int) -> list[Violation]:
    """Return what a route breaks that serves a ticket as soon as it comes, where it would wait for a later window.

    The window before that is one of them: it would have to close later. Nothing where there is no such wait.

    Args:
        problem: The day.
        route: What is to be driven, the ticket with it.
        ticket: Index of the ticket.
    """
    windows = problem.tickets[ticket].windows
    start = _start_of(schedule_route(problem, route), ticket)
    used = next((at for at, (opens, closes) in enumerate(windows) if opens <= start <= closes), 0)
    if used == 0:
        return []
    spec = replace(problem.tickets[ticket], windows=windows[:used])
    without_waiting = replace(problem, tickets=(*problem.tickets[:ticket], spec, *problem.tickets[ticket + 1 :]))
    schedule = schedule_route(without_waiting, route)
    is_sooner = windows[used - 1][1] < _start_of(schedule, ticket) < windows[used][0]
    return violations(without_waiting, route, schedule) if is_sooner else []


def _start_of(schedule: RouteSchedule, ticket: int) -> int:
    """Return when the service of a ticket starts."""
    mine = Stop(StopKind.TICKET, ticket)
    return next(time.start for leg, time in zip(schedule.legs, schedule.times, strict=True) if leg.stop == mine)


def is_closed(problem: Problem, ticket: TicketSpec) -> bool:
    """Return whether no agent may serve a ticket because its windows closed before `keep_until`.

    Set by `compilation/frozen_prefix_compilation.py`. Who could serve it before is known to `verified_fixes.py`.
    """
    return ticket.agents == frozenset() and bool(ticket.windows) and ticket.windows[-1][1] < problem.frozen_until


def _exclusions(problem: Problem, agent: int, tickets: list[int]) -> Iterator[Violation]:
    for ticket in tickets:
        spec = problem.tickets[ticket]
        if spec.location in problem.off_network:
            yield Violation(InfeasibilityReason.NO_ROAD, 1, 9.0, ticket)
        elif spec.location in problem.open_addresses:
            yield Violation(InfeasibilityReason.NO_POSITION, 1, 9.0, ticket)
        elif not spec.admits(agent):
            yield Violation(InfeasibilityReason.SKILL_OR_AGENT, 1, 3.0, ticket)
    served, apart = set(tickets), problem.incompatible
    if len(served) ** 2 < len(apart):  # a day may exclude a hundred thousand pairs, a route has few of its own
        found = [pair for pair in combinations(sorted(served), 2) if pair in apart]
    else:
        found = [pair for pair in apart if served.issuperset(pair)]
    for _, high in found:
        yield Violation(InfeasibilityReason.INCOMPATIBLE, 1, 9.0, high)


def _loads(problem: Problem, route: Route) -> Iterator[Violation]:
    capacity = problem.agents[route.agent].capacity
    peaks = map(max, zip(*loads_along(problem, route), strict=True))
    for dimension, (peak, room) in enumerate(zip(peaks, capacity, strict=True)):
        if peak > room:
            short = peak - room
            yield Violation(InfeasibilityReason.CAPACITY, short, short * 5.0 / max(1, room), dimension, peak)


def _smallest_loads(problem: Problem, route: Route) -> Iterator[Violation]:
    served = [problem.tickets[index] for index in route.tickets if problem.tickets[index].pickup is None]
    for dimension, least in enumerate(problem.agents[route.agent].min_load):
        total = sum(ticket.demand[dimension] for ticket in served)
        if served and total < least:
            short = least - total
            yield Violation(InfeasibilityReason.MIN_LOAD, short, short * 5.0 / least, dimension, total)


def _times(problem: Problem, route: Route, schedule: RouteSchedule) -> Iterator[Violation]:
    hour, agent = 3600 * problem.scale, problem.agents[route.agent]
    breaks, soonest = [], schedule.start
    for leg, time in zip(schedule.legs, schedule.times, strict=True):
        breaks += [
            (break_spec, max(begun, soonest)) for break_spec, (_, begun) in zip(leg.breaks, time.breaks, strict=True)
        ]
        if leg.windows and leg.stop is not None:
            is_over = leg.stop.kind is StopKind.TICKET and is_closed(problem, problem.tickets[leg.stop.index])
            start = max(time.start, problem.frozen_until) if is_over else time.start
            if (late := start - leg.windows[-1][1]) > 0:
                yield Violation(InfeasibilityReason.TIME_WINDOW, late, late / hour, leg.stop.index, start)
            if is_over:  # however wide its window, what was begun before the hour cannot follow it
                soonest = problem.frozen_until
    if any(begun > break_spec.window[1] for break_spec, begun in breaks):
        yield Violation(InfeasibilityReason.ORDER, 1, 9.0)
    taken = {stop.index for stop in route.stops if stop.kind is StopKind.BREAK}
    for index, break_spec in enumerate(agent.breaks):
        if index not in taken and break_overlap(break_spec, schedule):
            yield Violation(InfeasibilityReason.ORDER, 1, 9.0)
    if (over := schedule.end - agent.latest_end) > 0:
        yield Violation(InfeasibilityReason.SHIFT_END, over, 1.5 * over / hour, value=schedule.end - agent.overtime)


def _limits(problem: Problem, agent: AgentSpec, schedule: RouteSchedule, count: int) -> Iterator[Violation]:
    distance = sum(leg.distance for leg in schedule.legs)
    if agent.max_duration is not None and (over := schedule.duration - agent.max_duration) > 0:
        yield Violation(
            InfeasibilityReason.MAX_DURATION, over, 1.5 * over / (3600 * problem.scale), value=schedule.duration
        )
    if agent.max_distance is not None and (over := distance - agent.max_distance) > 0:
        yield Violation(InfeasibilityReason.MAX_DISTANCE, over, 5.0 * over / max(1, agent.max_distance), value=distance)
    if agent.max_stops is not None and (over := count - agent.max_stops) > 0:
        yield Violation(InfeasibilityReason.MAX_TICKETS, over, 5.0 * over / max(1, agent.max_stops), value=count)


def _order(problem: Problem, route: Route, tickets: list[int]) -> Iterator[Violation]:
    agent = problem.agents[route.agent]
    reloads = route.reloads
    position = {ticket: place for place, ticket in enumerate(tickets)}
    is_locked = tuple(tickets[: len(agent.locked)]) == agent.locked
    broken = any(
        problem.tickets[ticket].pickup is not None
        and position.get(problem.tickets[ticket].pickup or 0, len(tickets)) > place
        for ticket, place in position.items()
    )
    if not is_locked or broken or reloads > agent.max_reloads or (problem.backhaul and _is_mixed(problem, route)):
        yield Violation(InfeasibilityReason.ORDER, 1, 9.0)


def _is_mixed(problem: Problem, route: Route) -> bool:
    """Return whether some trip picks up before it delivers; shipments are left aside."""
    single = ([problem.tickets[i].load for i in trip if i not in problem.partner_of] for trip in route.trips)
    return any((LoadKind.PICKUP, LoadKind.DELIVERY) in pairwise(loads) for loads in single)
