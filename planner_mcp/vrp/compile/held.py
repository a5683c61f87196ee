"""Lays what is held of an earlier plan on a compiled day (SPEC T5, S1 locks).

Owns what the hour `held.until_s` means in integers. What an agent has begun is locked first, at its recorded times; the
visit it is driving to is locked behind that. An agent standing at a stop stays there until the hour; one that has not
set out leaves then at the earliest. An agent driving to its end, or there, serves nothing more, save what it still has
on board. So nothing else begins before the hour, and a ticket that nobody can reach any more is left out like any other
out of reach.

The past always stands: a limit of the day that it breaks is raised to fit, and an assumption of the plan says so. What
is still ahead is held only as far as the day allows. The caller's day itself is never changed: a patch applies to what
the caller wrote, and the past is laid on the result anew.

Departures from exactness: on a day with rush hours the way home counts at the slowest pace, and the past counts as
possible where it would be at the quickest. Reloads are not held, so capacity is not raised where there are any.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from planner_mcp.text import clock, figure, named, plain
from planner_mcp.vrp.compile.held_route import RouteFigures
from planner_mcp.vrp.compile.past import Done, Past, pasts
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Held, Scenario, Ticket
from planner_mcp.vrp.problem import AgentSpec, Problem, TicketSpec

_MAX_NAME: Final = 40
"""Characters of an id in a sentence of several."""


def bound(scenario: Scenario) -> Scenario:
    """Return the day with tickets bound to the agents that `held` names, where these exist and may serve them.

    A ticket has one price for a change of agent: what the caller wrote for the same agent is added to that of `held`,
    and what the caller wrote for another agent stands alone.
    """
    if (held := scenario.held) is None or not (held.stay or held.prefer):
        return scenario
    eligible = Eligible(scenario)
    number = {agent.id: index for index, agent in enumerate(scenario.agents)}

    def known(ticket: Ticket, agent: str | None) -> bool:
        return agent in number and eligible.may(number[agent], ticket)

    def tied(ticket: Ticket) -> Ticket:
        change: dict[str, object] = {}
        if known(ticket, keeper := held.stay.get(ticket.id)):
            change["agents"] = (keeper,)
        liked = held.prefer.get(ticket.id)
        if known(ticket, liked) and not is_priced_elsewhere(ticket, liked):
            own = ticket.switch_cost if ticket.preferred_agent == liked else 0.0
            change |= {"preferred_agent": liked, "switch_cost": own + held.switch_cost}
        return ticket.model_copy(update=change) if change else ticket

    tickets = tuple(tied(ticket) for ticket in scenario.tickets)
    return scenario.model_copy(update={"tickets": tickets}).with_tables(scenario.tables)


def is_priced_elsewhere(ticket: Ticket, agent: str | None) -> bool:
    """Return whether the caller priced service of a ticket by another than an agent, and meant a third one."""
    return ticket.switch_cost > 0 and ticket.preferred_agent not in (None, agent)


def lay(problem: Problem, held: Held | None, horizon: int) -> Problem:
    """Return the problem with what has happened until the hour of `held`; features are left to the compiler.

    Args:
        problem: The day as the caller wrote it.
        held: What is held; without an hour nothing is laid.
        horizon: A time by which any sensible day is over.
    """
    return problem if held is None or not held.until_s else _Layer(problem, held, horizon).laid()


class _Layer:
    """One day under construction."""

    def __init__(self, problem: Problem, held: Held, horizon: int) -> None:
        self._day = problem
        self._horizon = horizon
        self._since = round(held.until_s * problem.scale)
        self._agents = list(problem.agents)
        self._tickets = list(problem.tickets)
        self._raised: dict[str, list[str]] = {}
        self._unlocked: list[str] = []
        self._figures = RouteFigures(problem, self._tickets, self._since)
        self._pasts = pasts(problem, held)
        self._taken = {visit.ticket for past in self._pasts.values() for visit in past.visits}
        self._taken |= {past.next for past in self._pasts.values() if past.next is not None}

    def laid(self) -> Problem:
        """Return the day with all pasts laid on it."""
        owners: dict[int, int] = {}
        for number in range(len(self._agents)):
            past = self._pasts.get(number)
            done = [] if past is None else self._go_on(number, past)
            if not done:
                self._wait(number)
            owners.update(dict.fromkeys(done, number))
            self._lock(number, done, is_over=past is not None and past.end is not None)
        hour, notes = f"It is {clock(self._since / self._day.scale)}: nothing new begins before.", tuple(self._said())
        apart = (pair for pair in self._day.incompatible if owners.get(pair[0], -1) != owners.get(pair[1], -2))
        return replace(
            self._day,
            agents=tuple(self._agents),
            tickets=tuple(spec if n in owners else self._ahead_of_all(spec) for n, spec in enumerate(self._tickets)),
            incompatible=frozenset(apart),
            since=self._since,
            assumptions=(*self._day.assumptions, hour, *notes),
            past_notes=notes,
        )

    def _ahead_of_all(self, spec: TicketSpec) -> TicketSpec:
        """Return a ticket from the hour on: in no time it would fit between a visit and the rest begun after it."""
        if spec.service or not any(past.after for past in self._pasts.values()):
            return spec
        if spec.windows and spec.windows[-1][1] < self._since:
            return replace(spec, agents=frozenset())
        windows = spec.windows or ((0, max(self._since, self._horizon)),)
        ahead = tuple((max(opens, self._since), closes) for opens, closes in windows if closes >= self._since)
        return replace(spec, windows=ahead)

    def _wait(self, number: int) -> None:
        """Let an agent that is not out set out at the hour; its breaks so far it has had, or has yet."""
        agent = self._agents[number]
        opens = max(agent.shift[0], self._since)
        if agent.shift[1] < opens:
            self._agents[number] = replace(agent, shift=(opens, opens), overtime=0)
        else:
            self._agents[number] = replace(agent, shift=(opens, agent.shift[1]))

    def _go_on(self, number: int, past: Past) -> list[int]:
        """Lay a past on an agent; return the tickets to lock, an empty list where it sets out anew."""
        if past.visits:
            self._settle(number, past)
            self._raise(number, past)
        ahead = past.next
        if ahead is not None and (spec := self._on_its_way(number, past, ahead)) is not None:
            self._tickets[ahead] = spec
        else:
            ahead = None
            if not past.visits:
                return []
            if past.end is None:
                self._stand(number, past)
        agent, aboard = self._agents[number], self._figures.aboard(past.tickets)
        if past.left < agent.shift[0]:
            self._say(number, "shift_start", self._clock(past.left))
        self._agents[number] = replace(
            agent,
            shift=(min(agent.shift[0], past.left), agent.shift[1]),
            breaks=(*past.rests, *self._figures.ahead(agent, past)),
            max_stops=agent.max_stops if past.end is None else len(past.visits) + len(aboard),
        )
        for visit in past.visits:
            self._tickets[visit.ticket] = self._pinned(number, past, visit)
        return past.tickets if ahead is None else [*past.tickets, ahead]

    def _pinned(self, number: int, past: Past, visit: Done) -> TicketSpec:
        is_vague = past.has_slipped and (self._day.rushes or self._agents[number].max_reloads)
        closes = max(self._horizon, visit.start) if is_vague else visit.start
        return replace(
            self._tickets[visit.ticket],
            windows=((visit.start, closes),),
            setup=0,
            service=visit.leave - visit.start,
            release=0,
            agents=frozenset({number}),
        )

    def _settle(self, number: int, past: Past) -> None:
        """Delay visits and rests where the changed day takes longer, and settle when the last visit is over."""
        agent = self._agents[number]
        now, place = past.left, agent.start
        for visit in past.visits:
            spec = self._tickets[visit.ticket]
            way = self._figures.quickest(agent, place, spec.location)
            for at, rest in enumerate(visit.rests):
                begun = max(now, rest.window[0])
                way, now = max(0, way - (begun - now)), begun + rest.duration
                visit.rests[at] = replace(rest, window=(begun, begun))
            start = max(visit.start, now + way)
            past.has_slipped |= start > visit.start
            visit.start, visit.leave = start, visit.leave + start - visit.start
            now, place = visit.leave, spec.location
        for at, rest in enumerate(past.after):
            begun = max(now, rest.window[0])
            past.after[at], now = replace(rest, window=(begun, begun)), begun + rest.duration
        last = past.visits[-1]
        if last.leave >= self._since:
            last.leave = max(self._since, last.start + self._tickets[last.ticket].service)

    def _stand(self, number: int, past: Past) -> None:
        """Keep an agent at its last visit until the hour; if its limits leave no time after that, its route is over."""
        agent, last = self._agents[number], past.visits[-1]
        ends = self._figures.ends(agent, past, past.tickets, max(last.leave, self._since))
        if self._is_beyond(agent, ends, past.left):
            past.end = last.leave
            return
        last.leave = past.after[0].window[0] if past.after else max(last.leave, self._since)
        begins = [rest.window[0] for rest in past.after[1:]]
        for at, (rest, until) in enumerate(zip(past.after, [*begins, self._since], strict=False)):
            past.after[at] = replace(rest, duration=max(rest.duration, until - rest.window[0]))

    def _is_beyond(self, agent: AgentSpec, ends: int, left: int) -> bool:
        is_long = agent.max_duration is not None and ends - left > agent.max_duration
        return is_long or ends > agent.shift[1] + agent.overtime

    def _on_its_way(self, number: int, past: Past, ticket: int) -> TicketSpec | None:
        """Return the visit an agent is driving to, no earlier than it can be there; None if the day forbids it."""
        agent, spec = self._agents[number], self._tickets[ticket]
        place = self._place(number, past)
        soonest = past.arrival + (spec.setup if place != spec.location or not past.visits else 0)
        soonest = max(soonest, self._since)
        windows = tuple((max(opens, soonest), closes) for opens, closes in spec.windows if closes >= soonest)
        if spec.windows and not windows:
            return None
        start = windows[0][0] if windows else soonest
        tickets = [*past.tickets, ticket]
        ends = self._figures.ends(agent, past, tickets, start + spec.service)
        tickets += self._figures.aboard(tickets)
        is_far = agent.max_distance is not None and self._figures.metres(agent, tickets) > agent.max_distance
        is_full = agent.max_stops is not None and len(tickets) > agent.max_stops
        is_strange = spec.agents is not None and number not in spec.agents
        is_late, is_short = self._is_beyond(agent, ends, past.left), self._figures.is_short(agent, tickets)
        if is_far or is_full or is_strange or is_late or is_short:
            return None
        windows = windows or ((soonest, max(soonest, self._horizon)),)
        return replace(spec, windows=windows, release=0, agents=frozenset({number}))

    def _place(self, number: int, past: Past) -> int | None:
        return self._tickets[past.visits[-1].ticket].location if past.visits else self._agents[number].start

    def _raise(self, number: int, past: Past) -> None:
        """Give an agent the hours, the way and the room that what it has done took."""
        agent, tickets = self._agents[number], [*past.tickets, *self._figures.aboard(past.tickets)]
        ends, change = self._past_end(number, past), dict[str, Any]()
        if ends > agent.shift[1] + agent.overtime:
            change["shift"] = (agent.shift[0], ends - agent.overtime)
            self._say(number, "shift_end", self._clock(ends - agent.overtime))
        if agent.max_duration is not None and ends - past.left > agent.max_duration:
            change["max_duration"] = ends - past.left
            self._say(number, "max_duration_s", f"{figure((ends - past.left) / self._day.scale)}")
        if agent.max_distance is not None and (metres := self._figures.metres(agent, tickets)) > agent.max_distance:
            change["max_distance"] = metres
            self._say(number, "the distance limit", f"{figure(metres / self._day.scale)} m")
        if agent.max_stops is not None and len(tickets) > agent.max_stops:
            change["max_stops"] = len(tickets)
            self._say(number, "max_tickets", str(len(tickets)))
        if self._figures.is_short(agent, tickets):
            change["capacity"] = tuple(map(max, agent.capacity, self._figures.peak(tickets)))
            self._say(number, "capacity", "what it carried")
        self._agents[number] = replace(agent, **change)

    def _past_end(self, number: int, past: Past) -> int:
        """Return when an agent would be at its end if it only delivered what it has on board."""
        aboard = self._figures.aboard(past.tickets)
        if past.end is not None and not past.has_slipped and not aboard:
            return past.end
        now = max([past.visits[-1].leave, *(rest.window[0] + rest.duration for rest in past.after)])
        now = max(now, self._since) if aboard else now
        return self._figures.ends(self._agents[number], past, past.tickets, now)

    def _say(self, number: int, limit: str, value: str) -> None:
        self._raised.setdefault(limit, []).append(f"{value} for {plain(self._agents[number].id, _MAX_NAME)}")

    def _said(self) -> Iterator[str]:
        """Yield what is assumed, a sentence for each limit: of a fleet that is out there are hundreds to name."""
        for limit, values in self._raised.items():
            yield f"{limit} counts as {named(values)}: what has been done needs it."
        if lost := [plain(ticket, _MAX_NAME) for past in self._pasts.values() for ticket in past.lost]:
            been = "Whoever began them is planned as if never there."
            yield f"Begun and no longer of the day: {named(lost)}. {been}"
        if self._unlocked:
            yield f"{named(self._unlocked)} can be locked no longer."

    def _clock(self, moment: int) -> str:
        """Return the first whole minute that is not before a moment."""
        return clock(-(-moment // (60 * self._day.scale)) * 60)

    def _lock(self, number: int, done: Sequence[int], *, is_over: bool) -> None:
        """Lock what is done, then of what the caller locked as much as can still follow."""
        agent = self._agents[number]
        rest = [ticket for ticket in agent.locked if ticket not in self._taken]
        kept = [] if is_over else list(self._following(number, done, rest))
        if len(kept) < len(rest):
            self._unlocked.append(plain(self._tickets[rest[len(kept)]].id, _MAX_NAME))
        self._agents[number] = replace(agent, locked=(*done, *kept))

    def _following(self, number: int, done: Sequence[int], locked: Sequence[int]) -> Iterator[int]:
        """Yield locked tickets while they can follow what is done in time."""
        agent = self._agents[number]
        now, place = max(agent.shift[0], 0 if done else self._since), agent.start
        for at, ticket in enumerate([*done, *locked]):
            spec = self._tickets[ticket]
            now = max(now, self._since) if at >= len(done) else now
            ready = now + self._figures.quickest(agent, place, spec.location)
            ready += spec.setup if at == 0 or place != spec.location else 0
            start = next((max(ready, o) for o, c in spec.windows if c >= ready), None if spec.windows else ready)
            if start is None and at >= len(done):
                return
            now, place = (ready if start is None else start) + spec.service, spec.location
            if at >= len(done):
                if now + self._figures.quickest(agent, place, agent.end) > agent.shift[1] + agent.overtime:
                    return
                yield ticket
