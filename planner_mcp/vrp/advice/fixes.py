"""The smallest changes of a day that let a plan serve a ticket it leaves out, each proved (SPEC T5).

Owns the choice and the proof. A fix is a patch of the scenario (`day/patch.py`). It is proved by construction: the
patched day passes every check, and the plan that stands, with the ticket inserted where the fix makes room, passes the
independent verifier on that day. No search is needed and none is claimed: smaller changes may exist where other tickets
may move, which a warm solve of the patched day would find.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from planner_mcp.errors import InputError
from planner_mcp.vrp.advice.fits import Limit, Obstacle, reloads_of, tickets_of
from planner_mcp.vrp.advice.insertion import Trial, Until, trials, with_route
from planner_mcp.vrp.advice.remedies import remedy
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.patch import revise
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.layout.schedule import candidate_of, lay_out
from planner_mcp.vrp.plan import Plan
from planner_mcp.vrp.problem import Candidate, Problem, Route
from planner_mcp.vrp.proof.verify import verify
from planner_mcp.vrp.scenario import parse_scenario

Json = dict[str, Any]
MAX_OBSTACLES: Final = 2
"""Limits that one fix may change; with more it is no small change any longer."""
STRANGER: Final = 2.0
"""Weight added where a promise to another customer would be changed; an hour counts as 1."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One proved way to serve a ticket."""

    ticket_id: str
    kinds: tuple[str, ...]
    """What is changed: limits of `advice/fits.py`, `NONE`, `PENALTY` or `ADD_AGENT`."""
    agent_id: str
    """Who would serve it."""
    change: str
    """In words, with the values."""
    patch: Json
    """For `revise_scenario` or `resolve_vrp`; empty where nothing need change."""
    cost_delta: float
    """What the routes would cost more, in the caller's currency."""


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
        self.problem = compile_scenario(parse_scenario(body, tables=tables))
        self.candidate = candidate_of(self.problem, plan)
        self.index = {ticket.id: number for number, ticket in enumerate(self.problem.tickets)}
        self._served = {ticket for route in self.candidate.routes for ticket in tickets_of(route)}
        self._cost = _route_costs(lay_out(self.problem, self.candidate))

    def closest(self, ticket: int, until: Until) -> list[Trial]:
        """Return the best trial of each agent, the nearest to fitting first."""
        best: dict[int, Trial] = {}
        for trial in trials(self.problem, self.candidate, ticket, until=until):
            known = best.get(trial.route.agent)
            if known is None or trial.effort < known.effort:
                best[trial.route.agent] = trial
        return sorted(best.values(), key=lambda trial: trial.effort)

    def fixes(self, ticket: int, until: Until, *, most: int = 3) -> list[Fix]:
        """Return proved fixes, the smallest of each kind, smallest first; fewer where the time is up."""
        found: list[Fix] = []
        for trial in self._smallest(ticket, until):
            if (fix := self._fix(ticket, trial)) is not None:
                found.append(fix)
            if until() or len(found) == most or (fix is not None and fix.kinds == ("NONE",)):
                return found
        newcomer = self._with_another_agent(ticket, until)
        return found if newcomer is None else [*found, newcomer]

    def _smallest(self, ticket: int, until: Until) -> list[Trial]:
        """Return the nearest trial for each set of limits that one fix may change."""
        best: dict[tuple[Limit, ...], Trial] = {}
        for trial in trials(self.problem, self.candidate, ticket, until=until):
            if len(trial.obstacles) > MAX_OBSTACLES:
                continue
            known = best.get(trial.limits)
            if known is None or _weight(ticket, trial) < _weight(ticket, known):
                best[trial.limits] = trial
        return sorted(best.values(), key=lambda trial: _weight(ticket, trial))

    def _fix(self, ticket: int, trial: Trial) -> Fix | None:
        spec, agent = self.problem.tickets[ticket], self.problem.agents[trial.route.agent]
        changes = [remedy(self.body, self.problem, trial.route.agent, each) for each in trial.obstacles]
        if None in changes:
            return None
        told = [change for change in changes if change is not None]
        patch = _joined([change.patch for change in told])
        plan = self._proved(patch, with_route(self.candidate, trial.route))
        if plan is None:
            return None
        delta = _route_costs(plan) - self._cost
        kinds = tuple(each.limit.value for each in trial.obstacles) or ("NONE",)
        words = "; ".join(change.words for change in told) or self._as_it_fits(trial.route)
        price = spec.penalty / self.problem.cost_scale
        if spec.is_priced and delta > price:
            raised = math.ceil(delta + 1)
            patch = _joined([patch, {"tickets": {spec.id: {"penalty": raised}}}])
            words = f"{words}; raise its penalty above {delta:g}" if told else f"raise its penalty to {raised}"
            kinds = ("PENALTY",) if kinds == ("NONE",) else (*kinds, "PENALTY")
        return Fix(spec.id, kinds, agent.id, words, patch, delta)

    def _as_it_fits(self, route: Route) -> str:
        standing = (each for each in self.candidate.routes if each.agent == route.agent)
        is_longer = reloads_of(route) > sum(map(reloads_of, standing))
        how = "with one more reload" if is_longer else "as it is"
        return f"fits into the route of {self.problem.agents[route.agent].id} {how}"

    def _with_another_agent(self, ticket: int, until: Until) -> Fix | None:
        """Return the fix of one more agent like the cheapest that could serve the ticket with nothing else to do."""
        spec = self.problem.tickets[ticket]
        free = [number for number, agent in enumerate(self.problem.agents) if not agent.locked]
        alone = (trial for trial in trials(self.problem, Candidate(()), ticket, until=until) if not trial.obstacles)
        best = min((t for t in alone if t.route.agent in free), key=lambda trial: trial.cost, default=None)
        if best is None:
            return None
        like = self.problem.agents[best.route.agent].id
        patch = _newcomer(self.body, like, spec.id)
        (name,) = patch["agents"]
        route = replace(best.route, agent=len(self.problem.agents))
        plan = self._proved(patch, with_route(self.candidate, route))
        if plan is None:
            return None
        words = f"add one agent like {like}"
        return Fix(spec.id, ("ADD_AGENT",), name, words, patch, _route_costs(plan) - self._cost)

    def _proved(self, patch: Json, candidate: Candidate) -> Plan | None:
        """Return the plan on the patched day, or None where a check or the verifier refuses it."""
        problem = self.problem
        if patch:
            try:
                problem = compile_scenario(parse_scenario(revise(self.body, patch), tables=self._tables))
            except InputError:
                return None
        plan = lay_out(problem, candidate)
        return None if verify(problem, plan) else plan


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
            amount = f"{problem.dimensions[obstacle.index]} {obstacle.short / problem.amount_scale:g} short"
        case _:
            amount = ""
    return f"{obstacle.limit.value} {amount}".rstrip()


def _minutes(problem: Problem, obstacle: Obstacle) -> int:
    return math.ceil(obstacle.short / problem.scale / 60)


def _weight(ticket: int, trial: Trial) -> tuple[float, int]:
    strangers = sum(each.limit is Limit.WINDOW and each.index != ticket for each in trial.obstacles)
    share, cost = trial.effort
    return share + STRANGER * strangers, cost


def _route_costs(plan: Plan) -> float:
    return sum(route.cost for route in plan.routes)


def _joined(patches: list[Json]) -> Json:
    """Return patches that touch different fields as one."""
    joined: Json = {}
    for patch in patches:
        for name, entries in patch.items():
            for id_, change in entries.items():
                joined.setdefault(name, {}).setdefault(id_, {}).update(change)
    return joined


def _newcomer(body: Json, like: str, ticket_id: str) -> Json:
    """Return the patch that adds a copy of an agent, allowed to serve the ticket as the original is."""
    taken = {agent["id"] for agent in body["agents"]}
    name = next(name for name in _names(like) if name not in taken)
    (model,) = (agent for agent in body["agents"] if agent["id"] == like)
    personal = {"id", "name", "phone", "locked_tickets"}
    patch: Json = {"agents": {name: {key: value for key, value in model.items() if key not in personal}}}
    (ticket,) = (entry for entry in body["tickets"] if entry["id"] == ticket_id)
    if ticket.get("agents") is not None:
        patch["tickets"] = {ticket_id: {"agents": [*ticket["agents"], name]}}
    return patch


def _names(like: str) -> Iterator[str]:
    number = 2
    while True:
        yield f"{like[:90]}-{number}"
        number += 1
