"""A day under a patch: read again and checked, and what is said of the change.

Owns the argument `patch` and the words for what a patch did. What a patch does is
`routing/scenario/scenario_patch.py`; lookups and threads are `plan_context.py`'s.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Final

from pydantic import Field

from planner_mcp.errors import SCENARIO_LISTS, Fault, InputError, input_error, placed
from planner_mcp.jobs.masking.field_masking import masked_values_in
from planner_mcp.routing.analysis.frozen_prefix import removed_begun_tickets, without_departed_agents
from planner_mcp.routing.analysis.second_tours import with_tours_named
from planner_mcp.routing.scenario.checks.reference_checks import bare, did_you_mean, near_names
from planner_mcp.routing.scenario.checks.scenario_checks import sentences, warning_faults
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_model import AREAS, Scenario
from planner_mcp.routing.scenario.scenario_parsing import UnservedTickets, read_stored, unserved_tickets
from planner_mcp.routing.scenario.scenario_patch import (
    ListChange,
    drops_held,
    named_beside,
    patch_faults,
    removed_agents,
    removed_tickets,
    revise,
    tickets_naming,
    with_id_path,
)
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.server.tools.arguments.day_reading import DayReader
from planner_mcp.server.tools.arguments.resolved_inputs import (
    inline_matrix_faults,
    masking_warnings,
    scenario_within_limits,
)
from planner_mcp.server.tools.arguments.scenario_addresses import AddressedDay, without_outdated_positions
from planner_mcp.text import clock, named, plain

Patch = Annotated[
    ScenarioPatch,
    Field(
        description=(
            "JSON merge patch (RFC 7396) of the scenario; agents, tickets, locations as objects keyed by id: "
            "merged, null removes, a new id adds; null as an agent's start_location or end_location opens its route, "
            "the depot's id closes it"
        )
    ),
]
_BY_ID_KEEPS: Final = "Write an object by id to keep the others."
_MAX_WARNINGS: Final = 5
_MAX_NAME: Final = 40
"""Characters of an id in a sentence."""


def revised(
    body: ScenarioBody, patch: ScenarioPatch, reader: DayReader
) -> tuple[ScenarioBody, Scenario, tuple[str, ...]]:
    """Return a scenario's body under a patch, as it was read, and what to say of its addresses.

    Args:
        body: As stored.
        patch: As in `routing/scenario/scenario_patch.py`.
        reader: Of the day.

    Raises:
        InputError: What is wrong with the patch and, as far as it can be merged, with the revised day; list positions
            are replaced by ids.
    """
    try:
        asked = patched(body, patch, reader)
    except InputError as refused:
        raise _with_rest(refused, body, patch, reader) from refused
    new, scenario = validated_revision(asked.body, patch, reader, before=body)
    return new, scenario, asked.notices


def _with_rest(refused: InputError, body: ScenarioBody, patch: ScenarioPatch, reader: DayReader) -> InputError:
    """Return the refusal of a patch with what is wrong with the day under the rest, without removals at fault."""
    wrong = {fault.path for fault in refused.errors}
    rest = {name: _without_removals(name, entries, wrong) for name, entries in patch.items()}
    if rest == patch:
        return refused
    try:
        revised(body, rest, reader)
    except InputError as error:
        return input_error([*refused.errors, *(fault for fault in error.errors if fault.path not in wrong)])
    return refused


def _without_removals(name: str, entries: Any, wrong: Collection[str]) -> Any:
    if name not in SCENARIO_LISTS or not isinstance(entries, dict):
        return entries
    return {
        id_: change
        for id_, change in entries.items()
        if change is not None or pointer(("patch", name, id_)) not in wrong
    }


def patched(body: ScenarioBody, patch: ScenarioPatch, reader: DayReader) -> AddressedDay:
    """Return a scenario's body under a patch with positions for new addresses, not checked yet.

    Raises:
        InputError: What is wrong with the patch itself, or addresses that are open.
    """
    written = (replace(fault, path=f"/patch{fault.path}") for fault in inline_matrix_faults(patch))
    if wrong := [*patch_faults(body, patch), *written]:
        raise input_error(wrong)
    asked = without_outdated_positions(body, revise(body, patch))
    with placed(lambda fault: with_id_path(fault, asked)):
        return reader.resolve_addresses(asked)


def in_patch(patch: ScenarioPatch, before: ScenarioBody) -> Callable[[Fault], Fault]:
    """Return what puts faults of a patched day at their places in `patch`, where that has the entry or field.

    Where a field is missing because the id is new, the fault says so: mostly another id was meant. To be used in a
    thread, as the nearest id is looked for among all of them.

    Args:
        patch: As the caller wrote it.
        before: The day that it changes; faults have ids in place of positions.
    """
    entries = {name: patch[name] for name in SCENARIO_LISTS if isinstance(patch.get(name), dict)}
    names = {section: {pointer((name,))[1:]: name for name in by_id} for section, by_id in entries.items()}
    known = {section: {each["id"]: None for each in before.get(section) or ()} for section in entries}

    @cache
    def near(section: str) -> dict[str, str]:
        return near_names((name for name in entries[section] if name not in known[section]), known[section])

    def place(fault: Fault) -> Fault:
        section, _, rest = fault.path[1:].partition("/")
        entry, _, field = rest.partition("/")
        if section not in patch or (section in names and entry not in names[section]):
            return fault
        name = names[section][entry] if section in names else ""
        if name and fault.kind == "missing" and "/" not in field and name not in known[section]:
            problem = f"There is no {section[:-1]} with this id yet, and one to add needs {field}."
            accepted = f"the id of one that exists: {named([*known[section]])}"
            hint = did_you_mean(near(section).get(name)) or fault.hint
            fault = replace(fault, problem=problem, accepted=accepted, hint=hint)
        return replace(fault, path=f"/patch{fault.path}")

    return place


def validated_revision(
    asked: ScenarioBody, patch: ScenarioPatch, reader: DayReader, *, before: ScenarioBody
) -> tuple[ScenarioBody, Scenario]:
    """Return a day that a patch made of the one before as it can be planned, and as it was read; the rest as `revised`.

    Raises:
        InputError: What is wrong with the day, but for tickets that nobody could serve before either; list positions
            are replaced by ids.
    """

    def unserved_before() -> UnservedTickets:
        with suppress(InputError):  # the limits of the deployment are others now
            day = reader.scenario(before)
            return unserved_tickets(day, day.findings)
        return frozenset()

    new = without_departed_agents(asked)
    if new is not asked and not new["tickets"]:
        raise input_error([_all_begun(asked, patch)])
    lists = {name: _BY_ID_KEEPS for name, _gone in _lost_by_lists(before, patch)}

    def in_new(fault: Fault) -> Fault:
        hint = lists.get(fault.path[1:].partition("/")[0]) if fault.kind == "missing" else None
        return with_id_path(fault if hint is None else replace(fault, hint=hint), new)

    with placed(in_new):
        resolved = reader.resolve_inputs(new)
        resolved = replace(resolved, faults=(*resolved.faults, *_begun_faults(before, new, patch)))
        scenario = scenario_within_limits(new, reader.bounds, resolved, unserved_before)
    settled = with_tours_named(new, scenario.held)
    return (new, scenario) if settled is new else validated_revision(settled, {}, reader, before=before)


def change_lines(before: ScenarioBody, after: ScenarioBody, lists: Mapping[str, ListChange]) -> list[str]:
    """Return what a patch changed, a line for each list: how many were added, removed and changed, and the first."""
    lines = []
    for name, revision in lists.items():
        kinds = {
            "{} added ({})": revision.added,
            "{} removed ({})": revision.removed,
            "{} changed ({})": revision.changed,
        }
        summary = [template.format(len(ids), named(ids)) for template, ids in kinds.items() if ids]
        lines.append(f"{name}: {', '.join(summary)}")
    others = [
        name for name in {**before, **after} if name not in SCENARIO_LISTS and before.get(name) != after.get(name)
    ]
    return lines + ([f"changed: {', '.join(others)}"] if others else [])


def removal_warnings(body: ScenarioBody, patch: ScenarioPatch) -> list[str]:
    """Return what goes with a date, what a list leaves out, and which tickets lose their words of agents."""
    gone = removed_agents(patch)
    free = tickets_naming(body, gone) if gone else []
    summary = (
        f"{named(gone)} gone: 1 ticket no longer names it ({named(free)})"
        if len(free) == 1
        else f"{named(gone)} gone: {len(free)} tickets no longer name it ({named(free)})"
    )
    unnamed = named_beside(body, removed_tickets(patch))
    words = f"{named(unnamed)} gone: no longer in locked_tickets, groups or incompatible"
    agents, tickets = [summary] if free else [], [words] if unnamed else []
    return [*_date_warnings(body, patch), *_list_warnings(body, patch), *agents, *tickets]


def first_warnings(
    before: ScenarioBody,
    patch: ScenarioPatch,
    after: ScenarioBody,
    scenario: Scenario,
    lists: Mapping[str, ListChange],
) -> tuple[list[str], list[str]]:
    """Return what is odd about a day under a patch, the first of it: what the patch brings, and what was so before.

    Args:
        before: The day that the patch changes.
        patch: As the caller wrote it.
        after: The day under it.
        scenario: The same as it was read.
        lists: What the patch changes.
    """
    found, known = _warning_faults(scenario, after), set[tuple[str, str]]()
    if found:
        with suppress(InputError):  # an older version let it in; no warning is about tables stored elsewhere
            known.update((fault.path, fault.problem) for fault in _warning_faults(read_stored(before), before))
    brought = [fault for fault in found if (fault.path, fault.problem) not in known]
    standing = [fault for fault in found if (fault.path, fault.problem) in known]
    masked = masking_warnings(after)
    was_masked = bool(masked) and {*masked_values_in(after)} <= {*masked_values_in(before)}
    new = [
        *removal_warnings(before, patch),
        *misspelt_ids(before, lists),
        *_matrix_name_warnings(before, patch, after),
        *_coarse_position_warnings(scenario, lists),
        *(() if was_masked else masked),
        *sentences(brought),
    ][:_MAX_WARNINGS]
    old = [*(masked if was_masked else ()), *sentences(standing)]
    return new, old[: _MAX_WARNINGS - len(new)]


def misspelt_ids(before: ScenarioBody, lists: Mapping[str, ListChange]) -> Iterator[str]:
    """Yield a sentence of each entry that is new under almost the id of another: a change of that may be meant."""
    for section, revision in lists.items():
        known = {bare(each["id"]): each["id"] for each in before.get(section) or ()}
        for name in revision.added:
            if (other := known.get(bare(name))) is not None:
                summary = f"This is a new {section[:-1]}."
                yield f"{pointer((section, name))}: {summary} {did_you_mean(other)}"


def _warning_faults(scenario: Scenario, body: ScenarioBody) -> list[Fault]:
    """Return what is odd about a day, by the ids of its entries."""
    return warning_faults(scenario, place=lambda fault: with_id_path(fault, body))


def _all_begun(body: ScenarioBody, patch: ScenarioPatch) -> Fault:
    """Return the fault of a day whose tickets were all begun by agents that a patch takes out of it."""
    here = {entry["id"] for entry in body["agents"]}
    gone = [route["agent"] for route in body["held"]["routes"] if route["agent"] not in here and route.get("visits")]
    named_in_patch = [name for name in removed_agents(patch) if name in gone]
    return Fault(
        pointer(("patch", "agents", *named_in_patch[:1])) if "agents" in patch else "/agents",
        f"All tickets of the day were begun by {named(gone)}; nothing is left to plan.",
        "a day with something to do",
        "Keep it: set its shift_end to now, or add the tickets still to do.",
    )


def _begun_faults(before: ScenarioBody, after: ScenarioBody, patch: ScenarioPatch) -> Iterator[Fault]:
    """Yield the tickets that a patch takes out of a day though agents that stay in it have begun them."""
    begun = removed_begun_tickets(after, before) if "tickets" in patch else {}
    entries = patch.get("tickets")
    accepted, hint = "tickets that have not begun", "Leave it in: what has begun stays."
    if isinstance(entries, dict):
        for name, (agent, start_s) in begun.items():
            if name in entries:
                problem = f"{plain(agent, _MAX_NAME)} began it at {clock(start_s)}."
                yield Fault(pointer(("patch", "tickets", name)), problem, accepted, hint)
    elif begun:
        problem = f"The list lacks what has begun: {named(list(begun))}."
        yield Fault("/patch/tickets", problem, accepted, _BY_ID_KEEPS)


def _list_warnings(body: ScenarioBody, patch: ScenarioPatch) -> Iterator[str]:
    for name, gone in _lost_by_lists(body, patch):
        removal = f"A list replaces the whole list, removed with it: {named(gone)}."
        yield f"/patch/{name}: {removal} {_BY_ID_KEEPS}"


def _lost_by_lists(body: ScenarioBody, patch: ScenarioPatch) -> Iterator[tuple[str, list[str]]]:
    """Yield the lists that a patch replaces by ones with less in them: who adds an entry may not have meant that."""
    for name in SCENARIO_LISTS:
        entries = patch.get(name)
        if not isinstance(entries, list):
            continue
        ids = (entry.get("id") for entry in entries if isinstance(entry, dict))
        kept = {each for each in ids if isinstance(each, str)}
        if gone := [entry["id"] for entry in body.get(name) or () if entry["id"] not in kept]:
            yield name, gone


def _coarse_position_warnings(scenario: Scenario, lists: Mapping[str, ListChange]) -> list[str]:
    """Return a sentence of addresses of which only the town or district is known, where a patch brought them."""
    found = lists.get("locations")
    new = set[str]() if found is None else {*found.added, *found.changed}
    resolved = {place.id: place.resolved for place in scenario.locations if place.id in new}
    coarse = {name: each.radius_m for name, each in resolved.items() if each is not None and each.accuracy in AREAS}
    if not coarse:
        return []
    within = f"{max(coarse.values()) / 1000:.3g} km"
    return [f"Known only as the centre of its town or district, true within {within}: {named([*coarse])}."]


def _date_warnings(body: ScenarioBody, patch: ScenarioPatch) -> list[str]:
    if not drops_held(body, patch):
        return []
    return [f"held is dropped: it was of {body['planning_date']}, and planning_date is another now."]


def _matrix_name_warnings(before: ScenarioBody, patch: ScenarioPatch, after: ScenarioBody) -> list[str]:
    """Return a sentence where the names of a matrix's rows were written for the caller."""
    had, has = ((day.get("travel") or {}).get("matrix_locations") for day in (before, after))
    asked = (patch.get("travel") or {}).get("matrix_locations")
    summary = "travel.matrix_locations is written now, so that rows keep their places; with new tables give it too."
    return [summary] if has and not had and not asked else []
