"""The page and the event channel of a job, and the channel of all jobs of a principal (SPEC J2-J4).

Owns the HTTP half of `GET /jobs/{job_id}`, `GET /jobs/{job_id}/events` and `GET /events`: `jobs/job_events.py` has the
events, `jobs/events/event_feed.py` follows them. On the channel of a job the id of an event is its position in the
job's own stream; on that of all jobs it is the position in the feeds of the shards, and `event_id` names the event. Any
replica can resume from either. Asked for `application/json`, the channel of a job answers with what it has so far.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.job_content import job_view
from planner_mcp.jobs.job_events import Event, is_position, notification, position_key
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_ports import FeedStep
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.http.responses.event_stream import EventStream, sse_event
from planner_mcp.server.http.responses.http_responses import json_answer
from planner_mcp.server.http.responses.media_types import EVENTS, JSON, chosen
from planner_mcp.server.http.routes.http_endpoint import READING, HttpEndpoint, both, check_query
from planner_mcp.server.tools.tool_definition import READ
from planner_mcp.text import compact

JOB_EVENTS: Final = "/jobs/{job_id}/events"
ALL_EVENTS: Final = "/events"
POSITION: Final = "last_event_id"
"""The parameter that stands for `Last-Event-ID` where a client cannot send headers."""
REVIEWS: Final = "reviews"
"""The parameter by which the stream of a job goes on with the steps of its review."""
JOBS_KEPT: Final = 1000
"""Jobs whose last event is kept as it is sent."""


class JobsApi:
    """The routes under `/jobs`. The job service is `app.state.services.job_service` of the running application.

    Args:
        streams: How many streams each principal has open here.
        drain: Set when open streams shall end.
    """

    def __init__(self, streams: StreamLimit, *, drain: anyio.Event) -> None:
        self._streams = streams
        self._drain = drain
        self._last: dict[str, tuple[Event, bytes]] = {}
        """The last event of each job that was sent."""

    def routes(self) -> list[Route]:
        """Return the routes to mount."""
        return [
            Route("/jobs/{job_id}", HttpEndpoint(self._page, READING)),
            *both(JOB_EVENTS, HttpEndpoint(self._events, "GET")),
            *both(ALL_EVENTS, HttpEndpoint(self._all_events, "GET")),
        ]

    async def _page(self, request: Request) -> ASGIApp:
        job = await _job_service(request).job(_reader(request), request.path_params["job_id"])
        return json_answer(job_view(job))

    async def _events(self, request: Request) -> ASGIApp:
        principal, job_service = _reader(request), _job_service(request)
        check_query(request, (POSITION, REVIEWS))
        if chosen(request, (EVENTS, JSON)) == JSON:
            history = await job_service.history(principal, request.path_params["job_id"])
            return json_answer({"events": [notification(event, is_named=True) for event in history]})
        job = await job_service.job(principal, request.path_params["job_id"])
        after = _position(request, job)
        with_reviews = _wants_reviews(request) and not job.is_settled
        if job.is_terminal and after == job.event_id and not with_reviews:
            return Response(status_code=204)  # makes an EventSource stop reconnecting
        stream = EventStream(self._frames(job_service, principal, job.id, after, with_reviews), drain=self._drain)
        return self._streams.served(stream, principal.id)

    async def _frames(
        self, job_service: JobService, principal: Principal, job_id: str, after: str, with_reviews: bool
    ) -> AsyncGenerator[bytes, None]:
        async with aclosing(job_service.follow(principal, job_id, after, with_reviews=with_reviews)) as events:
            async for event in events:
                yield self._frame(event)

    async def _all_events(self, request: Request) -> ASGIApp:
        principal, job_service = _reader(request), _job_service(request)
        check_query(request, (POSITION,))
        chosen(request, (EVENTS,))
        self._streams.check(principal.id)
        steps = job_service.follow_all(principal, _given_position(request))
        first = await anext(steps)  # raises here what is wrong with the position
        stream = EventStream(_step_frames(first, steps), drain=self._drain)
        return self._streams.served(stream, principal.id)

    def _frame(self, event: Event) -> bytes:
        """Return an event as it is sent; it is written out once for all who watch the job."""
        kept, data = self._last.get(event.job_id, (None, b""))
        if kept is not event:
            data = sse_event(compact(notification(event)), event_id=event.id)
            if len(self._last) >= JOBS_KEPT:
                self._last.clear()
            self._last[event.job_id] = event, data
        return data


async def _step_frames(first: FeedStep, steps: AsyncGenerator[FeedStep, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(steps):
        yield _step_frame(first)
        async for step in steps:
            yield _step_frame(step)


def _step_frame(step: FeedStep) -> bytes:
    """Return an event of `GET /events`: a notification, `start` or `beat`."""
    if step.event is not None:
        return sse_event(compact(notification(step.event, is_named=True)), event_id=step.position)
    return sse_event("{}", event_id=step.position, event="start" if step.is_start else "beat")


def _given_position(request: Request) -> str:
    return request.headers.get("last-event-id") or request.query_params.get(POSITION) or ""


def _wants_reviews(request: Request) -> bool:
    """Return whether a stream shall go on after the end of its job.

    Raises:
        InvalidParameterError: The parameter says something else than yes or no.
    """
    given = request.query_params.get(REVIEWS, "false")
    if given not in ("true", "false"):
        raise input_error([Fault(f"/{REVIEWS}", f"The parameter {REVIEWS} has the wrong type.", "boolean")])
    return given == "true"


def _job_service(request: Request) -> JobService:
    job_service: JobService = request.app.state.services.job_service
    return job_service


def _reader(request: Request) -> Principal:
    (principal := principal_of(request.scope)).require(READ)
    return principal


def _position(request: Request, job: Job) -> str:
    """Return where the reader stopped; `0` for a new one.

    Raises:
        InvalidParameterError: Not a position of this job: malformed, or later than its last event.
    """
    given = _given_position(request) or "0"
    if given == "0":
        return given
    if "-" not in given or not is_position(given) or position_key(given) > position_key(job.event_id):
        accepted = "the id of an event of this job, <milliseconds>-<number>"
        raise input_error([Fault("/Last-Event-ID", "This is not a position in the events of this job.", accepted)])
    return given
