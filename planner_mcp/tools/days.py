"""What planning tools share: the day a plan belongs to, and work on it beside the event loop.

Owns how a plan, a job or a scenario named by a caller is found, and where the seconds of a large day are spent: in a
thread, a few at a time and callers in turn, so that others are answered meanwhile.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from planner_mcp.errors import Fault, InputError, NotFoundError, input_error
from planner_mcp.jobs.fair_limiter import FairLimiter
from planner_mcp.jobs.ids import job_of, plan_of
from planner_mcp.jobs.model import Job, StoredScenario
from planner_mcp.settings import Settings
from planner_mcp.text import compact, counted, named, plain
from planner_mcp.tools.base import ToolContext
from planner_mcp.tools.borrowing import Lend, day_within_limits, mask_cautions, written_faults
from planner_mcp.tools.lookups import PLAN, SCENARIO, looked_up
from planner_mcp.vrp.advice.fixes import Bench
from planner_mcp.vrp.advice.insertion import Until
from planner_mcp.vrp.advice.locks import settled
from planner_mcp.vrp.checks.names import nearest
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
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.scenario import Scenario, warnings

T = TypeVar("T")
Json = dict[str, Any]
PlanName = Annotated[str, Field(max_length=100, description="plan_id or job_id")]
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
_limiter: Final = FairLimiter()
"""Days worked on at the same time."""
_REPLACED: Final = "GROUP_OTHER_CHOSEN"
"""Code of an alternative that is left out as it should be: of its group another is served."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A plan with what it plans."""

    job: Job
    scenario: StoredScenario
    plan: Json
    """As `Plan.as_json()`, unmasked."""
    tables: Tables | None = None
    """The travel its day refers to, where it is at hand."""

    @property
    def plan_id(self) -> str:
        """The name of the plan."""
        return plan_of(self.job.id)

    def chosen_instead(self) -> dict[str, str]:
        """Return the ticket served in place of each that is left out for another of its group."""
        served = {visit["ticket_id"] for route in self.plan["routes"] for visit in route["visits"]}
        left = {entry["ticket_id"] for entry in self.plan["unassigned"] if entry["code"] == _REPLACED}
        groups = [group["tickets"] for group in self.scenario.body.get("groups") or () if group["kind"] == "one_of"]
        instead: dict[str, str] = {}
        for names in groups:
            if (other := next((name for name in names if name in served), None)) is not None:
                instead |= {name: other for name in names if name in left}
        return instead

    def unassigned(self, ticket_ids: list[str]) -> list[Json]:
        """Return the unassigned entries that were asked for, all of them where none was named."""
        entries = {entry["ticket_id"]: entry for entry in self.plan["unassigned"]}
        served = {visit["ticket_id"] for route in self.plan["routes"] for visit in route["visits"]}
        faults = [
            Fault(
                f"/ticket_ids/{index}",
                "The plan serves this ticket." if name in served else "There is no ticket of this id here.",
                "the id of an unassigned ticket",
                "Leave ticket_ids out for all of them.",
            )
            for index, name in enumerate(ticket_ids)
            if name not in entries
        ]
        if faults:
            raise input_error(faults)
        return [entries[name] for name in dict.fromkeys(ticket_ids)] if ticket_ids else list(entries.values())

    def bench(self) -> Bench:
        """Return the plan on its day, ready for trials; takes seconds where the day is large."""
        return Bench(self.scenario.body, self.plan, self.tables)


async def subject(ctx: ToolContext, name: str, path: str) -> Subject:
    """Return the plan of a job or of a plan's name, with its job and its scenario.

    Args:
        ctx: Of the call.
        name: As the caller wrote it.
        path: Of the argument it stands in.

    Raises:
        NotFoundError: Unknown, or somebody else's.
    """
    with looked_up(path, PLAN):
        job_id = job_id_of(name)
        job = await ctx.planner.job(ctx.principal, job_id)  # first: the plan of a job that has ended is its last
        plan = await ctx.planner.plan_of_job(ctx.principal, job_id)
        scenario = await ctx.planner.scenario(ctx.principal, job.request.scenario_id)
    tables = await ctx.planner.matrices.of_day(ctx.principal.id, scenario.body)
    return Subject(job, scenario, plan, tables)


async def scenario_at(ctx: ToolContext, scenario_id: str) -> StoredScenario:
    """Return the scenario that the argument `scenario_id` names.

    Raises:
        NotFoundError: Unknown, or somebody else's.
    """
    with looked_up("/scenario_id", SCENARIO):
        return await ctx.planner.scenario(ctx.principal, scenario_id)


def job_id_of(name: str) -> str:
    """Return the job that a job's or a plan's name stands for."""
    if name.startswith("plan-"):
        return job_of(name)
    if not name.startswith("job-"):
        raise NotFoundError
    return name


def time_for(budget_s: float) -> Until:
    """Return what tells when a budget of time is used up."""
    ends = time.monotonic() + budget_s
    return lambda: time.monotonic() > ends


async def aside(ctx: ToolContext, work: Callable[..., T], *args: Any) -> T:
    """Run work on a day in a thread, when it is its caller's turn; raises as `FairLimiter.turn`."""
    return await _limiter.run(ctx.principal.id, work, *args)


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
    return checked(patched(body, patch), patch, settings, lend)


def patched(body: Json, patch: Json) -> Json:
    """Return a scenario's body under a patch, not judged yet.

    Raises:
        InputError: What is wrong with the patch itself.
    """
    written = (replace(fault, path=f"/patch{fault.path}") for fault in written_faults(patch))
    if wrong := [*misuses(body, patch), *written]:
        raise input_error(wrong)
    return revise(body, patch)


def checked(asked: Json, patch: Json, settings: Settings, lend: Lend) -> tuple[Json, Scenario]:
    """Return a day that a patch made as it can be planned, and as it was read; other arguments as for `revised`.

    Raises:
        InputError: What is wrong with the day; list positions are told as ids.
    """
    new = settled(asked)
    if new is not asked and not new["tickets"]:
        raise input_error([_all_begun(asked, patch)])
    try:
        return new, day_within_limits(new, settings, lend(new))
    except InputError as error:
        error.errors = tuple(led_back(fault, new) for fault in error.errors)
        raise


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


def nothing_to_mend(ticket: str, other: str) -> str:
    """Return the sentence of an alternative that is left out as it should be."""
    return f"{ticket}: nothing to mend: {other} of its group is served"


def check_agents(asked: Sequence[str], known: Collection[str]) -> None:
    """Refuse agents that nobody knows: what is told of them would pass for nothing to tell.

    Raises:
        InputError: At their places in `agent_ids`, with the name that was meant where one is near.
    """
    faults = [
        Fault(
            f"/agent_ids/{index}",
            "There is no agent of this id here.",
            f"an agent of the day: {named(list(known))}",
            f"Did you mean {plain(near, 40)}?" if near else "Leave agent_ids out for all of them.",
        )
        for index, name in enumerate(asked)
        if name not in known
        for near in [nearest(name, known) if name else None]
    ]
    if faults:
        raise input_error(faults)


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


def _date_notes(body: Json, patch: Json) -> list[str]:
    if not lets_go_of_held(body, patch):
        return []
    return [f"held is let go: it was of {body['planning_date']}, and planning_date is another now."]


_LISTS: Final = ("agents", "tickets", "locations")
_MAX_WARNINGS: Final = 5


def first_warnings(before: Json, patch: Json, after: Json, scenario: Scenario) -> list[str]:
    """Return the first of what is odd about a day that a patch was laid on."""
    said = [*mask_cautions(after), *parting_notes(before, patch), *_naming_notes(before, patch, after)]
    return [*said, *warnings(scenario)][:_MAX_WARNINGS]


def _naming_notes(before: Json, patch: Json, after: Json) -> list[str]:
    """Return a sentence where the names of a matrix's rows were written for the caller."""
    had, has = ((day.get("travel") or {}).get("matrix_locations") for day in (before, after))
    asked = (patch.get("travel") or {}).get("matrix_locations")
    told = "travel.matrix_locations is written now, so that rows keep their places; with new tables give it too."
    return [told] if has and not had and not asked else []


def fitting(entries: Sequence[T], room_bytes: int) -> list[T]:
    """Return the first entries that together take no more room as JSON: no text has more tokens than bytes."""
    shown: list[T] = []
    for entry in entries:
        room_bytes -= len(compact(entry).encode()) + 1
        if room_bytes < 0:
            break
        shown.append(entry)
    return shown
