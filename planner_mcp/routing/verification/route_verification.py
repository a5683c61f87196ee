"""Verifies one route stop by stop, and recomputes its times, distances and costs.

Owns times, limits, breaks and sums. Loads are checked by `load_verification.py`, breaks are matched by
`break_matching.py`. Part of the independent verifier: it shares no code with evaluation.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from planner_mcp.routing.plan import PlannedRoute, Visit
from planner_mcp.routing.problem import BreakSpec, TicketSpec
from planner_mcp.routing.verification.break_matching import can_pair
from planner_mcp.routing.verification.driving_verification import driving_time
from planner_mcp.routing.verification.load_verification import LoadVerifier
from planner_mcp.routing.verification.problem_index import ProblemIndex, RouteCheck, matches_cost


@dataclass(slots=True)
class RouteTotals:
    """The totals of a route, in units."""

    distance: int = 0
    travel: int = 0
    busy: int = 0
    late_cost: int = 0
    switch_cost: int = 0
    cost: int = 0
    duration: int = 0


class RouteVerifier(RouteCheck):
    """Verifies one route stop by stop."""

    def __init__(self, problem_index: ProblemIndex, route: PlannedRoute) -> None:
        super().__init__(problem_index, route)
        self.totals = RouteTotals()
        self._place: int | None = self.agent.start
        self._clock = problem_index.units(route.start_s)
        self._left = self._clock
        self._break_time = 0
        self._driving_intervals: list[tuple[int, int]] = []
        self._has_stopped = False

    def faults(self) -> Iterator[str]:
        """Yield all faults of the route."""
        yield from self._ends()
        for visit in self.route.visits:
            yield from self._break(visit) if visit.kind == "break" else self._stop(visit)
        yield from self._home()
        yield from self._limits()
        yield from self._breaks()
        yield from LoadVerifier(self.problem_index, self.route).faults()
        yield from self._kpis()

    def _name(self, location: int | None) -> str | None:
        return None if location is None else self.problem.locations[location]

    def _ends(self) -> Iterator[str]:
        if self.route.start_location != self._name(self.agent.start):
            yield self.violation("the route does not start where the agent starts.")
        if self.route.end_location != self._name(self.agent.end):
            yield self.violation("the route does not end where the agent ends.")
        if self._clock < self.agent.shift[0]:
            yield self.violation("leaves before the shift starts.")

    def _break(self, visit: Visit) -> Iterator[str]:
        arrival, start, departure = map(self.units, (visit.arrival_s, visit.start_s, visit.departure_s))
        if not self._clock <= arrival <= start <= departure:
            yield self.violation("a break starts before the previous visit ends.")
        if visit.distance_m != 0 or visit.location is not None or visit.ticket_id is not None:
            yield self.violation("a break states a location, a ticket or a distance.")
        self._driving_intervals.append((self._clock, start))
        self._break_time += departure - start
        self.totals.busy += departure - start
        self._clock = departure

    def _leg(self, place: int | None) -> tuple[int, int]:
        """Return distance and travel time from the current location."""
        if self._place is None or place is None:
            return 0, 0
        problem, profile = self.problem, self.agent.profile
        distance = problem.distances[profile][self._place, place]
        travel = problem.durations[profile][self._place, place]
        return int(distance), int(travel)

    def _arrive(self, place: int | None, arrival: int, what: str) -> Iterator[str]:
        """Check the travel to a location, including the breaks on the way."""
        distance, travel = self._leg(place)
        driven: int | None = travel
        if self.problem.travel_periods:
            driven = driving_time(
                self.problem.travel_periods, [*self._driving_intervals, (self._clock, arrival)], travel
            )
        elif arrival < self._left + travel + self._break_time:
            driven = None
        if driven is None or arrival < self._clock:
            yield self.violation(f"{what} is reached sooner than travel and breaks allow.")
        self.totals.distance += distance
        self.totals.travel += travel if driven is None else driven
        self._break_time = 0
        self._driving_intervals = []

    def _stop(self, visit: Visit) -> Iterator[str]:
        arrival, start, departure = map(self.units, (visit.arrival_s, visit.start_s, visit.departure_s))
        ticket = None if visit.ticket_id is None else self.problem.tickets[self.problem_index.tickets[visit.ticket_id]]
        place = ticket.location if ticket is not None else self.problem_index.locations[visit.location or ""]
        what = f"ticket {ticket.id}" if ticket is not None else f"reload at {visit.location}"
        if (ticket is None) != (visit.kind == "reload"):
            yield self.violation("a visit names a ticket where its kind has none, or none where it has one.")
        if visit.location != self._name(place):
            yield self.violation(f"{what} is visited at another place than its own.")
        if self._clock < self.problem.frozen_until and ticket is not None and not self._is_locked(ticket):
            yield self.violation(f"sets out for {what} before the time from which on the plan may change.")
        before = self.totals.distance
        yield from self._arrive(place, arrival, what)
        if self.units(visit.distance_m) != self.totals.distance - before:
            yield self.violation(f"{what} states a wrong distance.")
        setup = ticket.setup if ticket is not None and (not self._has_stopped or place != self._place) else 0
        service = ticket.service if ticket is not None else 0
        if start < arrival + setup:
            yield self.violation(f"{what} begins before arrival and setup are over.")
        if departure < start + service:
            yield self.violation(f"{what} is left before its service is over.")
        self.totals.busy += setup + service
        yield from self._ticket(visit, ticket, start) if ticket is not None else self._reload(place)
        self._place, self._clock, self._left, self._has_stopped = place, departure, departure, True

    def _is_locked(self, ticket: TicketSpec) -> bool:
        return self.problem_index.tickets[ticket.id] in self.agent.locked

    def _ticket(self, visit: Visit, ticket: TicketSpec, start: int) -> Iterator[str]:
        if ticket.windows and not any(opens <= start <= closes for opens, closes in ticket.windows):
            yield self.violation(f"ticket {ticket.id} is served outside its windows.")
        if ticket.agents is not None and self.index not in ticket.agents:
            yield self.violation(f"may not serve ticket {ticket.id}.")
        late = 0 if ticket.soft_close is None else max(0, start - ticket.soft_close)
        if self.units(visit.late_s or 0.0) != late:
            yield self.violation(f"ticket {ticket.id} states a wrong lateness.")
        self.totals.late_cost += late * ticket.lateness_cost
        if ticket.preferred is not None and ticket.preferred != self.index:
            self.totals.switch_cost += ticket.switch_cost

    def _reload(self, place: int) -> Iterator[str]:
        if place not in self.agent.reload_at:
            yield self.violation(f"may not reload at {self._name(place)}.")

    def _home(self) -> Iterator[str]:
        yield from self._arrive(self.agent.end, self.units(self.route.end_s), "the end")

    def _limits(self) -> Iterator[str]:
        agent, end = self.agent, self.units(self.route.end_s)
        duration = end - self.units(self.route.start_s)
        reloads = sum(visit.kind == "reload" for visit in self.route.visits)
        overtime = max(0, end - agent.shift[1])
        if overtime > agent.overtime:
            yield self.violation("ends after the shift and its overtime.")
        if agent.max_distance is not None and self.totals.distance > agent.max_distance:
            yield self.violation("drives farther than max_distance.")
        if agent.max_duration is not None and duration > agent.max_duration:
            yield self.violation("is longer on the way than max_duration.")
        if agent.max_stops is not None and len(self.tickets) > agent.max_stops:
            yield self.violation("serves more tickets than max_tickets.")
        if reloads > agent.max_reloads:
            yield self.violation("reloads more often than max_reloads.")
        running = agent.distance_cost * self.totals.distance + agent.time_cost * duration
        self.totals.duration = duration
        soft = agent.overtime_cost * overtime + self.totals.late_cost + self.totals.switch_cost
        self.totals.cost = agent.fixed_cost + running + soft

    def _breaks(self) -> Iterator[str]:
        rests = (visit for visit in self.route.visits if visit.kind == "break")
        taken = [(self.units(visit.start_s), self.units(visit.departure_s)) for visit in rests]
        if not can_pair(taken, self.agent.breaks, fits=_is_asked_break, is_due=self._is_due):
            yield self.violation("a break is missing, too short, or outside its window.")

    def _is_due(self, break_spec: BreakSpec) -> bool:
        """Return whether a break can be taken neither after the route nor before it."""
        starts, ends = self.units(self.route.start_s), self.units(self.route.end_s)
        return ends > break_spec.window[1] and starts < break_spec.window[0] + break_spec.duration

    def _kpis(self) -> Iterator[str]:
        waiting = self.totals.duration - self.totals.travel - self.totals.busy
        stated = {
            "distance_m": (self.route.distance_m, self.totals.distance),
            "travel_s": (self.route.travel_s, self.totals.travel),
            "waiting_s": (self.route.waiting_s, waiting),
            "overtime_s": (self.route.overtime_s or 0.0, max(0, self.units(self.route.end_s) - self.agent.shift[1])),
        }
        for name, (value, truth) in stated.items():
            if self.units(value) != truth:
                yield self.violation(f"states a wrong {name}.")
        if not matches_cost(self.problem, self.route.cost, self.totals.cost):
            yield self.violation("states a wrong cost.")


def _is_asked_break(taken: tuple[int, int], asked: BreakSpec) -> bool:
    """Return whether a taken break, (start, end), satisfies a required one."""
    start, end = taken
    return asked.window[0] <= start <= asked.window[1] and end - start == asked.duration
