"""What one violation lacks, in words, and what would have to be changed in a scenario to remove it.

Owns both forms of each limit; values are rounded up to what people agree on (minutes, hundredths of a kilometre,
amounts in the scenario's own precision). Which field of an agent a limit is, and the words of its change, stand in
`infeasibility_reasons.py`. Whether a change helps is proved by `verified_fixes.py`.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from planner_mcp.routing.feasibility.route_violations import Violation
from planner_mcp.routing.infeasibility_reasons import REASONS, AgentLimit, InfeasibilityReason, LimitUnit
from planner_mcp.routing.problem import GroupKind, Problem
from planner_mcp.routing.scenario.field_types import MAX_TIME_S
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.time_windows import merged_windows
from planner_mcp.text import Json, clock, figure, named, plain

_CLOCK_END_S: Final = 48 * 3600
_MAX_NAME: Final = 40
"""Characters of a skill and of a ticket's id beside it."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A change for one violation, in words and as a patch; empty where nothing that the caller wrote causes it."""

    words: str
    patch: ScenarioPatch


def relaxation_for(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> Relaxation | None:
    """Return the change, or None where no single value could be changed (order, exclusions).

    Args:
        body: The day, with what else is changed beside it: a patch replaces lists and numbers whole.
        problem: The day as integers.
        agent: Whose route has the violation.
        violation: What the route violates.
    """
    if violation.limit is InfeasibilityReason.TIME_WINDOW:
        return _window(body, problem, violation)
    if violation.limit is InfeasibilityReason.SKILL_OR_AGENT:
        return _allowed(body, agent, violation)
    limit = REASONS[violation.limit].limit
    return None if limit is None else _limit(body, problem, agent, violation, limit)


def raised_penalty(body: ScenarioBody, problem: Problem, ticket: int, short: int) -> Relaxation:
    """Return the change that makes a ticket worth more than it is, where its price stands: its own or its group's.

    Args:
        body: The day.
        problem: The same as integers.
        ticket: One that the caller priced.
        short: By how much leaving it out is too cheap, in cost units.
    """
    name = problem.tickets[ticket].id
    choices = ((i, g) for i, g in enumerate(problem.groups) if g.kind is GroupKind.ONE_OF and ticket in g.tickets)
    place, group = next(choices, (None, None))
    worth = problem.tickets[ticket].penalty if group is None else group.penalty
    value = math.ceil((worth + short) / problem.cost_scale + 1)
    if place is None or body["groups"][place].get("penalty") is None:
        return Relaxation(f"raise its penalty to {value}", {"tickets": {name: {"penalty": value}}})
    groups = [*body["groups"]]
    groups[place] = {**groups[place], "penalty": value}
    return Relaxation(f"raise the penalty of its group to {value}", {"groups": groups})


def violation_text(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> str:
    """Return a violation as a code with what is missing, an amount or a skill: `TIME_WINDOW 25 min late at t-7`."""
    return f"{violation.limit.value} {_missing(body, problem, agent, violation)}".rstrip()


def _missing(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> str:
    if violation.limit is InfeasibilityReason.TIME_WINDOW:
        return f"{_minutes(problem, violation)} min late at {problem.tickets[violation.index].id}"
    if violation.limit is InfeasibilityReason.SKILL_OR_AGENT:
        return _not_allowed(body, agent, violation.index)
    if (limit := REASONS[violation.limit].limit) is None:
        return ""
    match limit.unit:
        case LimitUnit.CLOCK_TIME | LimitUnit.DURATION:
            return limit.missing.format(_minutes(problem, violation))
        case LimitUnit.DISTANCE:
            return limit.missing.format(math.ceil(violation.short / problem.scale))
        case LimitUnit.TICKETS:
            return limit.missing.format(violation.short)
        case LimitUnit.AMOUNT:
            amount = figure(violation.short / problem.amount_scale)
            return limit.missing.format(problem.dimensions[violation.index], amount)


def _minutes(problem: Problem, violation: Violation) -> int:
    return math.ceil(violation.short / problem.scale / 60)


def _window(body: ScenarioBody, problem: Problem, violation: Violation) -> Relaxation:
    ticket = problem.tickets[violation.index]
    seconds = [(opens / problem.scale, closes / problem.scale) for opens, closes in ticket.windows]
    missed = bisect_right([opens for opens, _ in ticket.windows], violation.value) - 1
    seconds[missed] = (seconds[missed][0], _minute(violation.value / problem.scale))
    until = _time(body, seconds[missed][1])
    windows = [[_time(body, edge) for edge in window] for window in merged_windows(seconds)]
    words = f"widen the time window of {ticket.id} to {until}"
    return Relaxation(words, {"tickets": {ticket.id: {"time_windows": windows}}})


def _limit(body: ScenarioBody, problem: Problem, agent: int, violation: Violation, limit: AgentLimit) -> Relaxation:
    """Change a number of an agent."""
    stated = body["agents"][agent]
    field = next((each for each in limit.changes if stated.get(each) is not None), [*limit.changes][-1])
    change, driver = limit.changes[field], stated["id"]
    value: str | float
    match limit.unit:
        case LimitUnit.CLOCK_TIME:
            value = _time(body, _minute(violation.value / problem.scale))
        case LimitUnit.DURATION:
            value = round(_minute(violation.value / problem.scale))
        case LimitUnit.DISTANCE:
            metres = math.ceil(violation.value / problem.scale)
            value = math.ceil(metres / 10) / 100 if field.endswith("_km") else metres
        case LimitUnit.TICKETS:
            value = violation.value
        case LimitUnit.AMOUNT:
            name, value = problem.dimensions[violation.index], _plain(violation.value / problem.amount_scale)
            patch = {"agents": {driver: {field: _with_amount(stated[field], name, value)}}}
            return Relaxation(change.format(name, driver, value), patch)
    shown = value if isinstance(value, str) else figure(value)
    return Relaxation(change.format(driver, shown), {"agents": {driver: {field: value}}})


def _with_amount(stated: object, name: str, value: float) -> dict[str, object] | float:
    """Return one dimension changed; an object in place of a bare number names that one too, or it would be gone."""
    if isinstance(stated, dict):
        return {name: value}
    return value if name == "load" else {"load": stated, name: value}


def _allowed(body: ScenarioBody, agent: int, violation: Violation) -> Relaxation:
    """Give the agent the skills it lacks, or let the ticket name it, whichever is in the way.

    Neither is where what is held of an earlier plan keeps the agent away.
    """
    driver, ticket = body["agents"][agent], body["tickets"][violation.index]
    name = driver["id"]
    words: list[str] = []
    patch: ScenarioPatch = {}
    if lacking := _lacking_skills(driver, ticket):
        words.append(f"give {name} the skill {', '.join(lacking)}, or drop it from {ticket['id']}")
        patch["agents"] = {name: {"skills": [*(driver.get("skills") or ()), *lacking]}}
    if _is_unlisted(driver, ticket):
        words.append(f"allow {name} for {ticket['id']}")
        patch["tickets"] = {ticket["id"]: {"agents": [*ticket["agents"], name]}}
    if _is_forbidden(driver, ticket):
        words.append(f"no longer forbid {name} for {ticket['id']}")
        others = [other for other in ticket["not_agents"] if other != name]
        patch.setdefault("tickets", {}).setdefault(ticket["id"], {})["not_agents"] = others
    return Relaxation("; ".join(words), patch)


def _not_allowed(body: ScenarioBody, agent: int, index: int) -> str:
    driver, ticket = body["agents"][agent], body["tickets"][index]
    name, lacking = plain(ticket["id"], _MAX_NAME), _lacking_skills(driver, ticket)
    skills = named([plain(skill, _MAX_NAME) for skill in lacking])
    if lacking and (_is_unlisted(driver, ticket) or _is_forbidden(driver, ticket)):
        return f"lacks {skills} of {name}, and may not serve it"
    return f"lacks {skills} of {name}" if lacking else f"may not serve {name}"


def _lacking_skills(driver: Json, ticket: Json) -> list[str]:
    held = driver.get("skills") or ()
    return [skill for skill in ticket.get("skills") or () if skill not in held]


def _is_unlisted(driver: Json, ticket: Json) -> bool:
    return ticket.get("agents") is not None and driver["id"] not in ticket["agents"]


def _is_forbidden(driver: Json, ticket: Json) -> bool:
    return driver["id"] in (ticket.get("not_agents") or ())


def _minute(seconds: float) -> float:
    """Return the next whole minute; days written in bare seconds (less than ten minutes in all) keep their seconds."""
    return math.ceil(seconds / 60) * 60.0 if seconds > 600 else float(math.ceil(seconds))


def _time(body: ScenarioBody, seconds: float) -> str | float | int:
    """Return a time as `HH:MM` where it is one, from the third day on as a date-time, else in seconds."""
    if seconds % 60 or seconds > MAX_TIME_S:
        return _plain(seconds)
    if seconds >= _CLOCK_END_S:
        moment = datetime.fromisoformat(body["planning_date"]) + timedelta(seconds=seconds)
        return moment.isoformat(timespec="minutes")
    return clock(seconds)


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value
