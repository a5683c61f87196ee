"""Builds a plan from the routes of an engine: times, loads and costs, in the caller's units.

Owns the form of a plan and the price of a candidate. Times are computed by `evaluation/route_schedule.py` and cached by
`evaluation/timing_cache.py`. Nothing is assumed about the candidate and nothing is checked: an infeasible candidate
gives a plan too, and `verification/plan_verification.py` reports what is wrong with it. The
reasons of unassigned tickets are found when a plan is published (`feasibility/unassigned_reasons.py`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from planner_mcp.routing.evaluation.departure_optimization import SpanPrice
from planner_mcp.routing.evaluation.loads_on_board import loads_along
from planner_mcp.routing.evaluation.route_legs import Leg
from planner_mcp.routing.evaluation.route_schedule import LegTimes, RouteSchedule
from planner_mcp.routing.evaluation.timing_cache import cached_schedule
from planner_mcp.routing.infeasibility_reasons import REASON_TEXTS, InfeasibilityReason
from planner_mcp.routing.plan import Plan, PlannedRoute, PlanStatus, Unassigned, Visit
from planner_mcp.routing.problem import (
    AgentSpec,
    Candidate,
    GroupKind,
    Problem,
    Route,
    Stop,
    StopKind,
)

_NOT_SERVED: Final = InfeasibilityReason.NO_ROOM_FOUND
"""What a plan says of each ticket left out until `feasibility.unassigned_reasons` looks closer."""


def build_plan(
    problem: Problem,
    candidate: Candidate,
    *,
    engine: str = "",
    seed: int = 0,
    versions: Mapping[str, str] | None = None,
    input_hash: str = "",
) -> Plan:
    """Return the plan of a candidate: earliest services, latest departures.

    Args:
        problem: The problem.
        candidate: Routes as an engine found them; routes without a ticket are dropped.
        engine: Name of the engine, recorded in the plan where the candidate does not name its finders.
        seed: Its seed.
        versions: Versions of the software that took part.
        input_hash: Hash of the scenario.
    """
    timed = _timed(problem, candidate)
    served = _served(timed)
    routes = tuple(_planned(problem, route, schedule) for route, schedule in timed)
    penalty = _unassigned_penalty(problem, served, is_priced=False)
    return Plan(
        status=_status(problem, served),
        cost=(_total(problem, timed, served) - penalty) / problem.cost_scale,
        routes=routes,
        unassigned=tuple(
            Unassigned(ticket.id, _NOT_SERVED, REASON_TEXTS[_NOT_SERVED])
            for index, ticket in enumerate(problem.tickets)
            if index not in served
        ),
        distance_m=sum(leg.distance for _, schedule in timed for leg in schedule.legs) / problem.scale,
        duration_s=sum(schedule.duration for _, schedule in timed) / problem.scale,
        agents_used=len(routes),
        tickets_served=len(served),
        tickets_total=len(problem.tickets),
        assumptions=problem.assumptions,
        engine="+".join(candidate.found_by) or engine,
        seed=seed,
        versions=dict(versions or {}),
        input_hash=input_hash,
        travel=dict(problem.provenance),
        penalty=penalty / problem.cost_scale,
    )


def price(problem: Problem, candidate: Candidate) -> int:
    """Return the objective that engines minimize: cost plus penalty, in cost units.

    It takes up to 0.2 s of CPU per 1000 tickets where duration is paid, with travel periods or many windows. Routes
    timed just before are cached and take almost no time.
    """
    timed = _timed(problem, candidate)
    return _total(problem, timed, _served(timed))


def operating_cost(problem: Problem, candidate: Candidate) -> int:
    """Return the cost of the routes and the span, in cost units: the price without penalties."""
    return _operating_cost(problem, _timed(problem, candidate))


def route_cost(problem: Problem, route: Route, schedule: RouteSchedule) -> int:
    """Return the cost of one route, in cost units, whether or not it is feasible."""
    agent = problem.agents[route.agent]
    distance = sum(leg.distance for leg in schedule.legs)
    late = sum(
        leg.lateness_cost * _lateness(leg, time) for leg, time in zip(schedule.legs, schedule.times, strict=True)
    )
    switches = sum(problem.tickets[index].switch_price(route.agent) for index in route.tickets)
    running = agent.distance_cost * distance + agent.time_cost * schedule.duration
    return agent.fixed_cost + running + agent.overtime_cost * _overtime(agent, schedule) + late + switches


def _lateness(leg: Leg, time: LegTimes) -> int:
    """Return by how much the service at the end of a leg is late, in time units."""
    return 0 if leg.soft_close is None else max(0, time.start - leg.soft_close)


def _overtime(agent: AgentSpec, schedule: RouteSchedule) -> int:
    """Return by how much a route ends after its shift, in time units."""
    return max(0, schedule.end - agent.shift[1])


def candidate_of(problem: Problem, plan: Plan) -> Candidate:
    """Return the stops of a plan, without those the problem does not have."""
    agents = {agent.id: index for index, agent in enumerate(problem.agents)}
    reader = _PlanReader(problem)
    routes = []
    for route in plan.routes:
        if (agent := agents.get(route.agent_id)) is not None:
            stops = reader.stops(problem.agents[agent], route.visits)
            routes.append(Route(agent, tuple(stops)))
    found_by = tuple(filter(None, plan.engine.split("+")))
    return Candidate(tuple(route for route in routes if route.tickets), found_by)


class _PlanReader:
    """Reads stored visits, by the ids of a problem; remembers the tickets already placed."""

    def __init__(self, problem: Problem) -> None:
        self._scale = problem.scale
        self._tickets = {ticket.id: index for index, ticket in enumerate(problem.tickets)}
        self._locations = {name: index for index, name in enumerate(problem.locations)}
        self._placed: set[int] = set()

    def stops(self, agent: AgentSpec, visits: Sequence[Visit]) -> Iterator[Stop]:
        """Yield the stops that are still valid for the agent."""
        breaks = list(range(len(agent.breaks)))
        for visit in visits:
            if visit.kind == StopKind.BREAK and breaks:
                yield Stop(StopKind.BREAK, self._take_break(agent, breaks, visit.start_s))
            elif visit.kind == StopKind.RELOAD and self._locations.get(visit.location or "", -1) in agent.reload_at:
                yield Stop(StopKind.RELOAD, self._locations[visit.location or ""])
            elif (ticket := self._tickets.get(visit.ticket_id or "")) is not None and ticket not in self._placed:
                self._placed.add(ticket)
                yield Stop(StopKind.TICKET, ticket)

    def _take_break(self, agent: AgentSpec, breaks: list[int], start_s: float) -> int:
        """Take the first remaining break whose window contains the start, else the first remaining one."""
        start, windows = round(start_s * self._scale), [break_spec.window for break_spec in agent.breaks]
        fits = (index for index in breaks if windows[index][0] <= start <= windows[index][1])
        chosen = next(fits, breaks[0])
        breaks.remove(chosen)
        return chosen


def _timed(problem: Problem, candidate: Candidate) -> list[tuple[Route, RouteSchedule]]:
    timed = [(route, cached_schedule(problem, route)) for route in candidate.routes if route.tickets]
    return _rebalanced(problem, timed) if problem.span_cost and timed else timed


def _rebalanced(problem: Problem, timed: list[tuple[Route, RouteSchedule]]) -> list[tuple[Route, RouteSchedule]]:
    """Return the routes with the longest scheduled again, with the span cost as part of the price of their hours.

    Repeats while the cost falls. Routes of equal length share the span cost, because only together they reduce it.
    """
    cost = _operating_cost(problem, timed)
    for _ in timed:
        lengths = [schedule.duration for _, schedule in timed]
        longest = max(lengths)
        floor = max((length for length in lengths if length < longest), default=0)
        span = SpanPrice(problem.span_cost // lengths.count(longest), floor)
        rescheduled = [
            (route, cached_schedule(problem, route, span) if schedule.duration == longest else schedule)
            for route, schedule in timed
        ]
        if (cheaper := _operating_cost(problem, rescheduled)) >= cost:
            break
        timed, cost = rescheduled, cheaper
    return timed


def _served(timed: Sequence[tuple[Route, RouteSchedule]]) -> set[int]:
    return {ticket for route, _ in timed for ticket in route.tickets}


def _status(problem: Problem, served: set[int]) -> PlanStatus:
    """Return PARTIAL where a ticket without a caller's penalty is unassigned and no ONE_OF alternative is served."""
    replaced = {
        ticket
        for group in problem.groups
        if group.kind is GroupKind.ONE_OF and not served.isdisjoint(group.tickets)
        for ticket in group.tickets
    }
    wanted = {index for index, ticket in enumerate(problem.tickets) if not ticket.is_priced}
    return PlanStatus.FEASIBLE if wanted <= served | replaced else PlanStatus.PARTIAL


def _total(problem: Problem, timed: Sequence[tuple[Route, RouteSchedule]], served: set[int]) -> int:
    penalties = sum(_unassigned_penalty(problem, served, is_priced=is_priced) for is_priced in (True, False))
    return _operating_cost(problem, timed) + penalties


def _operating_cost(problem: Problem, timed: Sequence[tuple[Route, RouteSchedule]]) -> int:
    cost = sum(route_cost(problem, route, schedule) for route, schedule in timed)
    return cost + problem.span_cost * max((schedule.duration for _, schedule in timed), default=0)


def _unassigned_penalty(problem: Problem, served: set[int], *, is_priced: bool) -> int:
    """Return the penalties of unassigned tickets: of those priced by the caller, or of the wanted ones."""
    tickets = (ticket for index, ticket in enumerate(problem.tickets) if index not in served)
    groups = (
        group
        for group in problem.groups
        if group.kind is GroupKind.ONE_OF and served.isdisjoint(group.tickets)
        if problem.tickets[group.tickets[0]].is_priced == is_priced
    )
    return sum(ticket.penalty for ticket in tickets if ticket.is_priced == is_priced) + sum(g.penalty for g in groups)


def _planned(problem: Problem, route: Route, schedule: RouteSchedule) -> PlannedRoute:
    agent, scale = problem.agents[route.agent], problem.scale
    travel = sum(time.driven for time in schedule.times)
    busy = sum(leg.setup + leg.service + sum(break_spec.duration for break_spec in leg.breaks) for leg in schedule.legs)
    return PlannedRoute(
        agent_id=agent.id,
        visits=tuple(_visits(problem, route, schedule)),
        start_location=None if agent.start is None else problem.locations[agent.start],
        end_location=None if agent.end is None else problem.locations[agent.end],
        start_s=schedule.start / scale,
        end_s=schedule.end / scale,
        distance_m=sum(leg.distance for leg in schedule.legs) / scale,
        travel_s=travel / scale,
        waiting_s=(schedule.duration - travel - busy) / scale,
        cost=route_cost(problem, route, schedule) / problem.cost_scale,
        overtime_s=_overtime(agent, schedule) / scale,
    )


def _visits(problem: Problem, route: Route, schedule: RouteSchedule) -> Iterator[Visit]:
    loads = (
        {n: v / problem.amount_scale for n, v in zip(problem.dimensions, each, strict=True)}
        for each in loads_along(problem, route)
    )
    load = next(loads)
    for leg, time in zip(schedule.legs, schedule.times, strict=True):
        for break_spec, (reached, begun) in zip(leg.breaks, time.breaks, strict=True):
            done = begun + break_spec.duration
            at, since, until = (moment / problem.scale for moment in (reached, begun, done))
            yield Visit("break", None, None, at, since, until, load, 0.0)
        if leg.stop is not None:
            load = next(loads)
            yield _visit(problem, leg, time, load)


def _visit(problem: Problem, leg: Leg, time: LegTimes, load: dict[str, float]) -> Visit:
    assert leg.stop is not None and leg.location is not None  # noqa: S101 — only the end of a route has neither
    ticket = problem.tickets[leg.stop.index] if leg.stop.kind is StopKind.TICKET else None
    return Visit(
        kind=leg.stop.kind.value,
        ticket_id=None if ticket is None else ticket.id,
        location=problem.locations[leg.location],
        arrival_s=time.arrival / problem.scale,
        start_s=time.start / problem.scale,
        departure_s=time.departure / problem.scale,
        load=load,
        distance_m=leg.distance / problem.scale,
        late_s=_lateness(leg, time) / problem.scale,
    )
