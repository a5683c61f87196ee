"""Applies the frozen prefix of an earlier plan to a compiled problem (SPEC T5, S1 locks).

Owns the meaning of `held.until_s` in integers. The visits that an agent has begun are locked first, at their recorded
times. The visit it is driving to is locked next. An agent at a stop stays there until that time. An agent that has not
departed leaves at that time at the earliest. An agent that is driving to its end, or has arrived, serves only what it
still has on board. So no other visit begins before that time, and a ticket that no agent can reach any more is left
unassigned.

The executed part is always kept: a limit that it violates is raised, and an assumption of the plan says so. So is what
follows from it: goods on board are delivered, however late, and of an all-or-none group that has begun the rest is
wanted, each ticket by itself. What lies ahead is kept only as far as the scenario allows. The caller's scenario itself
is never changed: a patch applies to what the caller wrote, and the frozen prefix is applied to the result again.

Intended departures from exactness: with travel periods the way to the end counts at the slowest speed where breaks are
ahead, and executed visits count as feasible where they would be at the fastest. Where a stored day does not record the
executed reloads, capacity is not raised for agents that may reload.
"""

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from planner_mcp.routing.compilation.executed_routes import ExecutedRoute, ExecutedVisit, executed_routes
from planner_mcp.routing.compilation.route_continuation import RouteFigures
from planner_mcp.routing.problem import AgentSpec, GroupKind, GroupSpec, LoadKind, Problem, TicketSpec
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.scenario_model import Held, Scenario, Ticket
from planner_mcp.text import clock, figure, named, plain

_MAX_NAME: Final = 40
"""Characters of an id in a sentence that lists several."""


def bind_to_held_agents(scenario: Scenario) -> Scenario:
    """Return the scenario with tickets assigned to the agents that `held` names, where these exist and are eligible.

    A ticket has one switch cost. The caller's own cost for the same agent is added to that of `held`; the caller's own
    cost for another agent replaces it.
    """
    if (held := scenario.held) is None or not (held.stay or held.prefer):
        return scenario
    eligibility = Eligibility(scenario)
    number = {agent.id: index for index, agent in enumerate(scenario.agents)}

    def known(ticket: Ticket, agent: str | None) -> bool:
        return agent in number and eligibility.may(number[agent], ticket)

    def with_held_agent(ticket: Ticket) -> Ticket:
        change: dict[str, object] = {}
        if known(ticket, assigned_agent := held.stay.get(ticket.id)):
            change["agents"] = (assigned_agent,)
        preferred = held.prefer.get(ticket.id)
        if known(ticket, preferred) and not is_priced_elsewhere(ticket, preferred):
            own_cost = ticket.switch_cost if ticket.preferred_agent == preferred else 0.0
            change |= {"preferred_agent": preferred, "switch_cost": own_cost + held.switch_cost}
        return ticket.model_copy(update=change) if change else ticket

    tickets = tuple(with_held_agent(ticket) for ticket in scenario.tickets)
    return scenario.model_copy(update={"tickets": tickets}).with_travel_matrices(scenario.travel_matrices)


def is_priced_elsewhere(ticket: Ticket, agent: str | None) -> bool:
    """Return whether the caller set a switch cost for a ticket in favour of a different agent."""
    return ticket.switch_cost > 0 and ticket.preferred_agent not in (None, agent)


def freeze_prefix(problem: Problem, held: Held | None, horizon: int, wanted: Sequence[int]) -> Problem:
    """Return the problem with the frozen prefix applied; its features are set by the compiler.

    Args:
        problem: The problem without the frozen prefix.
        held: The `held` field of the scenario; without `until_s` the problem is returned unchanged.
        horizon: A time, in units, by which every route ends.
        wanted: The penalty that each ticket would have if the caller had set none.
    """
    return problem if held is None or not held.until_s else _PrefixFreezer(problem, held, horizon, wanted).frozen()


class _PrefixFreezer:
    """Applies the frozen prefix to one problem."""

    def __init__(self, problem: Problem, held: Held, horizon: int, wanted: Sequence[int]) -> None:
        self._problem = problem
        self._horizon = horizon
        self._wanted = wanted
        self._frozen_until = round(held.until_s * problem.scale)
        self._agents = list(problem.agents)
        self._tickets = list(problem.tickets)
        self._raised: dict[str, dict[int, str]] = {}
        self._unlocked: list[str] = []
        self._set_aside: list[str] = []
        self._missed: list[str] = []
        self._held_up: dict[int, int] = {}
        self._figures = RouteFigures(problem, self._tickets, self._frozen_until)
        self._executed = executed_routes(problem, held)
        self._taken = {visit.ticket for executed in self._executed.values() for visit in executed.visits}
        self._taken |= {executed.next for executed in self._executed.values() if executed.next is not None}

    def frozen(self) -> Problem:
        """Return the problem with all executed routes applied."""
        owners: dict[int, int] = {}
        for number in range(len(self._agents)):
            executed = self._executed.get(number)
            done = [] if executed is None else self._continue_route(executed)
            if not done:
                self._delay_departure(number)
            owners.update(dict.fromkeys(done, number))
            self._lock(number, done, is_over=executed is not None and executed.end is not None)
        served = {*owners, *self._figures.undelivered([*owners])}
        groups = tuple(self._continued_group(group, served) for group in self._problem.groups)
        freeze = f"Planned from {clock(self._frozen_until / self._problem.scale)}: no new visit begins earlier."
        notes = tuple(self._assumption_texts())
        apart = (pair for pair in self._problem.incompatible if owners.get(pair[0], -1) != owners.get(pair[1], -2))
        return replace(
            self._problem,
            agents=tuple(self._agents),
            tickets=tuple(
                spec if n in owners else self._after_frozen_prefix(spec) for n, spec in enumerate(self._tickets)
            ),
            incompatible=frozenset(apart),
            groups=groups,
            frozen_until=self._frozen_until,
            assumptions=(*self._problem.assumptions, freeze, *notes),
            frozen_prefix_assumptions=notes,
        )

    def _continued_group(self, group: GroupSpec, served: Container[int]) -> GroupSpec:
        """Return an all-or-none group without what is ahead, once some of it has begun; the rest is then wanted.

        What an agent is driving to counts, and so does what it has on board. Of alternatives that have all begun one
        stands for all.
        """
        begun = tuple(ticket for ticket in group.tickets if ticket in served)
        if group.kind is GroupKind.ONE_OF:
            return replace(group, tickets=tuple(ticket for ticket in group.tickets if ticket not in begun[1:]))
        if not begun:
            return group
        choices = {ticket for each in self._problem.groups if each.kind is GroupKind.ONE_OF for ticket in each.tickets}
        for ticket in set(group.tickets).difference(begun, choices):
            if self._tickets[ticket].is_priced:
                self._tickets[ticket] = replace(self._tickets[ticket], penalty=self._wanted[ticket], is_priced=False)
        return replace(group, tickets=begun)

    def _after_frozen_prefix(self, spec: TicketSpec) -> TicketSpec:
        """Return a ticket with its windows after the freeze time, where it could precede breaks begun before it."""
        if spec.service or not any(executed.later_breaks for executed in self._executed.values()):
            return spec
        if spec.windows and spec.windows[-1][1] < self._frozen_until:
            return replace(spec, agents=frozenset())
        windows = spec.windows or ((0, max(self._frozen_until, self._horizon)),)
        remaining = tuple(
            (max(opens, self._frozen_until), closes) for opens, closes in windows if closes >= self._frozen_until
        )
        return replace(spec, windows=remaining)

    def _delay_departure(self, number: int) -> None:
        """Let an agent that has not departed leave at the freeze time at the earliest, or when nothing holds it up."""
        agent = self._agents[number]
        opens = max(agent.shift[0], self._held_up.get(number, self._frozen_until))
        overtime = 0 if agent.shift[1] < opens else agent.overtime
        self._agents[number] = replace(agent, shift=(opens, max(opens, agent.shift[1])), overtime=overtime)

    def _continue_route(self, executed: ExecutedRoute) -> list[int]:
        """Apply an executed route to its agent; return the tickets to lock, none where the agent departs again."""
        agent = self._agents[executed.agent]
        if (reloads := len(self._figures.reloads(agent, executed))) > agent.max_reloads:
            self._agents[executed.agent] = replace(agent, max_reloads=reloads)
            self._note_raised_limit(executed.agent, "max_reloads", str(reloads))
        if executed.visits:
            self._delay_executed_visits(executed)
        next_ticket = executed.next
        spec = None if next_ticket is None else self._next_visit(executed, next_ticket)
        if spec is None and executed.visits:  # what keeps the limits on its way needs no other ones
            self._raise_limits(executed)
            spec = None if next_ticket is None else self._next_visit(executed, next_ticket)
        if next_ticket is not None and spec is not None:
            self._tickets[next_ticket] = spec
        else:
            self._held_up[executed.agent] = self._last_departure(executed)
            next_ticket = None
            if not executed.visits:
                return []
            self._raise_limits(executed)
            if executed.end is None or self._figures.undelivered(executed.tickets):
                self._extend_last_visit(executed)
        done = executed.tickets if next_ticket is None else [*executed.tickets, next_ticket]
        self._keep_on_board(executed, done)
        agent, undelivered = self._agents[executed.agent], self._figures.undelivered(executed.tickets)
        if executed.end is None and (missed := self._figures.missed(agent, executed)):
            latest = named([clock(break_spec.window[1] / self._problem.scale) for break_spec in missed])
            self._missed.append(f"{plain(agent.id, _MAX_NAME)} ({latest})")
        if executed.departed_at < agent.shift[0]:
            self._note_raised_limit(executed.agent, "shift_start", self._clock(executed.departed_at))
        self._agents[executed.agent] = replace(
            agent,
            shift=(min(agent.shift[0], executed.departed_at), agent.shift[1]),
            breaks=(*executed.breaks, *self._figures.remaining(agent, executed)),
            max_stops=agent.max_stops if executed.end is None else len(executed.visits) + len(undelivered),
            min_load=(),  # the agent has departed already
        )
        for visit in executed.visits:
            self._tickets[visit.ticket] = self._frozen_visit(executed, visit)
        return done

    def _keep_on_board(self, executed: ExecutedRoute, done: Sequence[int]) -> None:
        """Leave deliveries of what is on board to their agent, and set windows aside that it can no longer keep."""
        agent, last = self._agents[executed.agent], self._tickets[done[-1]]
        if len(done) > len(executed.visits):
            now = last.windows[0][0] + last.service
        else:
            ends = (break_spec.earliest_end for break_spec in executed.later_breaks)
            now = max(self._frozen_until, executed.visits[-1].departure, *ends)
        owed = [ticket for ticket in self._figures.undelivered(executed.tickets) if ticket not in done]
        late = self._figures.late_deliveries(agent, last.location, now, owed)
        for ticket in owed:
            spec = self._tickets[ticket]
            is_barred = not spec.admits(executed.agent)
            if ticket in late or is_barred:
                self._set_aside.append(plain(spec.id, _MAX_NAME))
            self._tickets[ticket] = replace(
                spec,
                windows=() if ticket in late else spec.windows,
                agents=frozenset({executed.agent}) if is_barred else spec.agents,
                release=0,
            )

    def _frozen_visit(self, executed: ExecutedRoute, visit: ExecutedVisit) -> TicketSpec:
        may_be_late = executed.is_delayed and (self._problem.travel_periods or self._agents[executed.agent].max_reloads)
        closes = max(self._horizon, visit.start) if may_be_late else visit.start
        return replace(
            self._tickets[visit.ticket],
            windows=((visit.start, closes),),
            setup=visit.setup,
            service=visit.departure - visit.start,
            release=0,
            agents=frozenset({executed.agent}),
        )

    def _delay_executed_visits(self, executed: ExecutedRoute) -> None:
        """Delay visits and breaks where the changed scenario takes longer, and set the end of the last visit."""
        agent = self._agents[executed.agent]
        now, place = executed.departed_at, agent.start
        for visit in executed.visits:
            spec = self._tickets[visit.ticket]
            travel = self._figures.fastest_travel(agent, place, spec.location)
            for at, break_spec in enumerate(visit.breaks):
                begun = max(now, break_spec.window[0])
                travel, now = max(0, travel - (begun - now)), begun + break_spec.duration
                visit.breaks[at] = replace(break_spec, window=(begun, begun))
            start = max(visit.start, now + travel)
            executed.is_delayed |= start > visit.start
            is_set_up = place != spec.location or visit is executed.visits[0]
            visit.setup = min(spec.setup, start - now - travel) if is_set_up else 0
            visit.start, visit.departure = start, visit.departure + start - visit.start
            now, place = visit.departure, spec.location
        for at, break_spec in enumerate(executed.later_breaks):
            begun = max(now, break_spec.window[0])
            executed.later_breaks[at], now = replace(break_spec, window=(begun, begun)), begun + break_spec.duration
        last = executed.visits[-1]
        if last.departure >= self._frozen_until:
            last.departure = max(self._frozen_until, last.start + self._tickets[last.ticket].service)

    def _last_departure(self, executed: ExecutedRoute) -> int:
        """Return when an agent goes on that does not keep to the visit it is driving to: as late as it would be there.

        It is the freeze time, unless the recorded arrival is later than a departure by then explains.
        """
        if executed.next is None:
            return self._frozen_until
        agent, target = self._agents[executed.agent], self._tickets[executed.next].location
        ahead = (each for each in self._figures.remaining(agent, executed) if each.window[0] <= executed.arrival)
        way = self._figures.slowest_travel(agent, self._place(executed), target)
        return max(self._frozen_until, executed.arrival - way - sum(break_spec.duration for break_spec in ahead))

    def _extend_last_visit(self, executed: ExecutedRoute) -> None:
        """Extend the last visit until the agent can go on; where the limits leave no time after that, end the route."""
        agent, last, goes_on = self._agents[executed.agent], executed.visits[-1], self._held_up[executed.agent]
        end_time = self._figures.end_time(agent, executed, executed.tickets, max(last.departure, goes_on))
        if self._exceeds_limits(agent, end_time, executed.departed_at):
            executed.end = last.departure
            return
        last.departure = executed.later_breaks[0].window[0] if executed.later_breaks else max(last.departure, goes_on)
        begins = [break_spec.window[0] for break_spec in executed.later_breaks[1:]]
        for at, (break_spec, until) in enumerate(zip(executed.later_breaks, [*begins, goes_on], strict=False)):
            executed.later_breaks[at] = replace(
                break_spec, duration=max(break_spec.duration, until - break_spec.window[0])
            )

    def _exceeds_limits(self, agent: AgentSpec, end_time: int, departed_at: int) -> bool:
        is_long = agent.max_duration is not None and end_time - departed_at > agent.max_duration
        return is_long or end_time > agent.latest_end

    def _next_visit(self, executed: ExecutedRoute, ticket: int) -> TicketSpec | None:
        """Return the visit an agent is driving to, no earlier than it can arrive; None if it is no longer feasible."""
        agent, spec = self._agents[executed.agent], self._tickets[ticket]
        place = self._place(executed)
        soonest = self._next_arrival(agent, executed, place, spec.location)
        soonest += spec.setup if place != spec.location or not executed.visits else 0
        soonest = max(soonest, self._frozen_until)
        windows = tuple((max(opens, soonest), closes) for opens, closes in spec.windows if closes >= soonest)
        if spec.windows and not windows:
            return None
        start = windows[0][0] if windows else soonest
        tickets = [*executed.tickets, ticket]
        end_time = self._figures.end_time(agent, executed, tickets, start + spec.service)
        tickets += self._figures.undelivered(tickets)
        is_far = self._figures.exceeds_distance(agent, executed, tickets)
        is_full = agent.max_stops is not None and len(tickets) > agent.max_stops
        owed = self._figures.undelivered([ticket])
        is_ineligible = not all(self._tickets[each].admits(executed.agent) for each in (ticket, *owed))
        is_late = self._exceeds_limits(agent, end_time, executed.departed_at)
        is_late |= bool(self._figures.late_deliveries(agent, spec.location, start + spec.service, owed))
        exceeds_capacity = self._figures.exceeds_capacity(agent, executed, tickets)
        if is_far or is_full or is_ineligible or is_late or exceeds_capacity:
            return None
        windows = windows or ((soonest, max(soonest, self._horizon)),)
        return replace(spec, windows=windows, release=0, agents=frozenset({executed.agent}))

    def _next_arrival(self, agent: AgentSpec, executed: ExecutedRoute, place: int | None, target: int) -> int:
        """Return the recorded arrival of an agent at its next visit, or a later one where the way is longer now."""
        left = executed.visits[-1].departure if executed.visits else executed.departed_at
        if not executed.later_breaks:
            return max(executed.arrival, self._figures.arrival(agent, place, target, left))
        resting = sum(break_spec.duration for break_spec in executed.later_breaks)
        return max(executed.arrival, left + self._figures.fastest_travel(agent, place, target) + resting)

    def _place(self, executed: ExecutedRoute) -> int | None:
        last = executed.visits[-1:]
        return self._tickets[last[0].ticket].location if last else self._agents[executed.agent].start

    def _raise_limits(self, executed: ExecutedRoute) -> None:
        """Raise the limits of an agent that its executed visits exceed."""
        agent, tickets = self._agents[executed.agent], [*executed.tickets, *self._figures.undelivered(executed.tickets)]
        end_time, change = self._executed_end(executed), dict[str, Any]()
        if end_time > agent.latest_end:
            change["shift"] = (agent.shift[0], end_time - agent.overtime)
            self._note_raised_limit(executed.agent, "shift_end", self._clock(end_time - agent.overtime))
        if agent.max_duration is not None and end_time - executed.departed_at > agent.max_duration:
            change["max_duration"] = end_time - executed.departed_at
            seconds = figure((end_time - executed.departed_at) / self._problem.scale)
            self._note_raised_limit(executed.agent, "max_duration_s", seconds)
        if self._figures.exceeds_distance(agent, executed, tickets):
            change["max_distance"] = distance = self._figures.distance(agent, executed, tickets)
            self._note_raised_limit(executed.agent, "the distance limit", f"{figure(distance / self._problem.scale)} m")
        if agent.max_stops is not None and len(tickets) > agent.max_stops:
            change["max_stops"] = len(tickets)
            self._note_raised_limit(executed.agent, "max_tickets", str(len(tickets)))
        if self._figures.exceeds_capacity(agent, executed, tickets):
            change["capacity"] = tuple(map(max, agent.capacity, self._figures.peak_load(agent, executed, tickets)))
            self._note_raised_limit(executed.agent, "capacity", "what it carried")
        self._agents[executed.agent] = replace(agent, **change)

    def _executed_end(self, executed: ExecutedRoute) -> int:
        """Return the arrival of an agent at its end if it delivers what is on board and serves nothing else."""
        undelivered = self._figures.undelivered(executed.tickets)
        if executed.end is not None and not executed.is_delayed and not undelivered:
            agent, place = self._agents[executed.agent], self._place(executed)
            return max(
                executed.end, executed.visits[-1].departure + self._figures.fastest_travel(agent, place, agent.end)
            )
        ends = (break_spec.earliest_end for break_spec in executed.later_breaks)
        now = max([executed.visits[-1].departure, *ends])
        now = max(now, self._held_up.get(executed.agent, self._frozen_until)) if undelivered else now
        return self._figures.end_time(self._agents[executed.agent], executed, executed.tickets, now)

    def _note_raised_limit(self, number: int, limit: str, value: str) -> None:
        self._raised.setdefault(limit, {})[number] = f"{value} for {plain(self._agents[number].id, _MAX_NAME)}"

    def _assumption_texts(self) -> Iterator[str]:
        """Yield the assumptions, one sentence for each limit: a large fleet would need hundreds of sentences."""
        for limit, values in self._raised.items():
            yield f"{limit} is set to {named([*values.values()])}: executed visits require it."
        if removed_tickets := [
            plain(ticket, _MAX_NAME) for executed in self._executed.values() for ticket in executed.removed_tickets
        ]:
            positions = "Their agents are planned as if they had not visited them."
            yield f"Begun but removed from the scenario: {named(removed_tickets)}. {positions}"
        if self._set_aside:
            yield f"Windows and agents of {named(self._set_aside)} are set aside: executed visits require it."
        if self._missed:
            yield f"Breaks that have not begun by their latest start are left out: {named(self._missed)}."
        if self._unlocked:
            yield f"{named(self._unlocked)} can no longer be locked."

    def _clock(self, moment: int) -> str:
        """Return the first full minute at or after a time."""
        return clock(-(-moment // (60 * self._problem.scale)) * 60)

    def _lock(self, number: int, done: Sequence[int], *, is_over: bool) -> None:
        """Lock the executed tickets, then as many of the caller's locked tickets as can still follow."""
        agent = self._agents[number]
        still_locked = [ticket for ticket in agent.locked if ticket not in self._taken]
        kept = [] if is_over else list(self._feasible_locks(number, done, still_locked))
        if kept and not self._keeps_limits(number, done, kept):
            counts = range(1, len(kept))
            kept = kept[: bisect_left(counts, True, key=lambda n: not self._keeps_limits(number, done, kept[:n]))]
        if len(kept) < len(still_locked):
            self._unlocked.append(plain(self._tickets[still_locked[len(kept)]].id, _MAX_NAME))
        self._agents[number] = replace(agent, locked=(*done, *kept))

    def _feasible_locks(self, number: int, done: Sequence[int], locked: Sequence[int]) -> Iterator[int]:
        """Yield locked tickets as long as they, and what they pick up, are on time after the executed ones."""
        agent = self._agents[number]
        releases = [] if done or agent.max_reloads else [self._tickets[ticket].release for ticket in locked]
        now, place = max([agent.shift[0], 0 if done else self._frozen_until, *releases]), agent.start
        busy, latest = 0, agent.shift[1]
        for at, ticket in enumerate([*done, *locked]):
            spec, is_ahead = self._tickets[ticket], at >= len(done)
            if is_ahead and not spec.admits(number):
                return
            now = max(now, self._frozen_until) if is_ahead else now
            work = self._figures.fastest_travel(agent, place, spec.location)
            work += spec.setup if at == 0 or place != spec.location else 0
            ready, busy = now + work, busy + work
            start = spec.start_from(ready)
            if start is None and is_ahead:
                return
            latest = min([latest, *(closes - busy for _, closes in spec.windows[-1:])])
            now, place, busy = (ready if start is None else start) + spec.service, spec.location, busy + spec.service
            if is_ahead:
                home = self._figures.fastest_travel(agent, place, agent.end)
                if now + home > agent.latest_end:
                    return
                left_at = self._executed[number].departed_at if done else min(latest, now - busy)
                if agent.max_duration is not None and now + home - left_at > agent.max_duration:
                    return
                if self._figures.late_deliveries(agent, place, now, self._figures.undelivered([ticket])):
                    return
                yield ticket

    def _keeps_limits(self, number: int, done: Sequence[int], locked: Sequence[int]) -> bool:
        """Return whether an agent may serve locked tickets after the executed ones, whatever the hour."""
        agent, executed, tickets = self._agents[number], self._executed.get(number), [*done, *locked]
        tickets += self._figures.undelivered(tickets)
        here, ahead = {*tickets}, {*tickets}.difference(done)
        groups = (set(group.tickets) for group in self._problem.groups if group.kind is GroupKind.ONE_OF)
        is_replaced = any(group & ahead and len(group & (ahead | self._taken)) > 1 for group in groups)
        is_apart = any(here.issuperset(pair) and not ahead.isdisjoint(pair) for pair in self._problem.incompatible)
        is_full = agent.max_stops is not None and len(tickets) > agent.max_stops
        is_far = self._figures.exceeds_distance(agent, executed, tickets)
        if is_replaced or is_apart or is_full or is_far:
            return False
        if agent.max_reloads:  # it may load again between them
            loads = (self._tickets[ticket].demand for ticket in ahead)
            return all(all(map(int.__le__, load, agent.capacity)) for load in loads)
        alone = [self._tickets[ticket].load for ticket in (*done, *locked) if ticket not in self._problem.partner_of]
        if self._problem.backhaul and (LoadKind.PICKUP, LoadKind.DELIVERY) in pairwise(alone):
            return False
        departed_at = executed.departed_at if done and executed is not None else self._horizon
        is_unreleased = any(self._tickets[ticket].release > departed_at for ticket in ahead)
        return not is_unreleased and not self._figures.exceeds_capacity(agent, executed, tickets)
