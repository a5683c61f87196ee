"""The job behind a resource URI: its events change the resource.

Owns the reading of URIs that can be subscribed to, and finding the job behind a scenario's result, now and whenever
a newer solve replaces it.
"""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

from planner_mcp.errors import Fault, NotFoundError, StoreError, input_error
from planner_mcp.jobs import ids
from planner_mcp.jobs.events.pubsub_channels import scenario_channel
from planner_mcp.jobs.job_events import Event, EventKind
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.mcp.mcp_sessions import ChangeNotifier
from planner_mcp.server.resources.resource_catalogue import is_named

SCENARIO_CHECK_S: Final = 60.0
"""How often a scenario is looked at even though nothing was heard of it."""
MAX_WATCHED: Final = 256
"""Things one session or one listen stream may watch."""
WATCHABLE: Final = "job://{job_id}, plan://{plan_id}, scenario://{scenario_id}/result"
_URI: Final = re.compile(r"(?P<kind>job|plan|scenario)://(?P<name>[a-z0-9-]{1,60})(?P<rest>/[a-z./]{1,40})?")

Objective = tuple[float | None, float | None]
"""Penalty and cost of the best plan so far, as in `Progress`."""


def objective_after(event: Event, before: Objective) -> Objective:
    """Return how the best plan of a job stands after an event; most say nothing of it."""
    return before if event.data.cost is None else (event.data.penalty, event.data.cost)


@dataclass(frozen=True, slots=True)
class WatchedResource:
    """What one URI is about."""

    uri: str
    kind: str
    """`job`, `plan` or `scenario`."""
    name: str
    """Of the job, or of the scenario."""

    @property
    def is_scenario(self) -> bool:
        """Whether its job may become another."""
        return self.kind == "scenario"

    def moves(self, event: Event, before: Objective) -> bool:
        """Return whether an event changes what a reader of the URI sees; `before` is how the plan stood before it."""
        if self.is_scenario and event.kind is not EventKind.PROGRESS:
            return True  # a new solve takes the place of the last, and its status is part of the result
        return self.kind == "job" or event.is_final or event.is_review or objective_after(event, before) != before


def watched_resource_of(uri: str) -> WatchedResource:
    """Return what a URI is about.

    Raises:
        InvalidParameterError: Nothing that changes has such a URI.
    """
    if (form := _URI.fullmatch(uri)) is None:
        raise input_error([Fault("/uri", "This resource cannot be subscribed to.", WATCHABLE)])
    name = ids.job_of(form["name"]) if form["kind"] == "plan" else form["name"]
    return WatchedResource(uri, form["kind"], name)


@dataclass(frozen=True, slots=True)
class WatchedJobs:
    """Finds the jobs behind watched resources.

    Args:
        job_service: Knows jobs and scenarios.
        notifier: Announces new solves of a scenario, other watches of a session, and changed lists.
    """

    job_service: JobService
    notifier: ChangeNotifier

    async def job_of(self, principal: Principal, resource: WatchedResource) -> str | None:
        """Return the job behind a resource, None for a scenario without a solve.

        Raises:
            NotFoundError: Unknown, or another principal's, or the URI reads nothing of the job or scenario.
        """
        if not is_named(resource.uri):
            raise NotFoundError
        if resource.is_scenario:
            return await self.job_service.last_job(principal, resource.name)
        return (await self.job_service.job(principal, resource.name)).id

    async def jobs_of(self, principal: Principal, scenario_id: str) -> AsyncGenerator[str]:
        """Yield the newest job of a scenario, and each newer one as it is submitted; ends when the scenario expires."""
        last = None
        async with self.notifier.watch(scenario_channel(scenario_id)) as waiter:
            while True:
                try:
                    newest = await self.job_service.last_job(principal, scenario_id)
                except NotFoundError:
                    return
                except StoreError:
                    newest = last  # the waiter is woken once the store is back
                if newest is not None and newest != last:
                    yield newest
                    last = newest
                await waiter.wait(SCENARIO_CHECK_S)
