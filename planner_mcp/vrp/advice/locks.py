"""Holds on to an earlier plan while a changed day is planned anew (SPEC T5, S1 locks).

Owns what is held: tickets stay with their agents, or pay a price where they do not, or the visits before an hour stay
first, in order and when they were, and nothing else is planned before that hour. It is written as a patch of the day,
so that every engine and the verifier read it like any other lock or price. What the changed day no longer allows is not
held, because the plan is mended first; a price is put on all that was planned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.vrp.advice.fits import obstacles, tickets_of
from planner_mcp.vrp.advice.repair import repair
from planner_mcp.vrp.checks.sizes import MAX_PAIRS, pairs_of
from planner_mcp.vrp.checks.times import unreachable_tickets
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.model import MAX_EXCLUSIONS, Scenario, Ticket
from planner_mcp.vrp.layout.schedule import candidate_of
from planner_mcp.vrp.problem import Candidate, Problem, Route

Json = dict[str, Any]
_TWO_DAYS_S: Final = 172_800.0
_AT_ONCE: Final = 4
"""Routes that one list keeps a ticket from: so many lists as a day may have hold as many pairs as it may have."""


def locks(
    scenario: Scenario, plan: Mapping[str, Any], *, agents: bool = False, switch_cost: float = 0.0, until_s: float = 0.0
) -> Json:
    """Return the patch that holds on to a plan.

    Args:
        scenario: The day as it is to be planned.
        plan: An earlier plan, as `Plan.as_json()`.
        agents: Tickets stay with the agent that serves them in the plan.
        switch_cost: What each of them costs that goes to another agent. 0: nothing.
        until_s: Visits that start before this time stay first on their routes, in order; others start later. 0: none.

    Raises:
        InputError: More tickets are too late for `until_s` than a day can keep from the routes begun.
    """
    problem = compile_scenario(scenario)
    planned = candidate_of(problem, plan)
    held = repair(problem, planned)
    patch: Json = {"agents": {}, "tickets": _prices(problem, planned, switch_cost) if switch_cost else {}}
    begun = _begun(plan, until_s)
    done, out = set[str](), dict[str, str]()
    for route in held.routes:
        agent, names = problem.agents[route.agent], [problem.tickets[index].id for index in tickets_of(route)]
        first = _prefix(names, begun)
        done.update(first)
        out |= {agent.id: first[0]} if first else {}
        for name, start in _as_it_was(problem, route, {name: begun[name] for name in first}).items():
            patch["tickets"].setdefault(name, {})["time_windows"] = [[start, start]]
        if len(first) > len(agent.locked):
            patch["agents"][agent.id] = {"locked_tickets": first}
        for name in names if agents else ():
            patch["tickets"].setdefault(name, {})["agents"] = [agent.id]
    if until_s:
        _hold_back(scenario, patch, until_s, out, done)
    return {name: entries for name, entries in patch.items() if entries}


def _hold_back(scenario: Scenario, patch: Json, until_s: float, out: Mapping[str, str], done: set[str]) -> None:
    """Let no visit but those done begin before an hour, and nobody set out before it who is not out by then.

    A ticket that nobody could serve from then on would be refused as such: it keeps its windows, and does not go with
    what those who are out have done, so that it is left out with its reason.

    Raises:
        InputError: There are too many such tickets.
    """
    for agent in scenario.agents:
        if agent.id not in out and (agent.shift_start or 0.0) < until_s:
            starts = until_s if agent.shift_end is None else min(until_s, agent.shift_end)
            patch["agents"].setdefault(agent.id, {})["shift_start"] = max(agent.shift_start or 0.0, starts)
    last = max([_TWO_DAYS_S, until_s, *((agent.shift_end or 0.0) + agent.overtime_s for agent in scenario.agents)])
    late: list[str] = []
    for ticket in scenario.tickets:
        if ticket.id in done:
            continue
        if windows := _from(ticket, until_s, last):
            patch["tickets"].setdefault(ticket.id, {})["time_windows"] = windows
        else:
            late.append(ticket.id)
    while lost := {int(fault.path.split("/")[2]) for fault in unreachable_tickets(_under(scenario, patch))}:
        told = [scenario.tickets[index].id for index in sorted(lost)]
        names = [name for name in told if patch["tickets"].get(name, {}).pop("time_windows", None)]
        if not names:
            break
        late += names
    if late and out:
        patch["incompatible"] = _apart(scenario.incompatible, late, list(out.values()))


def _apart(standing: Sequence[Sequence[str]], late: Sequence[str], first: Sequence[str]) -> list[list[str]]:
    """Return what keeps each of some tickets from the route of each of others, beside what is kept apart already.

    Raises:
        InputError: A day has no room for so many.
    """
    some = [first[at : at + _AT_ONCE] for at in range(0, len(first), _AT_ONCE)]
    lists = [*map(list, standing), *([name, *others] for name in late for others in some)]
    if len(lists) > MAX_EXCLUSIONS or pairs_of(lists) > MAX_PAIRS:
        problem = f"{len(late)} tickets can be served no longer: too many to be left out of {len(first)} routes begun."
        hint = "Remove with the patch those whose windows have closed."
        raise input_error([Fault("/tickets", problem, "fewer tickets that are too late", hint, "logic")])
    return lists


def _from(ticket: Ticket, until_s: float, last: float) -> list[list[float]]:
    """Return what an hour leaves of a ticket's windows; nothing where all of them have closed by then."""
    windows = ticket.time_windows or ((0.0, last),)
    return [[max(opens, until_s), closes] for opens, closes in windows if closes >= until_s]


def _under(scenario: Scenario, patch: Json) -> Scenario:
    """Return the day as the patch would leave it."""

    def changed(name: str, id_: str) -> Json:
        entry: Json = patch[name].get(id_, {})
        return entry | {field: tuple(value) for field, value in entry.items() if isinstance(value, list)}

    parts: dict[str, Any] = {
        name: tuple(part.model_copy(update=changed(name, part.id)) for part in getattr(scenario, name))
        for name in ("agents", "tickets")
    }
    return scenario.model_copy(update=parts).with_tables(scenario.tables)


def _prices(problem: Problem, planned: Candidate, switch_cost: float) -> Json:
    """Return what puts a price on each change of agent, save where the agent may come no longer."""
    return {
        problem.tickets[index].id: {"preferred_agent": problem.agents[route.agent].id, "switch_cost": switch_cost}
        for route in planned.routes
        for index in tickets_of(route)
        if route.agent in (problem.tickets[index].agents or (route.agent,))
    }


def _begun(plan: Mapping[str, Any], until_s: float) -> dict[str, float]:
    """Return the tickets whose service starts before the hour, and when it does."""
    visits = [visit for route in plan["routes"] for visit in route["visits"] if visit["ticket_id"] is not None]
    return {visit["ticket_id"]: visit["start_s"] for visit in visits if visit["start_s"] < until_s}


def _as_it_was(problem: Problem, route: Route, starts: Mapping[str, float]) -> Mapping[str, float]:
    """Return when the visits begun began; nothing where the changed day does not allow these hours."""
    moments = {name: round(start * problem.scale) for name, start in starts.items()}
    tickets = tuple(
        replace(ticket, windows=((moments[ticket.id],) * 2,)) if ticket.id in moments else ticket
        for ticket in problem.tickets
    )
    return {} if not moments or obstacles(replace(problem, tickets=tickets), route) else starts


def _prefix(names: list[str], begun: Mapping[str, float]) -> list[str]:
    count = next((place for place, name in enumerate(names) if name not in begun), len(names))
    return names[:count]
