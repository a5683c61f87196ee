"""The smallest changes of a day that let a plan serve a ticket it leaves out, each proved (SPEC T5).

Owns the choice and the proof. A fix is a patch of the scenario (`scenario/scenario_patch.py`). It is proved by
construction: the patched day passes every check; the plan that stands, with the ticket inserted where the fix makes
room, passes the independent verifier on that day; and there it costs less than leaving the ticket out, prices and span
counted. No search is needed and none is claimed: one that moves others may find smaller changes, or better use of the
room.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import Final

from planner_mcp.errors import InputError
from planner_mcp.routing.compilation.frozen_prefix_compilation import bind_to_held_agents
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of, operating_cost, price
from planner_mcp.routing.feasibility.insertion_candidates import (
    InsertionCandidate,
    StopCheck,
    halves,
    insertion_candidates,
    is_replaced,
    joint_tickets,
    whole_of,
    with_route,
    with_tickets,
)
from planner_mcp.routing.feasibility.relaxations import Relaxation, raised_penalty, relaxation_for, violation_text
from planner_mcp.routing.feasibility.route_violations import (
    Violation,
    is_closed,
    violations,
    violations_without_waiting,
)
from planner_mcp.routing.infeasibility_reasons import REASONS, InfeasibilityReason
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Problem, Route
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.size_checks import MAX_AGENTS
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_model import NULLABLE, Agent, Held
from planner_mcp.routing.scenario.scenario_parsing import read_revised, read_stored
from planner_mcp.routing.scenario.scenario_patch import merge, revise
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.routing.verification.plan_verification import verify

MAX_CHANGES: Final = 3
"""Fixes looked for that change what there is."""
MAX_VIOLATIONS: Final = 2
"""Limits that one fix may change; with more it is no small change any longer."""
NO_CHANGE: Final = "NONE"
ADD_AGENT: Final = "ADD_AGENT"
PENALTY: Final = "PENALTY"
FIX_KINDS: Final[dict[str, str]] = {
    NO_CHANGE: "Nothing need change: the ticket fits as it is, or with one more reload.",
    **{reason: words.fix for reason, words in REASONS.items() if words.fix},
    ADD_AGENT: "Add an agent like one there is.",
    PENALTY: "Raise the price of leaving the ticket, or its one_of group, out: alone or beside another change.",
}
"""What a fix may change."""
OTHER_TICKET_WEIGHT: Final = 2.0
"""Weight added where a promise to another customer would be changed; an hour counts as 1."""
FixStep = tuple[str, Relaxation]
"""A kind of change, and the change."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One proved way to serve a ticket."""

    ticket_id: str
    kinds: tuple[str, ...]
    """What is changed, of `FIX_KINDS`."""
    agent_id: str
    """Who would serve it."""
    changes: tuple[str, ...]
    """What is changed, in words with the values."""
    patch: ScenarioPatch
    """For `revise_scenario` or `resolve_vrp`; empty where nothing need change."""
    cost_delta: float
    """What routes and span would cost more, in the caller's currency."""

    @property
    def change(self) -> str:
        """All changes in words."""
        return "; ".join(self.changes)


class UnassignedAnalysis:
    """A stored plan on its day, ready for insertions.

    Args:
        body: The scenario as stored.
        plan: The plan.
        travel_matrices: The travel it refers to.
    """

    def __init__(self, body: ScenarioBody, plan: Plan, travel_matrices: TravelMatrices | None = None) -> None:
        self._body = body
        self._travel_matrices = travel_matrices
        self.scenario = read_stored(body, travel_matrices)
        self.problem = compile_scenario(self.scenario)
        self.candidate = candidate_of(self.problem, plan)
        self.index = {ticket.id: number for number, ticket in enumerate(self.problem.tickets)}
        self._eligible = Eligibility(self.scenario)
        self._bound = bind_to_held_agents(self.scenario)
        routes = () if self.scenario.held is None else self.scenario.held.routes
        self._out = {number for number, agent in enumerate(self.scenario.agents) if _is_out(agent, self.scenario.held)}
        self._over = {route.agent for route in routes if route.end_s is not None}

    def closest(self, ticket: int, until: StopCheck) -> list[InsertionCandidate]:
        """Return the best insertion of each agent, the nearest to fitting first; the rest of its group is served."""
        if (base := self._with_companions(ticket, until)) is None:
            return []
        insertions = self._insertions(base, ticket, until)
        return _best_of_each(insertions, lambda each: each.route.agent, lambda each: each.effort)

    def evidence(self, insertion: InsertionCandidate) -> list[str]:
        """Return what is in the way of an insertion, each as a code with what is missing."""
        agent = insertion.route.agent
        return [violation_text(self._body, self.problem, agent, each) for each in insertion.violations]

    def fixes(self, ticket: int, until: StopCheck, *, max_agents: int = MAX_AGENTS) -> list[Fix]:
        """Return proved fixes, the smallest of each kind, smallest first; fewer where the time is up.

        Args:
            ticket: One that the plan leaves out.
            until: Returns true once the time is up.
            max_agents: Agents the deployment lets in; where the day has as many, none is added.
        """
        found: list[Fix] = []
        if (base := self._with_companions(ticket, until)) is None:
            return []
        for insertion in self._smallest(base, ticket, until):
            if (fix := self._fix(base, ticket, insertion)) is not None and not _is_outdone(fix, found):
                found.append(fix)
            if until() or len(found) == MAX_CHANGES or (fix is not None and fix.kinds == (NO_CHANGE,)):
                return found
        is_full = len(self.scenario.agents) >= max_agents
        added_agent = None if is_full else self._with_another_agent(ticket, until)
        return found if added_agent is None or _is_outdone(added_agent, found) else [*found, added_agent]

    def _with_companions(self, ticket: int, until: StopCheck) -> Candidate | None:
        """Return the plan with the rest of a ticket's all-or-none group, which may not fit yet; None if time is up.

        None, too, where a `one_of` group serves another in place of one of the rest, or names two of the whole: the
        group stays incomplete.
        """
        served, companions = self.candidate.tickets, _companions(self.problem, ticket)
        wanted = {*served, *whole_of(self.problem, ticket)}
        if any(each not in served and is_replaced(self.problem, each, wanted) for each in companions):
            return None
        return with_tickets(self.problem, self.candidate, companions, until=until)

    def _smallest(self, base: Candidate, ticket: int, until: StopCheck) -> list[InsertionCandidate]:
        """Return the insertion nearest to fitting for each set of limits that one fix may change."""
        small = (
            each
            for each in self._insertions(base, ticket, until)
            if len(each.violations) <= MAX_VIOLATIONS and each.route.agent not in self._out
        )
        return _best_of_each(small, lambda each: each.limits, lambda each: _weight(ticket, each))

    def _insertions(self, base: Candidate, ticket: int, until: StopCheck) -> Iterator[InsertionCandidate]:
        """Yield every way to insert a ticket, with what is held separate from what the caller wrote.

        One that waits for a later window of the ticket comes again, with what stands in the way of not waiting.
        """
        multi_window = [half for half in halves(self.problem, ticket) if len(self.problem.tickets[half].windows) > 1]
        for insertion in insertion_candidates(self.problem, base, ticket, until=until):
            yield self._with(insertion, insertion.violations)
            for half in multi_window if insertion.violations else ():
                if without_waiting := violations_without_waiting(self.problem, insertion.route, half):
                    yield self._with(insertion, without_waiting)

    def _with(self, insertion: InsertionCandidate, found: Iterable[Violation]) -> InsertionCandidate:
        """Return an insertion with its violations; its cost, which decides between insertions as near, stays."""
        return replace(insertion, violations=tuple(self._as_held(insertion.route.agent, found)))

    def _as_held(self, agent: int, found: Iterable[Violation]) -> Iterator[Violation]:
        """Yield the violations of a route; those that only the frozen prefix causes have names of their own."""
        if self.scenario.held is None:
            yield from found
            return
        for each in found:
            if each.limit is InfeasibilityReason.MAX_TICKETS and self.problem.agents[agent].id in self._over:
                yield replace(each, limit=InfeasibilityReason.ROUTE_OVER)
            elif each.limit is InfeasibilityReason.SKILL_OR_AGENT and self._eligible.may(
                agent, self.scenario.tickets[each.index]
            ):
                if not self._is_only_closed(agent, each.index):
                    yield replace(each, limit=InfeasibilityReason.KEPT_ELSEWHERE)
            else:
                yield each

    def _is_only_closed(self, agent: int, ticket: int) -> bool:
        """Return whether nothing but the hour bars an agent from a ticket: its window is a violation by itself."""
        is_open_to = self._eligible.may(agent, self._bound.tickets[ticket])
        return is_open_to and is_closed(self.problem, self.problem.tickets[ticket])

    def _fix(self, base: Candidate, ticket: int, insertion: InsertionCandidate) -> Fix | None:
        candidate = with_route(base, insertion.route)
        driven = [route for route in candidate.routes if route not in self.candidate.routes]
        broken = [(route.agent, each) for route in driven for each in self._broken(insertion, route)]
        if len(broken) > MAX_VIOLATIONS:
            return None
        steps: list[FixStep] = []
        body = self._body
        for agent, violation in broken:
            if (change := relaxation_for(body, self.problem, agent, violation)) is None:
                return None
            if not change.words:  # the proof shows whether the other changes lift it
                continue
            steps.append((violation.limit.value, change))
            body = revise(body, change.patch)
        steps = steps or [(NO_CHANGE, Relaxation(self._as_it_fits(insertion.route), {}))]
        return self._proved(ticket, self.problem.agents[insertion.route.agent].id, candidate, steps)

    def _broken(self, insertion: InsertionCandidate, route: Route) -> Iterable[Violation]:
        """Return the violations of a route of the plan with an insertion in it."""
        is_tried = route == insertion.route
        return insertion.violations if is_tried else self._as_held(route.agent, violations(self.problem, route))

    def _as_it_fits(self, route: Route) -> str:
        standing = (each for each in self.candidate.routes if each.agent == route.agent)
        is_longer = route.reloads > sum(each.reloads for each in standing)
        name = self.problem.agents[route.agent].id
        whole, longer = f"fits into the route of {name} as it is", f"fits into the route of {name} with one more reload"
        return longer if is_longer else whole

    def _with_another_agent(self, ticket: int, until: StopCheck) -> Fix | None:
        """Return the fix of one more agent like the cheapest that could serve the ticket with nothing else to do."""
        models = [
            number
            for number, agent in enumerate(self.scenario.agents)
            if _can_be_copied(agent) and number not in self._out
        ]
        ways = insertion_candidates(self._unlocked(), Candidate(()), ticket, until=until)
        alone = (insertion for insertion in ways if not insertion.violations and insertion.route.agent in models)
        best = min(alone, key=lambda insertion: insertion.cost, default=None)
        if best is None:
            return None
        like = self.problem.agents[best.route.agent].id
        served_tickets = [half for each in joint_tickets(self.problem, ticket) for half in halves(self.problem, each)]
        patch = _added_agent_patch(self._body, like, [self.problem.tickets[ward].id for ward in served_tickets])
        (name,) = patch["agents"]
        problem = self._patched(patch)
        if problem is None:
            return None
        started = with_route(self.candidate, replace(best.route, agent=len(self.problem.agents)))
        candidate = with_tickets(problem, started, _companions(problem, ticket), until=until)
        if candidate is None:
            return None
        return self._proved(ticket, name, candidate, [(ADD_AGENT, Relaxation(f"add one agent like {like}", patch))])

    def _unlocked(self) -> Problem:
        """Return the day as it would be for agents that have done nothing yet and have nothing locked."""
        if not any(agent.locked for agent in self.problem.agents):
            return self.problem
        agents = tuple(agent.model_copy(update={"locked_tickets": ()}) for agent in self.scenario.agents)
        held = self.scenario.held and self.scenario.held.model_copy(update={"routes": ()})
        return compile_scenario(self.scenario.model_copy(update={"agents": agents, "held": held}))

    def _proved(self, ticket: int, agent_id: str, candidate: Candidate, steps: Sequence[FixStep]) -> Fix | None:
        """Return the fix, the ticket's price raised where it is too low; None where a check or the verifier refuses."""
        kinds, changes = zip(*steps, strict=True)
        patch = reduce(merge, (change.patch for change in changes), ScenarioPatch())
        problem = self._patched(patch)
        if problem is None or verify(problem, build_plan(problem, candidate)):
            return None
        short = price(problem, candidate) - price(problem, self.candidate)
        if short < 0:
            delta = (operating_cost(problem, candidate) - operating_cost(problem, self.candidate)) / problem.cost_scale
            return Fix(problem.tickets[ticket].id, kinds, agent_id, tuple(each.words for each in changes), patch, delta)
        if PENALTY in kinds or not problem.tickets[ticket].is_priced:
            return None
        more = (PENALTY, raised_penalty(self._body, problem, ticket, short))
        return self._proved(ticket, agent_id, candidate, [*(step for step in steps if step[0] != NO_CHANGE), more])

    def _patched(self, patch: ScenarioPatch) -> Problem | None:
        """Return the patched day, or None where a check refuses it."""
        if not patch:
            return self.problem
        try:
            return compile_scenario(read_revised(revise(self._body, patch), self._travel_matrices))
        except InputError:
            return None


def _is_outdone(fix: Fix, others: Iterable[Fix]) -> bool:
    """Return whether another fix changes less and costs no more."""
    return any({*each.kinds} < {*fix.kinds} and each.cost_delta <= fix.cost_delta for each in others)


def _is_out(agent: Agent, held: Held | None) -> bool:
    """Return whether an agent is out of the day: absent, or its shift has ended by the hour that is held, as after a
    breakdown. No fix sends it out again.
    """
    has_ended = bool(held and held.until_s and agent.shift_end is not None and agent.shift_end <= held.until_s)
    return agent.max_tickets == 0 or has_ended


def _best_of_each(
    insertions: Iterable[InsertionCandidate],
    kind: Callable[[InsertionCandidate], object],
    weight: Callable[[InsertionCandidate], tuple[float, int]],
) -> list[InsertionCandidate]:
    """Return the first insertion of least weight of each kind, the best first."""
    best: dict[object, InsertionCandidate] = {}
    for insertion in insertions:
        known = best.setdefault(kind(insertion), insertion)
        if weight(insertion) < weight(known):
            best[kind(insertion)] = insertion
    return sorted(best.values(), key=weight)


def _weight(ticket: int, insertion: InsertionCandidate) -> tuple[float, int]:
    late = (each for each in insertion.violations if each.limit is InfeasibilityReason.TIME_WINDOW)
    other_tickets = sum(each.index != ticket for each in late)
    share, cost = insertion.effort
    return share + OTHER_TICKET_WEIGHT * other_tickets, cost


def _companions(problem: Problem, ticket: int) -> list[int]:
    """Return the rest of what a ticket stands and falls with, one of each shipment."""
    return [each for each in joint_tickets(problem, ticket) if ticket not in halves(problem, each)]


def _can_be_copied(agent: Agent) -> bool:
    """Return whether a patch can add an agent like this one: it has no null, which a patch takes away."""
    return not any(end in agent.model_fields_set and getattr(agent, end) is None for end in NULLABLE)


def _added_agent_patch(body: ScenarioBody, like: str, served_tickets: Sequence[str]) -> ScenarioPatch:
    """Return the patch that adds a copy of an agent, allowed to serve some tickets as the original is."""
    taken = {agent["id"] for agent in body["agents"]}
    name = next(name for number in count(2) if (name := f"{like[:90]}-{number}") not in taken)
    (model,) = (agent for agent in body["agents"] if agent["id"] == like)
    personal = {"id", "name", "phone", "locked_tickets"}
    patch: ScenarioPatch = {"agents": {name: {key: value for key, value in model.items() if key not in personal}}}
    named = (entry for entry in body["tickets"] if entry["id"] in served_tickets and entry.get("agents") is not None)
    if tickets := {entry["id"]: {"agents": [*entry["agents"], name]} for entry in named}:
        patch["tickets"] = tickets
    return patch
