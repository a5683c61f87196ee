"""Locked visits that an agent cannot keep, even with nothing else to do than what they bring along (SPEC T7, S1).

Owns the proof on the compiled problem, in integers and without slack: the locked visits in their order, then the
deliveries of locked pickups, then the end of the route. Where a reload could help, nothing is said. Locks that exclude
each other are found without travel by `scenario/checks/lock_checks.py`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from planner_mcp.routing.feasibility.least_travel import DirectLegs, TravelMeasure, least_legs
from planner_mcp.routing.feasibility.unservable_tickets import exceeded_limits, stops_per_location
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import AgentSpec, Problem, TicketSpec


@dataclass(frozen=True, slots=True)
class InfeasibleLock:
    """Why locked visits cannot be kept.

    Args:
        reason: What is in the way.
        at: The locked visit that cannot be kept, by its place in the order; None where all together take too much.
        is_of_delivery: Whether the delivery of a locked pickup is in the way, not the locked visits themselves.
    """

    reason: InfeasibilityReason
    at: int | None = None
    is_of_delivery: bool = False


@dataclass(frozen=True, slots=True)
class _Tour:
    """What the visits so far have taken at least."""

    now: int
    place: int | None
    length: int = 0
    busy: int = 0


class InfeasibleLocks:
    """The proofs of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._legs = DirectLegs(problem)
        self._paths = least_legs(problem, self._legs)
        self._stops_per_location = stops_per_location(problem)

    def of(self, agent: AgentSpec, locked: Sequence[int]) -> Iterator[InfeasibleLock]:
        """Yield what keeps an agent from locked visits, given as tickets in their order."""
        if not locked or agent.reload_depots:
            return
        owed = self.owed_deliveries(locked)
        releases = (self._problem.tickets[index].release for index in (*locked, *owed.values()))
        tour = _Tour(max(agent.shift[0], *releases), agent.start)
        for at, index in enumerate(locked):
            ticket = self._problem.tickets[index]
            setup = ticket.setup if at == 0 or tour.place != ticket.location else 0
            after = self._visit(tour, agent, ticket, setup, self._legs)
            if after is None:
                yield InfeasibleLock(InfeasibilityReason.TIME_WINDOW, at)
                return
            tour = after
        found = [InfeasibleLock(reason) for reason in self._exceeded_limits(tour, agent)]
        yield from found or islice(self._undelivered(tour, agent, locked, owed), 1)

    def owed_deliveries(self, locked: Sequence[int]) -> dict[int, int]:
        """Return the deliveries that must follow, by locked pickup."""
        partner_of, tickets = self._problem.partner_of, self._problem.tickets
        pickups = (index for index in locked if index in partner_of and tickets[index].pickup is None)
        return {index: partner_of[index] for index in pickups if partner_of[index] not in locked}

    def _undelivered(
        self, tour: _Tour, agent: AgentSpec, locked: Sequence[int], owed: dict[int, int]
    ) -> Iterator[InfeasibleLock]:
        """Yield what keeps the agent from each delivery by itself, after the last locked visit."""
        for pickup, delivery in owed.items():
            ticket = self._problem.tickets[delivery]
            setup = ticket.setup if self._stops_per_location[ticket.location] == 1 else 0
            after = self._visit(tour, agent, ticket, setup, self._paths)
            if after is None:
                yield InfeasibleLock(InfeasibilityReason.TIME_WINDOW, locked.index(pickup), is_of_delivery=True)
                continue
            for reason in self._exceeded_limits(after, agent):
                yield InfeasibleLock(reason, is_of_delivery=True)

    def _visit(self, tour: _Tour, agent: AgentSpec, ticket: TicketSpec, setup: int, legs: DirectLegs) -> _Tour | None:
        """Return the tour with one visit more, None where it cannot be reached in its window."""
        leg = (agent.profile, tour.place, ticket.location)
        time = legs.out(TravelMeasure.TIME, *leg) + setup
        ready = tour.now + time
        if (start := ticket.start_from(ready)) is None:
            return None
        length = tour.length + legs.out(TravelMeasure.LENGTH, *leg)
        return _Tour(start + ticket.service, ticket.location, length, tour.busy + time + ticket.service)

    def _exceeded_limits(self, tour: _Tour, agent: AgentSpec) -> Iterator[InfeasibilityReason]:
        """Return the limits that are too narrow for it with the way to the end of the route."""
        leg = (agent.profile, tour.place, agent.end)
        time = self._paths.back(TravelMeasure.TIME, *leg)
        length = tour.length + self._paths.back(TravelMeasure.LENGTH, *leg)
        return exceeded_limits(agent, tour.now + time, tour.busy + time, length)
