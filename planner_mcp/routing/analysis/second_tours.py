"""Second tours: an agent whose route has ended while its shift goes on sets out again (SPEC T5, ADR 37).

Owns the entry that is added to the scenario for it: the same agent under the id `veh-3 tour 2`, which starts where the
route ended, with what its limits leave; and that tickets which name the agent name it too. The entry of the first tour
keeps its past. Engines and the verifier see one agent more.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final

from planner_mcp.routing.plan import Plan, PlannedRoute
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_model import Agent, Held, Scenario, end_of, start_of
from planner_mcp.text import Json, clock, plain

_TOUR: Final = re.compile(r"(.+) tour (\d{1,3})", re.DOTALL)
_PERSONAL: Final = ("name", "phone")
_MAX_ID: Final = 80
"""Characters of an id that leave room for the number of a tour."""


def tours_of(agent_id: str, body: ScenarioBody) -> list[str]:
    """Return the ids of an agent's tours in a scenario, the first one included."""
    return [entry["id"] for entry in body["agents"] if agent_id in (entry["id"], _base_agent(entry["id"]))]


def _base_agent(agent_id: str) -> str:
    """Return the agent whose tour an id names; the id itself for a first tour."""
    found = _TOUR.fullmatch(agent_id)
    return found[1] if found else agent_id


def _next_tour(agent_id: str) -> str:
    """Return the id of the tour after that of an id."""
    found = _TOUR.fullmatch(agent_id)
    return f"{agent_id} tour 2" if found is None else f"{found[1]} tour {int(found[2]) + 1}"


def with_second_tours(
    body: ScenarioBody, scenario: Scenario, plan: Plan, *, most_agents: int
) -> tuple[ScenarioBody, list[str]]:
    """Return a scenario in which agents whose route has ended may set out again, and a sentence for each.

    Args:
        body: With `held` of the hour it is.
        scenario: The same, as it was read.
        plan: What has happened.
        most_agents: Agents the deployment lets in.
    """
    if (held := scenario.held) is None or not held.until_s:
        return body, []
    begun = {visit.ticket for route in held.routes for visit in route.visits}
    if all(ticket.id in begun for ticket in scenario.tickets):
        return body, []
    entries = {entry["id"]: entry for entry in body["agents"]}
    routes = {route.agent_id: route for route in plan.routes}
    added: dict[str, Json] = {}
    sentences = []
    for agent, ready_s in _returned(scenario, held):
        name = _next_tour(agent.id)
        if name in entries or agent.id not in routes or len(entries) + len(added) >= most_agents:
            continue
        if (tour := _tour(scenario, agent, entries[agent.id], routes[agent.id], ready_s)) is not None:
            added[name] = {**tour, "id": name}
            place = plain(str(tour["start_location"]), 40)
            sentences.append(f"{agent.id} may set out again from {place} at {clock(ready_s)}, as {name}.")
    if not added:
        return body, []
    return with_tours_named({**body, "agents": [*body["agents"], *added.values()]}, held), sentences


def with_tours_named(body: ScenarioBody, held: Held | None) -> ScenarioBody:
    """Return a scenario whose tickets name the further tours of agents whose route has ended; itself where they do.

    Lists of agents name all of them, and a ticket that has not begun prefers the last one.

    Args:
        body: With its further tours.
        held: As it was read.
    """
    if held is None:
        return body
    known = {entry["id"] for entry in body["agents"]}
    further = {route.agent: _further_tours(route.agent, known) for route in held.routes if route.end_s is not None}
    if not any(further.values()):
        return body
    begun = {visit.ticket for route in held.routes for visit in route.visits}
    tickets = [
        _with_tours(ticket, further, has_begun=not begun.isdisjoint((ticket["id"], ticket.get("pickup"))))
        for ticket in body["tickets"]
    ]
    return body if tickets == body["tickets"] else {**body, "tickets": tickets}


def _further_tours(agent_id: str, known: Set[str]) -> list[str]:
    """Return the tours after that of an id, in order."""
    tours = []
    while (agent_id := _next_tour(agent_id)) in known:
        tours.append(agent_id)
    return tours


def _returned(scenario: Scenario, held: Held) -> Iterator[tuple[Agent, float]]:
    """Yield the agents that are at the end of their route, or on the way there, with when they may set out again."""
    ends = {route.agent: route.end_s for route in held.routes if route.end_s is not None}
    for agent in scenario.agents:
        if agent.id in ends and len(agent.id) <= _MAX_ID:
            ready_s = max(ends[agent.id], held.until_s)
            if agent.shift_end is None or agent.shift_end > ready_s:
                yield agent, ready_s


def _tour(scenario: Scenario, agent: Agent, entry: Json, route: PlannedRoute, ready_s: float) -> Json | None:
    """Return the entry of a further tour; None where its limits leave nothing, or its end is no place to load."""
    place = end_of(scenario, agent)
    if place is None or place not in (start_of(scenario, agent), *agent.reload_locations):
        return None
    used = {
        "max_tickets": len(route.tickets),
        "max_duration_s": ready_s - route.start_s,
        "max_distance_m": route.distance_m,
        "max_distance_km": route.distance_m / 1000,
    }
    left = {name: limit - part for name, part in used.items() if (limit := getattr(agent, name)) is not None}
    if any(value <= 0 for value in left.values()):
        return None
    gone = {"id", "locked_tickets", "min_load", "fixed_cost", "breaks", *_PERSONAL}
    kept = {name: value for name, value in entry.items() if name not in gone}
    ahead = [
        written
        for written, each in zip(entry.get("breaks") or (), agent.breaks, strict=False)
        if each.latest >= ready_s
        and not any(visit.kind == "break" and each.earliest <= visit.start_s <= each.latest for visit in route.visits)
    ]
    people = {name: entry[name] for name in _PERSONAL if entry.get(name)}
    return (
        kept | people | left | {"start_location": place, "shift_start": ready_s} | ({"breaks": ahead} if ahead else {})
    )


def _with_tours(ticket: Json, further: Mapping[str, Sequence[str]], *, has_begun: bool) -> Json:
    """Return a ticket whose lists of agents name their further tours too; unless it has begun, it prefers the last."""
    tours = further.get(ticket.get("preferred_agent") or "")
    changed: Json = {"preferred_agent": tours[-1]} if tours and not has_begun else {}
    for field in ("agents", "not_agents"):
        names = ticket.get(field) or ()
        if more := dict.fromkeys(tour for name in names for tour in further.get(name, ()) if tour not in names):
            changed[field] = [*names, *more]
    return {**ticket, **changed} if changed else ticket
