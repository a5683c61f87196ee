"""The smallest changes of a day that let a plan serve a ticket it leaves out, each proved (SPEC T5).

Owns the choice and the proof. A fix is a patch of the scenario (`day/patch.py`). It is proved by construction: the
patched day passes every check; the plan that stands, with the ticket inserted where the fix makes room, passes the
independent verifier on that day; and there it costs less than leaving the ticket out, prices and span counted. No
search is needed and none is claimed: one that moves others may find smaller changes, or better use of the room.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final

from planner_mcp.errors import InputError
from planner_mcp.text import figure
from planner_mcp.vrp.advice.fits import Limit, Obstacle, is_closed, obstacles, obstacles_instead_of_waiting
from planner_mcp.vrp.advice.insertion import Trial, Until, bundled, halves, trials, with_route, with_tickets
from planner_mcp.vrp.advice.remedies import Remedy, raised, remedy
from planner_mcp.vrp.checks.sizes import MAX_AGENTS
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.compile.held import bound
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.patch import merge, revise
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.layout.schedule import candidate_of, lay_out, price, running
from planner_mcp.vrp.problem import Candidate, Problem, Route
from planner_mcp.vrp.proof.verify import verify
from planner_mcp.vrp.scenario import read_stored

Json = dict[str, Any]
MAX_OBSTACLES: Final = 2
"""Limits that one fix may change; with more it is no small change any longer."""
NOTHING: Final = "NONE"
ADD_AGENT: Final = "ADD_AGENT"
PENALTY: Final = "PENALTY"
KINDS: Final[dict[str, str]] = {
    NOTHING: "Nothing need change: the ticket fits as it is, or with one more reload.",
    Limit.WINDOW: "Close a time window later.",
    Limit.SHIFT: "End a shift later.",
    Limit.CAPACITY: "Raise an agent's capacity in one dimension.",
    Limit.MAX_DURATION: "Raise an agent's max_duration_s.",
    Limit.MAX_DISTANCE: "Raise an agent's limit of distance.",
    Limit.MAX_TICKETS: "Raise an agent's max_tickets.",
    Limit.NOT_ALLOWED: "Give an agent the skill it lacks, or let the ticket name it.",
    ADD_AGENT: "Add an agent like one there is.",
    PENALTY: "Raise the price of leaving the ticket, or its one_of group, out: alone or beside another change.",
}
"""What a fix may change."""
STRANGER: Final = 2.0
"""Weight added where a promise to another customer would be changed; an hour counts as 1."""
Step = tuple[str, Remedy]
"""A kind of change, and the change."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One proved way to serve a ticket."""

    ticket_id: str
    kinds: tuple[str, ...]
    """What is changed, of `KINDS`."""
    agent_id: str
    """Who would serve it."""
    changes: tuple[str, ...]
    """The same in words, with the values."""
    patch: Json
    """For `revise_scenario` or `resolve_vrp`; empty where nothing need change."""
    cost_delta: float
    """What routes and span would cost more, in the caller's currency."""

    @property
    def change(self) -> str:
        """All changes in words."""
        return "; ".join(self.changes)


class Bench:
    """A stored plan on its day, ready for trials.

    Args:
        body: The scenario as stored.
        plan: As `Plan.as_json()`.
        tables: The travel it refers to.
    """

    def __init__(self, body: Json, plan: Mapping[str, Any], tables: Tables | None = None) -> None:
        self.body = body
        self._tables = tables
        self._scenario = read_stored(body, tables)
        self.problem = compile_scenario(self._scenario)
        self.candidate = candidate_of(self.problem, plan)
        self.index = {ticket.id: number for number, ticket in enumerate(self.problem.tickets)}
        self._eligible = Eligible(self._scenario)
        self._bound = bound(self._scenario)
        routes = () if self._scenario.held is None else self._scenario.held.routes
        self._over = {route.agent for route in routes if route.end_s is not None}

    def closest(self, ticket: int, until: Until) -> list[Trial]:
        """Return the best trial of each agent, the nearest to fitting first; the rest of its group is in already."""
        best: dict[int, Trial] = {}
        if (base := self._with_companions(ticket, until)) is None:
            return []
        for trial in self._trials(base, ticket, until):
            known = best.get(trial.route.agent)
            if known is None or trial.effort < known.effort:
                best[trial.route.agent] = trial
        return sorted(best.values(), key=lambda trial: trial.effort)

    def fixes(self, ticket: int, until: Until, *, most: int = 3, max_agents: int = MAX_AGENTS) -> list[Fix]:
        """Return proved fixes, the smallest of each kind, smallest first; fewer where the time is up.

        Args:
            ticket: One that the plan leaves out.
            until: Tells when the time is up.
            most: Fixes looked for that change what there is.
            max_agents: Agents the deployment lets in; where the day has as many, none is added.
        """
        found: list[Fix] = []
        if (base := self._with_companions(ticket, until)) is None:
            return []
        for trial in self._smallest(base, ticket, until):
            if (fix := self._fix(base, ticket, trial)) is not None:
                found.append(fix)
            if until() or len(found) == most or (fix is not None and fix.kinds == (NOTHING,)):
                return found
        is_full = len(self.body["agents"]) >= max_agents
        newcomer = None if is_full else self._with_another_agent(ticket, until)
        return found if newcomer is None else [*found, newcomer]

    def _with_companions(self, ticket: int, until: Until) -> Candidate | None:
        """Return the plan with the rest of a ticket's all-or-none group, which may not fit yet; None if time is up."""
        return with_tickets(self.problem, self.candidate, _companions(self.problem, ticket), until=until)

    def _smallest(self, base: Candidate, ticket: int, until: Until) -> list[Trial]:
        """Return the nearest trial for each set of limits that one fix may change."""
        best: dict[tuple[Limit, ...], Trial] = {}
        for trial in self._trials(base, ticket, until):
            if len(trial.obstacles) > MAX_OBSTACLES:
                continue
            known = best.get(trial.limits)
            if known is None or _weight(ticket, trial) < _weight(ticket, known):
                best[trial.limits] = trial
        return sorted(best.values(), key=lambda trial: _weight(ticket, trial))

    def _trials(self, base: Candidate, ticket: int, until: Until) -> Iterator[Trial]:
        """Yield every way to insert a ticket, with what is held told apart from what the caller wrote.

        One that waits for a later window of the ticket comes again, with what stands in the way of not waiting.
        """
        choosy = [half for half in halves(self.problem, ticket) if len(self.problem.tickets[half].windows) > 1]
        for trial in trials(self.problem, base, ticket, until=until):
            yield self._with(trial, trial.obstacles)
            for half in choosy if trial.obstacles else ():
                if hasty := obstacles_instead_of_waiting(self.problem, trial.route, half):
                    yield self._with(trial, hasty)

    def _with(self, trial: Trial, found: Iterable[Obstacle]) -> Trial:
        """Return a trial with what stands in its way; its cost, which tells trials as near apart, stays."""
        return replace(trial, obstacles=tuple(self._as_held(trial.route.agent, found)))

    def _as_held(self, agent: int, found: Iterable[Obstacle]) -> Iterator[Obstacle]:
        """Yield the obstacles of a route; those that only `compile/held.py` laid on the day by names of their own."""
        if self._scenario.held is None:
            yield from found
            return
        for each in found:
            if each.limit is Limit.MAX_TICKETS and self.problem.agents[agent].id in self._over:
                yield replace(each, limit=Limit.ROUTE_OVER)
            elif each.limit is Limit.NOT_ALLOWED and self._eligible.may(agent, self._scenario.tickets[each.index]):
                if not self._is_only_closed(agent, each.index):
                    yield replace(each, limit=Limit.KEPT_ELSEWHERE)
            else:
                yield each

    def _is_only_closed(self, agent: int, ticket: int) -> bool:
        """Return whether nothing but the hour bars an agent from a ticket: its window is an obstacle by itself."""
        is_open_to = self._eligible.may(agent, self._bound.tickets[ticket])
        return is_open_to and is_closed(self.problem, self.problem.tickets[ticket])

    def _fix(self, base: Candidate, ticket: int, trial: Trial) -> Fix | None:
        candidate = with_route(base, trial.route)
        driven = [route for route in candidate.routes if route not in self.candidate.routes]
        broken = [(route.agent, each) for route in driven for each in self._broken(trial, route)]
        if len(broken) > MAX_OBSTACLES:
            return None
        steps: list[Step] = []
        body = self.body
        for agent, obstacle in broken:
            if (change := remedy(body, self.problem, agent, obstacle)) is None:
                return None
            if not change.words:  # the proof tells whether the other changes lift it
                continue
            steps.append((obstacle.limit.value, change))
            body = revise(body, change.patch)
        steps = steps or [(NOTHING, Remedy(self._as_it_fits(trial.route), {}))]
        return self._proved(ticket, self.problem.agents[trial.route.agent].id, candidate, steps)

    def _broken(self, trial: Trial, route: Route) -> Iterable[Obstacle]:
        """Return the obstacles of a route of the plan with a trial in it."""
        is_tried = route == trial.route
        return trial.obstacles if is_tried else self._as_held(route.agent, obstacles(self.problem, route))

    def _as_it_fits(self, route: Route) -> str:
        standing = (each for each in self.candidate.routes if each.agent == route.agent)
        is_longer = route.reloads > sum(each.reloads for each in standing)
        how = "with one more reload" if is_longer else "as it is"
        return f"fits into the route of {self.problem.agents[route.agent].id} {how}"

    def _with_another_agent(self, ticket: int, until: Until) -> Fix | None:
        """Return the fix of one more agent like the cheapest that could serve the ticket with nothing else to do."""
        models = [number for number, entry in enumerate(self.body["agents"]) if _can_be_copied(entry)]
        ways = trials(self._unlocked(), Candidate(()), ticket, until=until)
        alone = (trial for trial in ways if not trial.obstacles and trial.route.agent in models)
        best = min(alone, key=lambda trial: trial.cost, default=None)
        if best is None:
            return None
        like = self.problem.agents[best.route.agent].id
        wards = [half for each in bundled(self.problem, ticket) for half in halves(self.problem, each)]
        patch = _newcomer(self.body, like, [self.problem.tickets[ward].id for ward in wards])
        (name,) = patch["agents"]
        problem = self._patched(patch)
        if problem is None:
            return None
        started = with_route(self.candidate, replace(best.route, agent=len(self.problem.agents)))
        candidate = with_tickets(problem, started, _companions(problem, ticket), until=until)
        if candidate is None:
            return None
        return self._proved(ticket, name, candidate, [(ADD_AGENT, Remedy(f"add one agent like {like}", patch))])

    def _unlocked(self) -> Problem:
        """Return the day as it would be for agents that have done nothing yet and have nothing locked."""
        if not any(agent.locked for agent in self.problem.agents):
            return self.problem
        agents = [{**agent, "locked_tickets": []} for agent in self.body["agents"]]
        held = self.body.get("held")
        body = {**self.body, "agents": agents, "held": held and {**held, "routes": []}}
        return compile_scenario(read_stored(body, self._tables))

    def _proved(self, ticket: int, agent_id: str, candidate: Candidate, steps: Sequence[Step]) -> Fix | None:
        """Return the fix, the ticket's price raised where it is too low; None where a check or the verifier refuses."""
        kinds, changes = zip(*steps, strict=True)
        patch = reduce(merge, (change.patch for change in changes), Json())
        problem = self._patched(patch)
        if problem is None or verify(problem, lay_out(problem, candidate)):
            return None
        short = price(problem, candidate) - price(problem, self.candidate)
        if short < 0:
            delta = (running(problem, candidate) - running(problem, self.candidate)) / problem.cost_scale
            return Fix(problem.tickets[ticket].id, kinds, agent_id, tuple(each.words for each in changes), patch, delta)
        if PENALTY in kinds or not problem.tickets[ticket].is_priced:
            return None
        more = (PENALTY, raised(self.body, problem, ticket, short))
        return self._proved(ticket, agent_id, candidate, [*(step for step in steps if step[0] != NOTHING), more])

    def _patched(self, patch: Json) -> Problem | None:
        """Return the patched day, or None where a check refuses it."""
        if not patch:
            return self.problem
        try:
            return compile_scenario(read_stored(revise(self.body, patch), self._tables))
        except InputError:
            return None


def told(problem: Problem, obstacle: Obstacle) -> str:
    """Return an obstacle as a code with its amount: `TIME_WINDOW 25 min late at t-7`."""
    match obstacle.limit:
        case Limit.WINDOW:
            amount = f"{_minutes(problem, obstacle)} min late at {problem.tickets[obstacle.index].id}"
        case Limit.SHIFT | Limit.MAX_DURATION:
            amount = f"{_minutes(problem, obstacle)} min over"
        case Limit.MAX_DISTANCE:
            amount = f"{math.ceil(obstacle.short / problem.scale)} m over"
        case Limit.MAX_TICKETS:
            amount = f"{obstacle.short} over"
        case Limit.CAPACITY:
            amount = f"{problem.dimensions[obstacle.index]} {figure(obstacle.short / problem.amount_scale)} short"
        case _:
            amount = ""
    return f"{obstacle.limit.value} {amount}".rstrip()


def _minutes(problem: Problem, obstacle: Obstacle) -> int:
    return math.ceil(obstacle.short / problem.scale / 60)


def _weight(ticket: int, trial: Trial) -> tuple[float, int]:
    strangers = sum(each.limit is Limit.WINDOW and each.index != ticket for each in trial.obstacles)
    share, cost = trial.effort
    return share + STRANGER * strangers, cost


def _companions(problem: Problem, ticket: int) -> list[int]:
    """Return the rest of what a ticket stands and falls with, one of each shipment."""
    return [each for each in bundled(problem, ticket) if ticket not in halves(problem, each)]


def _can_be_copied(agent: Json) -> bool:
    """Return whether a patch can add an agent like this one: it has no null, which a patch takes away."""
    return all(agent.get(end, "depot") is not None for end in ("start_location", "end_location"))


def _newcomer(body: Json, like: str, wards: Sequence[str]) -> Json:
    """Return the patch that adds a copy of an agent, allowed to serve some tickets as the original is."""
    taken = {agent["id"] for agent in body["agents"]}
    name = next(name for name in _names(like) if name not in taken)
    (model,) = (agent for agent in body["agents"] if agent["id"] == like)
    personal = {"id", "name", "phone", "locked_tickets"}
    patch: Json = {"agents": {name: {key: value for key, value in model.items() if key not in personal}}}
    named = (entry for entry in body["tickets"] if entry["id"] in wards and entry.get("agents") is not None)
    if tickets := {entry["id"]: {"agents": [*entry["agents"], name]} for entry in named}:
        patch["tickets"] = tickets
    return patch


def _names(like: str) -> Iterator[str]:
    number = 2
    while True:
        yield f"{like[:90]}-{number}"
        number += 1
