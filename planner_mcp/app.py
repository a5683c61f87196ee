"""Joins the rooms: the one place where adapters meet ports, and where routes are named.

Owns the order in which things open and close. What serves this app, and the workers beside it, is `cli`'s.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import anyio
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from planner_mcp.auth.audit import Audit
from planner_mcp.auth.opening import open_authenticator
from planner_mcp.jobs.service import Planner
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.protocol.asking import Asking
from planner_mcp.protocol.auditing import AuditedMethods
from planner_mcp.protocol.doors.answering import Answering
from planner_mcp.protocol.doors.http import Front
from planner_mcp.protocol.doors.sse2024 import SseFront
from planner_mcp.protocol.doors.stateless import Stateless
from planner_mcp.protocol.jsonrpc.envelope import edge_refusal
from planner_mcp.protocol.kernel import Feature, Kernel
from planner_mcp.protocol.methods.cursors import Cursors
from planner_mcp.protocol.methods.elicit import Elicitation
from planner_mcp.protocol.methods.library import Library
from planner_mcp.protocol.methods.tasks import Tasks
from planner_mcp.protocol.methods.toolcalls import ToolDesk
from planner_mcp.protocol.notifications.listen import Listen
from planner_mcp.protocol.notifications.listen_stream import Sources
from planner_mcp.protocol.notifications.logs import Logs
from planner_mcp.protocol.notifications.offer import Offer
from planner_mcp.protocol.notifications.subjects import Registry
from planner_mcp.protocol.notifications.subscriptions import Subscriptions
from planner_mcp.protocol.revisions import REVISIONS
from planner_mcp.resources.base import Reading
from planner_mcp.resources.reports import ReportFolder
from planner_mcp.settings import Settings
from planner_mcp.stopping import stop
from planner_mcp.store.api_keys import RedisKeyRing
from planner_mcp.store.audit_log import AuditLog
from planner_mcp.store.border import explained
from planner_mcp.store.connect import connect
from planner_mcp.store.rates import RateLimiter
from planner_mcp.store.redis_store import RedisStore
from planner_mcp.store.seal import open_seal, state_key
from planner_mcp.store.sessions.notes import SessionNotes
from planner_mcp.store.sessions.store import SessionStore
from planner_mcp.store.sessions.work import SessionWork
from planner_mcp.store.wake import Waker
from planner_mcp.store.watch_log import WatchLog
from planner_mcp.store.webhooks import RedisWebhooks
from planner_mcp.tools.answers.meter import Meter
from planner_mcp.web.answers import HANDLERS
from planner_mcp.web.discovery import discovery_routes
from planner_mcp.web.edge import edge_layers
from planner_mcp.web.gate import Gate
from planner_mcp.web.health import health_routes
from planner_mcp.web.jobs_api import JobsApi
from planner_mcp.web.judge import Judge
from planner_mcp.web.manifest import manifest_routes
from planner_mcp.web.matrices_api import MatricesApi
from planner_mcp.web.metrics import metrics_routes
from planner_mcp.web.open_count import OpenStreams
from planner_mcp.web.slashes import Unslashed
from planner_mcp.web.wellknown import metadata_routes
from planner_mcp.web.witness import Witness

GRACE_SHARE: Final = 0.8
"""Of the time connections have to end; what is left is for telling their clients."""


@dataclass(frozen=True, slots=True)
class House:
    """What every door needs."""

    settings: Settings
    store: RedisStore
    planner: Planner
    kernel: Kernel
    audit: Audit
    waker: Waker
    subscriptions: Subscriptions
    streams: OpenStreams
    offer: Offer
    meter: Meter


@asynccontextmanager
async def open_house(settings: Settings, drain: anyio.Event | None = None) -> AsyncIterator[House]:
    """Connect the store (starting the embedded one where no URL is set) and put planner and kernel on it."""
    async with connect(settings) as store, RedisFeed(store) as feed:
        planner = Planner(store, feed, settings=settings)
        audit_log = AuditLog(store.link, settings)
        audit = Audit(audit_log)
        books = library(settings, planner, audit_log)
        desk = ToolDesk(planner, settings, books, webhooks=RedisWebhooks(store.link, settings), audit=audit)
        waker = Waker(store.redis)
        registry, watch_log = Registry(planner, waker), WatchLog(store.redis)
        subscriptions = Subscriptions(registry, watch_log, waker, job_ttl_s=settings.job_ttl_s)
        streams = OpenStreams(settings.max_streams)
        listen = Listen(Sources(registry, watch_log, settings.job_ttl_s, drain or anyio.Event()), streams)
        tasks = Tasks(planner, desk, settings, cursors=books.cursors, on_created=subscriptions.add_task)
        notes, questions = SessionNotes(store.redis), Elicitation(settings, [state_key(settings)])
        offer, meter = Offer(settings, watch_log), desk.meter
        features: list[Feature] = [tasks, subscriptions, listen, *books.features(), questions, Logs(notes), offer]
        kernel = Kernel(desk, [AuditedMethods(audit), *features])
        kernel.asking = Asking(notes, waker)
        try:
            yield House(settings, store, planner, kernel, audit, waker, subscriptions, streams, offer, meter)
        finally:
            await audit.settled()


def library(settings: Settings, planner: Planner, audit_log: AuditLog) -> Library:
    """Return what can be read beside tools."""
    reports = ReportFolder(settings.reports_dir)
    return Library(
        planner, Cursors(open_seal(settings)), lambda principal: Reading(principal, planner, reports, audit_log)
    )


@asynccontextmanager
async def open_front(house: House, drain: anyio.Event) -> AsyncIterator[Front]:
    """Serve sessions of the house's kernel on this replica."""
    waker = house.waker
    async with house.kernel.sdk_entry(house.settings.max_body_bytes) as sdk:
        front = Front(
            house.kernel,
            SessionStore(house.store.redis, house.settings.max_sessions),
            waker,
            stateless=Stateless(house.kernel, sdk, streams=house.streams),
            drain=drain,
            streams=house.streams,
            pump=house.subscriptions.pump,
            grace_s=GRACE_SHARE * house.settings.grace_s,
        )
        waker.on_cancel(front.cancelled)
        async with hearing(house), front.running():
            yield front


@asynccontextmanager
async def hearing(house: House) -> AsyncIterator[None]:
    """Hear wake-ups of the store for the length of the block."""
    listening = asyncio.create_task(house.waker.run(), name="wake-ups")
    try:
        yield
    finally:
        await stop(listening)


@asynccontextmanager
async def open_old_front(house: House, front: Front, drain: anyio.Event) -> AsyncIterator[SseFront]:
    """Serve the transport of revision 2024-11-05 on this replica."""
    store, waker = SessionStore(house.store.redis, house.settings.max_sessions), house.waker
    answering = Answering(house.kernel, store, SessionWork(house.store.redis))
    waker.on_cancel(answering.cancelled)
    async with answering.running():
        yield SseFront(
            store,
            waker,
            answering=answering,
            taker=front,
            pump=house.subscriptions.pump,
            drain=drain,
            streams=house.streams,
        )


@asynccontextmanager
async def open_app(settings: Settings, *, drain: anyio.Event) -> AsyncIterator[Starlette]:
    """Open one replica and yield its ASGI app, which has no lifespan of its own.

    Args:
        settings: As read from the environment and the command line.
        drain: Set by whoever serves the app before it stops: open streams then end, so that clients go elsewhere.

    Raises:
        StoreError: The store does not answer, takes no writes or cannot be trusted with jobs.
    """
    async with open_house(settings, drain) as house, open_doors(house, drain) as app:
        yield app


@asynccontextmanager
async def open_doors(house: House, drain: anyio.Event) -> AsyncIterator[Starlette]:
    """Open every door of a house and yield the app behind them.

    Raises:
        StoreError: The store takes no writes; told before any door is open.
    """
    settings = house.settings
    with explained(has_url=bool(settings.redis_url)):
        await house.offer.tell()
    async with open_front(house, drain) as front, open_old_front(house, front, drain) as old_front:
        doors = [
            Route("/mcp", front),
            *old_front.routes(),
            *JobsApi(house.streams, drain=drain).routes(),
            *MatricesApi(settings).routes(),
            *manifest_routes(settings),
            *discovery_routes(settings, REVISIONS),
            *health_routes(),
            *metrics_routes(settings, house.meter),
            *metadata_routes(settings),
        ]
        witness = Middleware(Witness, audit=house.audit, has_auth=settings.has_auth)
        layers = edge_layers(
            settings,
            before_body=gate_layers(house),
            after_body=judge_layers(house),
            refusals=dict.fromkeys(("/mcp", "/messages"), edge_refusal),
        )
        outermost = [Middleware(Unslashed), witness]
        app = Starlette(routes=doors, middleware=[*outermost, *layers], exception_handlers=HANDLERS)
        app.router.redirect_slashes = False
        app.state.house = house
        yield app


def gate_layers(house: House) -> list[Middleware]:
    """Return the layer that names principals; none where everybody is the single user (SPEC A3)."""
    settings, link = house.settings, house.store.link
    if not settings.has_auth:
        return []
    authenticator = open_authenticator(settings, RedisKeyRing(link))
    return [Middleware(Gate, settings=settings, authenticator=authenticator, limiter=RateLimiter(link, settings))]


def judge_layers(house: House) -> list[Middleware]:
    """Return the layer that judges scopes; none where everybody holds them all."""
    return [Middleware(Judge, settings=house.settings)] if house.settings.has_auth else []
