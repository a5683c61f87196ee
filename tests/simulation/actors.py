"""Client, worker, reaper and dispatcher: what each asks of the store, one thing after another, until it dies.

They use the product's store; what happens between two of their steps is the network's. A worker's search is a wait.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar

from planner_mcp.errors import (
    CapacityError,
    IdempotencyConflictError,
    IllegalTransitionError,
    LeaseLostError,
    StoreUnavailableError,
)
from planner_mcp.jobs.job_model import Job, Progress, SolveRequest
from planner_mcp.jobs.job_ports import Claim, SeatClaim
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.webhooks.outbox import AttemptOutcome, DeliveryClaim, Outbox
from planner_mcp.jobs.webhooks.endpoint_policy import decide_delivery
from tests.shared.workers.stub_solver_worker import PLAN
from tests.simulation.network import Link, Network
from workers.webhook_dispatcher import delivery_of

T = TypeVar("T")
HOOK: Final = "https://example.org/hook"
AGAIN_S: Final = 0.3
"""Pause of an actor whom the store did not answer."""
SOLVE_S: Final = 2.0
"""Longest search."""
RENEWALS: Final = 4
"""In a lease."""
ROOM: Final = 4


@dataclass
class Actor:
    """One process: its name, its way to the server, and the store over it."""

    name: str
    network: Network

    def __post_init__(self) -> None:
        self.link = Link(self.network, self.name)
        client = ScriptClient(self.link, self.link, self.network.settings)  # type: ignore[arg-type]
        self.store = RedisStore(client, self.network.settings, clock=self.network.loop.time)
        self.outbox = Outbox(client, 0, self.network.settings)

    @property
    def dice(self) -> random.Random:
        """The one source of chance of a history."""
        return self.network.dice

    @property
    def lease_s(self) -> float:
        """Of every worker."""
        return self.network.settings.lease_s

    async def until_answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until the store answers."""
        while True:
            with suppress(StoreUnavailableError):
                return await ask()
            await asyncio.sleep(AGAIN_S)


# ---- callers


async def call(actor: Actor, principal: str, scenario: str, new_name: Callable[[], str]) -> None:
    """Submit a job, then look at it, cancel it or ask it to finish."""
    dice = actor.dice
    await asyncio.sleep(dice.random() * actor.lease_s)
    key = dice.choice((None, "key-a", "key-b"))
    request = SolveRequest(
        scenario,
        20,
        seed=dice.randrange(2),
        priority=dice.randint(1, 9),
        callback_url=dice.choice((HOOK, None)),
        cores=dice.choice((None, None, 3)),
        idempotency_key=key,
        fresh=key is None and dice.random() < 0.3,
    )
    try:
        job = await actor.until_answered(lambda: actor.store.submit(principal, request, new_name()))
    except (CapacityError, IdempotencyConflictError):
        return
    _note(actor, "submitted", job)
    for act in dice.sample((_look, _read, _cancel, _finish_now), k=dice.randint(0, 4)):
        await asyncio.sleep(dice.random() * actor.lease_s)
        await act(actor, principal, job.id)


async def _look(actor: Actor, principal: str, job_id: str) -> None:
    _note(actor, "seen", await actor.until_answered(lambda: actor.store.get_job(principal, job_id)))


async def _read(actor: Actor, principal: str, job_id: str) -> None:
    past = await actor.until_answered(lambda: actor.store.read_past(principal, job_id))
    seen = actor.network.history.events_seen
    seen[job_id] = max(seen.get(job_id, []), [event.id for event in past.events], key=len)


async def _cancel(actor: Actor, principal: str, job_id: str) -> None:
    keep = actor.dice.random() < 0.5
    cancel = actor.store.cancel
    _note(actor, "cancelled", await actor.until_answered(lambda: cancel(principal, job_id, keep_best=keep)))


async def _finish_now(actor: Actor, principal: str, job_id: str) -> None:
    with suppress(IllegalTransitionError):
        _note(actor, "seen", await actor.until_answered(lambda: actor.store.finish_now(principal, job_id)))


def _note(actor: Actor, kind: str, job: Job) -> None:
    actor.network.history.answer(actor.name, kind, job.id, job.state.value)


# ---- workers


async def work(actor: Actor) -> None:
    """Claim and solve one job after another."""
    while True:
        try:
            claim = await actor.store.claim(actor.name, actor.lease_s)
        except StoreUnavailableError:
            await asyncio.sleep(AGAIN_S)
            continue
        if isinstance(claim, SeatClaim):
            await _sit(actor, claim)
        elif claim is not None:
            with suppress(LeaseLostError):
                await _solve(actor, claim)


async def beat(actor: Actor) -> None:
    """Send the heartbeats of a worker."""
    while True:
        with suppress(StoreUnavailableError):
            await actor.store.register(actor.name, 1)
        await asyncio.sleep(actor.lease_s)


async def reap(actor: Actor) -> None:
    """Sweep without any of the product's caution: no lease is spared."""
    while True:
        await asyncio.sleep(actor.lease_s * actor.dice.random())
        with suppress(StoreUnavailableError):
            await actor.store.reap()


async def _solve(actor: Actor, claim: Claim) -> None:
    """Hold a job for a while and end it, one way or another."""
    dice, ends_at = actor.dice, actor.network.loop.time() + actor.dice.random() ** 2 * SOLVE_S
    change = dice.choices(("complete", "fail", "crash", "hand_back"), (6, 1, 1, 1))[0]
    percent = 0
    while actor.network.loop.time() < ends_at:
        await asyncio.sleep(min(actor.lease_s / RENEWALS, max(0.0, ends_at - actor.network.loop.time())))
        with suppress(StoreUnavailableError):
            renewal = await actor.store.renew(claim)
            if not renewal.is_held:
                return await _write_late(actor, claim)
            if renewal.cancel or renewal.finish:
                change = "cancel" if renewal.cancel else "complete"
                break
            if claim.job.seats > 1:
                await actor.store.exchange(claim, None)
            percent += 7
            await actor.store.report(claim, Progress(percent=percent, cost=100.0 - percent), dice.choice((PLAN, None)))
    await actor.until_answered(lambda: _end(actor, claim, change))
    actor.network.history.answer(actor.name, change, claim.job.id, "")
    return None


async def _sit(actor: Actor, seat: SeatClaim) -> None:
    """Have a seat for a while; offer a plan now and then."""
    dice, ends_at = actor.dice, actor.network.loop.time() + actor.dice.random() ** 2 * SOLVE_S
    while True:
        leaves = actor.network.loop.time() >= ends_at
        with suppress(StoreUnavailableError):
            plan = PLAN | {"cost": round(100 * dice.random(), 1)}
            if not (await actor.store.exchange(seat, plan, is_new=dice.random() < 0.3, leaves=leaves)).is_held:
                return
        await asyncio.sleep(actor.lease_s / RENEWALS)


async def _write_late(actor: Actor, claim: Claim) -> None:
    """Write although the lease is lost: it must be refused."""
    with suppress(StoreUnavailableError):
        await actor.dice.choice((actor.store.renew, lambda held: _end(actor, held, "complete")))(claim)


async def _end(actor: Actor, claim: Claim, change: str) -> None:
    store, error = actor.store, {"code": 1, "message": "died"}
    if change == "complete":
        await store.complete(claim, Progress(percent=99, cost=1.0), PLAN)
    elif change == "fail":
        await store.fail(claim, error)
    elif change == "crash":
        await store.crash(claim, error)
    elif change == "cancel":
        await store.settle_cancel(claim)
    else:
        await store.hand_back(claim)


# ---- webhooks


async def dispatch(actor: Actor) -> None:
    """Take from the outbox, claim what is due, attempt and record, as `workers/webhook_dispatcher.py` does."""
    sweep_at = 0.0
    while True:
        with suppress(StoreUnavailableError):
            entries = await actor.outbox.read(actor.name, actor.lease_s / 2)
            if actor.network.loop.time() >= sweep_at:
                sweep_at = actor.network.loop.time() + actor.lease_s
                await actor.outbox.open()
                entries += await actor.outbox.abandoned_entries(actor.name)
            if entries:
                await actor.outbox.take([delivery_of(entry) for entry in entries])
            claims, _next_s = await actor.outbox.claim(ROOM, ROOM)
            for claim in claims:
                await _attempt(actor, claim)


async def _attempt(actor: Actor, claim: DeliveryClaim) -> None:
    """Send to a hook that may be slow, broken or silent after it has read."""
    dice, is_healthy = actor.dice, actor.network.is_healed
    await asyncio.sleep(dice.random() * (0.05 if is_healthy else actor.lease_s))
    status: int | None = 200 if is_healthy else dice.choice((200, 200, 500, None))
    if status != 500 and (status or dice.random() < 0.5):
        actor.network.history.received.setdefault(claim.delivery_id, []).append(claim.body)
    schedule = actor.network.settings.webhook_schedule_s
    decision = decide_delivery(
        status, "", attempt=claim.attempts + 1, schedule_s=schedule, jitter=1.0, now=datetime.fromtimestamp(0, UTC)
    )
    await actor.outbox.settle(claim, AttemptOutcome(decision, status, 0.1))
