"""A day under a patch: read again and judged, and what is said of the change.

Owns the argument `patch` and the words for what a patch did. What a patch does is `vrp/day/patch.py`; whose day it is
and where its seconds are spent is `subjects.py`'s.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field

from planner_mcp.errors import Fault, input_error, placed
from planner_mcp.settings import Settings
from planner_mcp.text import clock, counted, named, plain
from planner_mcp.tools.arguments.subjects import Json
from planner_mcp.tools.arguments.tables_at_hand import Lend, day_within_limits, mask_cautions, written_faults
from planner_mcp.vrp.advice.locks import begun_and_gone, settled
from planner_mcp.vrp.day.faults import pointer
from planner_mcp.vrp.day.patch import (
    changes,
    gone_agents,
    led_back,
    lets_go_of_held,
    misuses,
    revise,
    tickets_naming,
)
from planner_mcp.vrp.scenario import Scenario, warnings

Patch = Annotated[
    Json,
    Field(
        description=(
            "JSON merge patch (RFC 7396) of the scenario; agents, tickets, locations as objects keyed by id: "
            "merged, null removes, a new id adds; null as an agent's start_location or end_location opens its route, "
            "the depot's id closes it"
        )
    ),
]
_LISTS: Final = ("agents", "tickets", "locations")
_MAX_WARNINGS: Final = 5
_MAX_NAME: Final = 40
"""Characters of an id in a sentence."""


def revised(body: Json, patch: Json, settings: Settings, lend: Lend) -> tuple[Json, Scenario]:
    """Return a scenario's body under a patch, and as it was read.

    Args:
        body: As stored.
        patch: Of `day/patch.py`.
        settings: With the limits of the deployment.
        lend: How the day comes to its tables.

    Raises:
        InputError: What is wrong with the patch, or else with the revised day; list positions are told as ids.
    """
    return checked(patched(body, patch), patch, settings, lend, before=body)


def patched(body: Json, patch: Json) -> Json:
    """Return a scenario's body under a patch, not judged yet.

    Raises:
        InputError: What is wrong with the patch itself.
    """
    written = (replace(fault, path=f"/patch{fault.path}") for fault in written_faults(patch))
    if wrong := [*misuses(body, patch), *written]:
        raise input_error(wrong)
    return revise(body, patch)


def checked(asked: Json, patch: Json, settings: Settings, lend: Lend, *, before: Json) -> tuple[Json, Scenario]:
    """Return a day that a patch made of the one before as it can be planned, and as it was read; the rest as `revised`.

    Raises:
        InputError: What is wrong with the day; list positions are told as ids.
    """
    new = settled(asked)
    if new is not asked and not new["tickets"]:
        raise input_error([_all_begun(asked, patch)])
    with placed(lambda fault: led_back(fault, new)):
        lent = lend(new)
        lent = replace(lent, faults=(*lent.faults, *_begun_faults(before, new, patch)))
        return new, day_within_limits(new, settings, lent)


def change_lines(before: Json, after: Json) -> list[str]:
    """Return what a patch changed, a line for each list: how many were added, removed and changed, and the first."""
    lines = []
    for name, revision in changes(before, after).items():
        kinds = {"added": revision.added, "removed": revision.removed, "changed": revision.changed}
        told = [f"{len(ids)} {kind} ({named(ids)})" for kind, ids in kinds.items() if ids]
        lines.append(f"{name}: {', '.join(told)}")
    others = [name for name in {**before, **after} if name not in _LISTS and before.get(name) != after.get(name)]
    return lines + ([f"changed: {', '.join(others)}"] if others else [])


def parting_notes(body: Json, patch: Json) -> list[str]:
    """Return a sentence of what goes with a date, and one of the tickets whose words of agents go with these agents."""
    gone = gone_agents(patch)
    free = tickets_naming(body, gone) if gone else []
    told = f"{named(gone)} gone: preferred or forbidden no longer by {counted(len(free), 'ticket')} ({named(free)})"
    return [*_date_notes(body, patch), *([told] if free else [])]


def first_warnings(before: Json, patch: Json, after: Json, scenario: Scenario) -> list[str]:
    """Return the first of what is odd about a day that a patch was laid on."""
    said = [*mask_cautions(after), *parting_notes(before, patch), *_naming_notes(before, patch, after)]
    return [*said, *warnings(scenario)][:_MAX_WARNINGS]


def _all_begun(body: Json, patch: Json) -> Fault:
    """Return the fault of a day whose tickets were all begun by agents that a patch takes out of it."""
    here = {entry["id"] for entry in body["agents"]}
    gone = [route["agent"] for route in body["held"]["routes"] if route["agent"] not in here and route.get("visits")]
    named_in_patch = [name for name in gone_agents(patch) if name in gone]
    return Fault(
        pointer(("patch", "agents", *named_in_patch[:1])) if "agents" in patch else "/agents",
        f"All tickets of the day were begun by {named(gone)}; nothing is left to plan.",
        "a day with something to do",
        "Keep it: set its shift_end to now, or add the tickets still to do.",
    )


def _begun_faults(before: Json, after: Json, patch: Json) -> Iterator[Fault]:
    """Yield the tickets that a patch takes out of a day though agents that stay in it have begun them."""
    begun = begun_and_gone(after, before) if "tickets" in patch else {}
    entries = patch.get("tickets")
    accepted, hint = "tickets that have not begun", "Leave it in: what has begun stays."
    if isinstance(entries, dict):
        for name, (agent, start_s) in begun.items():
            if name in entries:
                problem = f"{plain(agent, _MAX_NAME)} began it at {clock(start_s)}."
                yield Fault(pointer(("patch", "tickets", name)), problem, accepted, hint)
    elif begun:
        yield Fault("/patch/tickets", f"The list lacks what has begun: {named(list(begun))}.", accepted, hint)


def _date_notes(body: Json, patch: Json) -> list[str]:
    if not lets_go_of_held(body, patch):
        return []
    return [f"held is let go: it was of {body['planning_date']}, and planning_date is another now."]


def _naming_notes(before: Json, patch: Json, after: Json) -> list[str]:
    """Return a sentence where the names of a matrix's rows were written for the caller."""
    had, has = ((day.get("travel") or {}).get("matrix_locations") for day in (before, after))
    asked = (patch.get("travel") or {}).get("matrix_locations")
    told = "travel.matrix_locations is written now, so that rows keep their places; with new tables give it too."
    return [told] if has and not had and not asked else []
