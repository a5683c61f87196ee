"""What would have to be changed in a scenario to remove one violation.

Owns the words and the patch for each limit; values are rounded up to what people agree on (minutes, hundredths of a
kilometre, amounts in the scenario's own precision). Whether it helps is proved by `verified_fixes.py`.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from planner_mcp.routing.feasibility.route_violations import Violation
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import GroupKind, Problem
from planner_mcp.routing.scenario.field_types import MAX_TIME_S
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.time_windows import merged_windows
from planner_mcp.text import clock, figure

_CLOCK_END_S: Final = 48 * 3600


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
    build = _RELAXATIONS.get(violation.limit)
    return None if build is None else build(body, problem, agent, violation)


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


def _window(body: ScenarioBody, problem: Problem, _agent: int, violation: Violation) -> Relaxation:
    ticket = problem.tickets[violation.index]
    seconds = [(opens / problem.scale, closes / problem.scale) for opens, closes in ticket.windows]
    missed = bisect_right([opens for opens, _ in ticket.windows], violation.value) - 1
    seconds[missed] = (seconds[missed][0], _minute(violation.value / problem.scale))
    until = _time(body, seconds[missed][1])
    windows = [[_time(body, edge) for edge in window] for window in merged_windows(seconds)]
    words = f"widen the time window of {ticket.id} to {until}"
    return Relaxation(words, {"tickets": {ticket.id: {"time_windows": windows}}})


def _shift(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> Relaxation:
    until = _time(body, _minute(violation.value / problem.scale))
    return _of_agent(body, agent, "shift_end", until, "extend the shift of {} to {}", until)


def _max_duration(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> Relaxation:
    seconds = round(_minute(violation.value / problem.scale))
    return _of_agent(body, agent, "max_duration_s", seconds, "raise max_duration_s of {} to {}", seconds)


def _max_distance(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> Relaxation:
    metres = math.ceil(violation.value / problem.scale)
    in_km = body["agents"][agent].get("max_distance_km") is not None
    name, value = ("max_distance_km", math.ceil(metres / 10) / 100) if in_km else ("max_distance_m", metres)
    change = "raise max_distance_km of {} to {}" if in_km else "raise max_distance_m of {} to {}"
    return _of_agent(body, agent, name, value, change, figure(value))


def _max_tickets(body: ScenarioBody, _problem: Problem, agent: int, violation: Violation) -> Relaxation:
    return _of_agent(body, agent, "max_tickets", violation.value, "raise max_tickets of {} to {}", violation.value)


def _capacity(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> Relaxation:
    return _amount(body, problem, agent, violation, "capacity", "raise the capacity ({}) of {} to {}")


def _min_load(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> Relaxation:
    return _amount(body, problem, agent, violation, "min_load", "lower min_load ({}) of {} to {}")


def _amount(
    body: ScenarioBody, problem: Problem, agent: int, violation: Violation, field: str, change: str
) -> Relaxation:
    """Change one dimension; an object in place of a bare number names that one too, or the patch would take it away."""
    name = problem.dimensions[violation.index]
    value = _plain(violation.value / problem.amount_scale)
    stated = body["agents"][agent][field]
    others = {} if isinstance(stated, dict) or name == "load" else {"load": stated}
    amount = {**others, name: value} if others or isinstance(stated, dict) else value
    driver = body["agents"][agent]["id"]
    return Relaxation(change.format(name, driver, value), {"agents": {driver: {field: amount}}})


def _allowed(body: ScenarioBody, problem: Problem, agent: int, violation: Violation) -> Relaxation:
    """Give the agent the skills it lacks, or let the ticket name it, whichever is in the way.

    Neither is where what is held of an earlier plan keeps the agent away.
    """
    driver = body["agents"][agent]
    ticket = body["tickets"][violation.index]
    name = driver["id"]
    words: list[str] = []
    patch: ScenarioPatch = {}
    held = driver.get("skills") or ()
    if lacking := [skill for skill in ticket.get("skills") or () if skill not in held]:
        words.append(f"give {name} the skill {', '.join(lacking)}, or drop it from {ticket['id']}")
        patch["agents"] = {name: {"skills": [*held, *lacking]}}
    if ticket.get("agents") is not None and name not in ticket["agents"]:
        words.append(f"allow {name} for {ticket['id']}")
        patch["tickets"] = {ticket["id"]: {"agents": [*ticket["agents"], name]}}
    if name in (ticket.get("not_agents") or ()):
        words.append(f"no longer forbid {name} for {ticket['id']}")
        others = [other for other in ticket["not_agents"] if other != name]
        patch.setdefault("tickets", {}).setdefault(ticket["id"], {})["not_agents"] = others
    return Relaxation("; ".join(words), patch)


def _of_agent(body: ScenarioBody, agent: int, field: str, value: Any, change: str, limit: object) -> Relaxation:
    name = body["agents"][agent]["id"]
    return Relaxation(change.format(name, limit), {"agents": {name: {field: value}}})


_RELAXATIONS: Final[dict[InfeasibilityReason, Callable[[ScenarioBody, Problem, int, Violation], Relaxation]]] = {
    InfeasibilityReason.TIME_WINDOW: _window,
    InfeasibilityReason.SHIFT_END: _shift,
    InfeasibilityReason.CAPACITY: _capacity,
    InfeasibilityReason.MAX_DURATION: _max_duration,
    InfeasibilityReason.MAX_DISTANCE: _max_distance,
    InfeasibilityReason.MAX_TICKETS: _max_tickets,
    InfeasibilityReason.MIN_LOAD: _min_load,
    InfeasibilityReason.SKILL_OR_AGENT: _allowed,
}


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
