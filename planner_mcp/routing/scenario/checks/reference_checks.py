"""Checks on names: ids that repeat, and ids that name nothing."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain, islice
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.checks.fault_dependencies import FaultDependency
from planner_mcp.routing.scenario.scenario_model import Agent, Location, Scenario, Ticket, end_of, start_of
from planner_mcp.text import plain

_YEARS: Final = (2000, 2100)
_MARKS: Final = re.compile(r"(?<![\d\W_])[\W_]+|[\W_]+(?![\d\W_])")
"""A run of blanks and marks in a name, but for one between two digits."""
_ZEROS: Final = re.compile(r"(?<!\d)0+(?=\d)")
"""Zeros before a number."""
_MAX_SUGGESTIONS: Final = 10
"""Unknown names of one kind for which a near one is looked for; each look costs a pass over all names."""
_MAX_PAIRED: Final = 2_000_000
"""Pairs of characters one such pass may compare: 5000 names of 20 characters; of longer names the first few."""

Reference = tuple[str, str]
"""(path, name)."""


def duplicate_ids(scenario: Scenario) -> Iterator[Fault]:
    """Yield ids that two agents, tickets or locations share."""
    kinds = {
        "agents": [agent.id for agent in scenario.agents],
        "tickets": [ticket.id for ticket in scenario.tickets],
        "locations": [place.id for place in scenario.locations],
    }
    for kind, names in kinds.items():
        first: dict[str, int] = {}
        for index, name in enumerate(names):
            if (known := first.setdefault(name, index)) != index:
                problem = f"The id is the same as that of /{kind}/{known}."
                yield Fault(f"/{kind}/{index}/id", problem, "an id used once", "Rename one of the two.", "logic")


def unknown_locations(scenario: Scenario) -> Iterator[Fault]:
    """Yield references to locations that are not listed. Where nothing is listed any name is a location.

    Uploaded matrices list locations too; `matrix_checks.missing_rows` compares with them.
    """
    known = {place.id for place in scenario.locations} | set(scenario.travel.matrix_locations or ())
    if known and scenario.travel.matrix is None:
        yield from _unknown(_location_references(scenario), known, "location", _by_name(scenario, scenario.locations))


def _location_references(scenario: Scenario) -> Iterator[Reference]:
    if scenario.depot is not None:
        yield "/depot", scenario.depot
    for index, agent in enumerate(scenario.agents):
        for field in ("start_location", "end_location"):
            if (name := getattr(agent, field)) is not None:
                yield f"/agents/{index}/{field}", name
        for at, name in enumerate(agent.reload_locations):
            yield f"/agents/{index}/reload_locations/{at}", name
    for index, ticket in enumerate(scenario.tickets):
        yield f"/tickets/{index}/location", ticket.location


def unknown_agents(scenario: Scenario) -> Iterator[Fault]:
    """Yield references to agents that do not exist."""
    named = (
        (f"/tickets/{index}/{field}/{at}", name)
        for index, ticket in enumerate(scenario.tickets)
        for field, names in (("agents", ticket.agents or ()), ("not_agents", ticket.not_agents))
        for at, name in enumerate(names)
    )
    preferred = (
        (f"/tickets/{index}/preferred_agent", ticket.preferred_agent)
        for index, ticket in enumerate(scenario.tickets)
        if ticket.preferred_agent is not None
    )
    known = {agent.id for agent in scenario.agents}
    yield from _unknown(chain(named, preferred), known, "agent", _by_name(scenario, scenario.agents))


def unknown_tickets(scenario: Scenario) -> Iterator[Fault]:
    """Yield references to tickets that do not exist."""
    known = {ticket.id for ticket in scenario.tickets}
    yield from _unknown(_ticket_references(scenario), known, "ticket", _by_name(scenario, scenario.tickets))


def _ticket_references(scenario: Scenario) -> Iterator[Reference]:
    for index, ticket in enumerate(scenario.tickets):
        if ticket.pickup is not None:
            yield f"/tickets/{index}/pickup", ticket.pickup
    for index, agent in enumerate(scenario.agents):
        for at, name in enumerate(agent.locked_tickets):
            yield f"/agents/{index}/locked_tickets/{at}", name
    for index, group in enumerate(scenario.groups):
        for at, name in enumerate(group.tickets):
            yield f"/groups/{index}/tickets/{at}", name
    for index, names in enumerate(scenario.incompatible):
        for at, name in enumerate(names):
            yield f"/incompatible/{index}/{at}", name


def _by_name(scenario: Scenario, entries: Sequence[Agent | Ticket | Location]) -> dict[str, str]:
    """Return the ids of what has a name for people that nothing else of its kind has; none where names are masked."""
    if not scenario.shows_names:
        return {}
    named = {entry.name: entry.id for entry in entries if entry.name}
    count = Counter(entry.name for entry in entries)
    return {name: id_ for name, id_ in named.items() if count[name] == 1}


def _unknown(
    references: Iterable[Reference], known: Collection[str], kind: str, by_name: Mapping[str, str]
) -> Iterator[Fault]:
    """Yield the references to nothing, each with the id that was meant: of what has this name, or the nearest."""
    unknown = [(path, name) for path, name in references if name not in known]
    near = near_names((name for _, name in unknown if name not in by_name), known)
    for path, name in unknown:
        hint = did_you_mean(by_name.get(name) or near.get(name)) or f"Add the {kind} or name another."
        problem, accepted = f"There is no {kind} with this id.", f"the id of one of the {kind}s"
        yield Fault(path, problem, accepted, hint, "logic", needs=(FaultDependency(f"{kind}s"),))


def bare(name: str) -> str:
    """Return a name as it differs in little else from others: `van-1` of `Van 1`, `VAN1` and `van-01`.

    Marks between digits stay: `1-12` is not `11-2`.
    """
    return _ZEROS.sub("", _MARKS.sub("", name.casefold())) or name


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that an unknown one was most likely meant to be, whatever the case of its letters."""
    alike = (each for each in known if abs(len(each) - len(name)) < len(name))
    folded = {each.casefold(): each for each in islice(alike, _MAX_PAIRED // len(name) ** 2)}
    near = get_close_matches(name.casefold(), folded, n=1)
    return folded[near[0]] if near else None


def near_names(unknown: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return, by name, what each of the first few unknown names was most likely meant to be, if anything."""
    looked_for = [name for name in islice(unknown, _MAX_SUGGESTIONS) if name]
    alike = {bare(each): each for each in known} if looked_for else {}
    return {name: near for name in looked_for if (near := alike.get(bare(name)) or nearest(name, known))}


def did_you_mean(name: str | None) -> str:
    """Return the hint that a name was meant; empty for none."""
    return f"Did you mean {plain(name, 40)}?" if name else ""


def repeated_exclusions(scenario: Scenario) -> Iterator[Fault]:
    """Yield the first ticket that a list of incompatible tickets names twice."""
    for index, names in enumerate(scenario.incompatible):
        first: dict[str, int] = {}
        at = next((at for at, name in enumerate(names) if first.setdefault(name, at) != at), None)
        if at is not None:
            problem, hint = "The list names this ticket twice.", "Remove the repetition."
            yield Fault(f"/incompatible/{index}/{at}", problem, "each ticket once", hint, "logic")


def locked_twice(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets that are locked more than once."""
    taken: set[str] = set()
    for index, agent in enumerate(scenario.agents):
        for at, name in enumerate(agent.locked_tickets):
            if name in taken:
                path = f"/agents/{index}/locked_tickets/{at}"
                yield Fault(path, "This ticket is locked twice.", "each ticket once", "Remove one of the two.", "logic")
            taken.add(name)


def implausible_date(scenario: Scenario) -> Iterator[Fault]:
    """Yield a planning date no vehicle will drive on."""
    if not _YEARS[0] <= scenario.planning_date.year <= _YEARS[1]:
        accepted = f"a day of the years {_YEARS[0]} to {_YEARS[1]}"
        yield Fault("/planning_date", "The date is not one of this century.", accepted, "Check the year.", "logic")


def named_places(scenario: Scenario) -> frozenset[str]:
    """Return every location a route could visit: nobody is sent to one whose address is open."""
    known = frozenset(name for _, name in _location_references(scenario))
    return known - (scenario.open_places.keys() - places_of_agents(scenario))


def places_of_agents(scenario: Scenario) -> frozenset[str]:
    """Return every location where an agent starts, ends or reloads."""
    ends = (place(scenario, agent) for agent in scenario.agents for place in (start_of, end_of))
    reloads = (name for agent in scenario.agents for name in agent.reload_locations)
    return frozenset(name for name in (*ends, *reloads) if name is not None)
