"""The proof of one route: walked stop by stop with a clock, its lengths and costs added up anew.

Owns times, limits, breaks and sums; what is on board is `proof/cargo.py`'s, which break is which `proof/rests.py`'s.
Part of the independent proof: it shares nothing with what it judges.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from planner_mcp.vrp.plan import PlannedRoute, Visit
from planner_mcp.vrp.problem import AgentSpec, Break, TicketSpec
from planner_mcp.vrp.proof.book import Book, is_cost
from planner_mcp.vrp.proof.cargo import Cargo
from planner_mcp.vrp.proof.pace import drive
from planner_mcp.vrp.proof.rests import can_pair


@dataclass(slots=True)
class Sums:
    """What a route adds up to, in units."""

    distance: int = 0
    travel: int = 0
    busy: int = 0
    late_cost: int = 0
    switch_cost: int = 0
    cost: int = 0
    duration: int = 0


class Walk:
    """One route, walked stop by stop with a clock."""

    def __init__(self, book: Book, route: PlannedRoute) -> None:
        self.book = book
        self.route = route
        self.index = book.agents[route.agent_id]
        self.agent: AgentSpec = book.problem.agents[self.index]
        self.sums = Sums()
        self.tickets = [book.tickets[v.ticket_id] for v in route.visits if v.ticket_id is not None]
        self._place: int | None = self.agent.start
        self._clock = book.units(route.start_s)
        self._left = self._clock
        self._rested = 0
        self._gaps: list[tuple[int, int]] = []
        self._has_stopped = False

    def faults(self) -> Iterator[str]:
        """Yield everything wrong with the route by itself."""
        yield from self._ends()
        for visit in self.route.visits:
            yield from self._break(visit) if visit.kind == "break" else self._stop(visit)
        yield from self._home()
        yield from self._limits()
        yield from self._breaks()
        yield from Cargo(self.book, self.route).faults()
        yield from self._kpis()

    def _say(self, text: str) -> str:
        return f"Agent {self.agent.id}: {text}"

    def _name(self, location: int | None) -> str | None:
        return None if location is None else self.book.problem.locations[location]

    def _ends(self) -> Iterator[str]:
        if self.route.start_location != self._name(self.agent.start):
            yield self._say("the route does not start where the agent starts.")
        if self.route.end_location != self._name(self.agent.end):
            yield self._say("the route does not end where the agent ends.")
        if self._clock < self.agent.shift[0]:
            yield self._say("leaves before the shift starts.")

    def _break(self, visit: Visit) -> Iterator[str]:
        arrival, start, departure = map(self.book.units, (visit.arrival_s, visit.start_s, visit.departure_s))
        if not self._clock <= arrival <= start <= departure:
            yield self._say("a break begins before the visit in front of it is over.")
        if visit.distance_m != 0 or visit.location is not None or visit.ticket_id is not None:
            yield self._say("a break claims a place or a distance.")
        self._gaps.append((self._clock, start))
        self._rested += departure - start
        self.sums.busy += departure - start
        self._clock = departure

    def _leg(self, place: int | None) -> tuple[int, int]:
        """Return distance and time from where the agent is."""
        if self._place is None or place is None:
            return 0, 0
        problem, profile = self.book.problem, self.agent.profile
        distance, travel = (
            problem.distances[profile][self._place, place],
            problem.durations[profile][self._place, place],
        )
        return int(distance), int(travel)

    def _arrive(self, place: int | None, arrival: int, what: str) -> Iterator[str]:
        """Judge the way to a place; the breaks on it lengthen it."""
        distance, travel = self._leg(place)
        driven: int | None = travel
        if self.book.problem.rushes:
            driven = drive(self.book.problem.rushes, [*self._gaps, (self._clock, arrival)], travel)
        elif arrival < self._left + travel + self._rested:
            driven = None
        if driven is None or arrival < self._clock:
            yield self._say(f"{what} is reached sooner than travel and breaks allow.")
        self.sums.distance += distance
        self.sums.travel += travel if driven is None else driven
        self._rested = 0
        self._gaps = []

    def _stop(self, visit: Visit) -> Iterator[str]:
        arrival, start, departure = map(self.book.units, (visit.arrival_s, visit.start_s, visit.departure_s))
        ticket = self.book.problem.tickets[self.book.tickets[visit.ticket_id]] if visit.ticket_id is not None else None
        place = ticket.location if ticket is not None else self.book.locations[visit.location or ""]
        what = f"ticket {ticket.id}" if ticket is not None else f"reload at {visit.location}"
        if (ticket is None) != (visit.kind == "reload"):
            yield self._say("a visit names a ticket where its kind has none, or none where it has one.")
        if visit.location != self._name(place):
            yield self._say(f"{what} is visited at another place than its own.")
        if self._clock < self.book.problem.since and ticket is not None and not self._is_locked(ticket):
            yield self._say(f"sets out for {what} before the hour from which on the day is planned.")
        before = self.sums.distance
        yield from self._arrive(place, arrival, what)
        if self.book.units(visit.distance_m) != self.sums.distance - before:
            yield self._say(f"{what} states a wrong distance.")
        setup = ticket.setup if ticket is not None and (not self._has_stopped or place != self._place) else 0
        service = ticket.service if ticket is not None else 0
        if start < arrival + setup:
            yield self._say(f"{what} begins before arrival and setup are over.")
        if departure < start + service:
            yield self._say(f"{what} is left before its service is over.")
        self.sums.busy += setup + service
        yield from self._ticket(visit, ticket, start) if ticket is not None else self._reload(place)
        self._place, self._clock, self._left, self._has_stopped = place, departure, departure, True

    def _is_locked(self, ticket: TicketSpec) -> bool:
        return self.book.tickets[ticket.id] in self.agent.locked

    def _ticket(self, visit: Visit, ticket: TicketSpec, start: int) -> Iterator[str]:
        if ticket.windows and not any(opens <= start <= closes for opens, closes in ticket.windows):
            yield self._say(f"ticket {ticket.id} is served outside its windows.")
        if ticket.agents is not None and self.index not in ticket.agents:
            yield self._say(f"may not serve ticket {ticket.id}.")
        late = 0 if ticket.soft_close is None else max(0, start - ticket.soft_close)
        if self.book.units(visit.late_s) != late:
            yield self._say(f"ticket {ticket.id} states a wrong lateness.")
        self.sums.late_cost += late * ticket.lateness_cost
        if ticket.preferred is not None and ticket.preferred != self.index:
            self.sums.switch_cost += ticket.switch_cost

    def _reload(self, place: int) -> Iterator[str]:
        if place not in self.agent.reload_at:
            yield self._say(f"may not reload at {self._name(place)}.")

    def _home(self) -> Iterator[str]:
        yield from self._arrive(self.agent.end, self.book.units(self.route.end_s), "the end")

    def _limits(self) -> Iterator[str]:
        agent, end = self.agent, self.book.units(self.route.end_s)
        duration = end - self.book.units(self.route.start_s)
        reloads = sum(visit.kind == "reload" for visit in self.route.visits)
        overtime = max(0, end - agent.shift[1])
        if overtime > agent.overtime:
            yield self._say("ends after the shift and its overtime.")
        if agent.max_distance is not None and self.sums.distance > agent.max_distance:
            yield self._say("drives farther than max_distance.")
        if agent.max_duration is not None and duration > agent.max_duration:
            yield self._say("is longer on the way than max_duration.")
        if agent.max_stops is not None and len(self.tickets) > agent.max_stops:
            yield self._say("serves more tickets than max_tickets.")
        if reloads > agent.max_reloads:
            yield self._say("reloads more often than max_reloads.")
        running = agent.distance_cost * self.sums.distance + agent.time_cost * duration
        self.sums.duration = duration
        soft = agent.overtime_cost * overtime + self.sums.late_cost + self.sums.switch_cost
        self.sums.cost = agent.fixed_cost + running + soft

    def _breaks(self) -> Iterator[str]:
        taken = [
            (self.book.units(v.start_s), self.book.units(v.departure_s)) for v in self.route.visits if v.kind == "break"
        ]
        if not can_pair(taken, self.agent.breaks, fits=_is_rest, is_due=lambda rest: not self._is_off_duty(rest)):
            yield self._say("a break is missing, too short, or outside its window.")

    def _is_off_duty(self, rest: Break) -> bool:
        starts, ends = self.book.units(self.route.start_s), self.book.units(self.route.end_s)
        return ends <= rest.window[1] or starts >= rest.window[0] + rest.duration

    def _kpis(self) -> Iterator[str]:
        waiting = self.sums.duration - self.sums.travel - self.sums.busy
        stated = {
            "distance_m": (self.route.distance_m, self.sums.distance),
            "travel_s": (self.route.travel_s, self.sums.travel),
            "waiting_s": (self.route.waiting_s, waiting),
            "overtime_s": (self.route.overtime_s, max(0, self.book.units(self.route.end_s) - self.agent.shift[1])),
        }
        for name, (value, truth) in stated.items():
            if self.book.units(value) != truth:
                yield self._say(f"states a wrong {name}.")
        if not is_cost(self.book.problem, self.route.cost, self.sums.cost):
            yield self._say("states a wrong cost.")


def _is_rest(taken: tuple[int, int], asked: Break) -> bool:
    """Return whether a rest from start to end is one asked for."""
    start, end = taken
    return asked.window[0] <= start <= asked.window[1] and end - start == asked.duration
