"""Deliveries in Redis: taken from the outbox, scheduled by due time, leased to dispatchers, kept for a while.

Owns the keys below and the steps `lua/webhook_*.lua`. An endpoint is scheduled as a whole and has only so many
deliveries in flight, so a broken one holds up nobody else. Times are the store's.

```text
{pN}:outbox              stream  written by the job engine; group `couriers`; an entry is deleted when it was taken
{pN}:wh:d:<delivery>     hash    one delivery: principal, url, body, state, attempts, fence, due_ms, busy … keep
{pN}:wh:tries:<delivery> list    its attempts, JSON                                                       keep
{pN}:wh:q:<endpoint>     zset    its pending deliveries by due time                                       keep
{pN}:wh:ep:<endpoint>    hash    url, inflight, proven, failures, failing_ms, not_before_ms, paced_ms, gone keep
{pN}:wh:eps:<p>          zset    endpoints of a principal by when they were last given something           keep
{pN}:wh:proven|unproven  zset    endpoints by when the next attempt may start                              keep
{pN}:wh:leases           zset    "<delivery>/<fence>" by when the lease ends                               keep
{pN}:wh:busy|load        hash    principal to its attempts under way: to unproven endpoints, to all        keep
{pN}:wh:crowd|throng:<p> zset    its unproven and proven endpoints that stand aside until one of those ends keep
{pN}:wh:all|dead:<p>     zset    deliveries of a principal by age, and those given up                      keep
```
`keep` is the job TTL and twice the schedule, from the last step that touched the key.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Literal

from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient, StreamEntry
from planner_mcp.jobs.store.record_codec import utc_from_ms
from planner_mcp.jobs.store.webhooks.delivery_policy import policy
from planner_mcp.jobs.webhooks.delivery_records import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    EndpointState,
    WebhookEndpoint,
)
from planner_mcp.jobs.webhooks.endpoint_policy import DeliveryDecision
from planner_mcp.settings import Settings
from planner_mcp.text import Json

GROUP: Final = "couriers"
TAKE_AT_ONCE: Final = 64
SILENT_LEASES: Final = 3
"""A dispatcher without deliveries and without a sign of life for this many leases counts as gone."""
LOOK_AT_ONCE: Final = 1000
"""Deliveries one step looks at: others wait for it."""
TimedId = tuple[float, str]
"""When a delivery was made or given up, or an endpoint last given something, and its id."""
Index = Literal["all", "dead", "eps"]
"""Of a principal: its deliveries, those given up, its endpoints."""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """An outbox entry made ready: what will be sent, and where."""

    delivery_id: str
    principal: str
    url: str
    endpoint: str
    kind: str
    job_id: str
    body: str
    entry: str = ""
    """Outbox entry it came from; empty when made by hand."""


@dataclass(frozen=True, slots=True)
class DeliveryClaim:
    """A dispatcher's right to make one attempt, while its lease lasts."""

    delivery_id: str
    fence: int
    principal: str
    url: str
    body: str
    attempts: int
    """Attempts recorded before this one."""
    proven: int
    """1: the endpoint answered 2xx last."""

    @property
    def lease(self) -> str:
        """Name of the lease."""
        return f"{self.delivery_id}/{self.fence}"


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """One attempt and what follows from it."""

    decision: DeliveryDecision
    status: int | None
    """Of the answer; None when there was none."""
    took_s: float


class Replay(StrEnum):
    """Outcome of a request to repeat a delivery."""

    SCHEDULED = "ok"
    PENDING = "pending"
    """It has not ended and is left alone."""
    UNKNOWN = "unknown"
    """Or another's."""


class Outbox:
    """The deliveries of one shard.

    Args:
        script_client: Runs steps and commands.
        shard: Number of the shard.
        settings: Schedule, lease and lives.
        clock_ms: Stands in for the store's clock in tests.
    """

    def __init__(
        self, script_client: ScriptClient, shard: int, settings: Settings, *, clock_ms: Callable[[], int] | None = None
    ) -> None:
        self._script_client = script_client
        self._shard = shard
        self._policy = policy(settings)
        self._clock_ms = clock_ms
        self._lease_ms = int(settings.lease_s * 1000)
        self._stream = store_keys.key(shard, "outbox")

    # ---- the dispatcher's side

    async def read(self, dispatcher: str, wait_s: float) -> list[StreamEntry]:
        """Return outbox entries for this dispatcher, waiting for the first at most `wait_s`."""
        return await self._script_client.read_group(
            self._stream, group=GROUP, consumer=dispatcher, block_s=wait_s, count=TAKE_AT_ONCE
        )

    async def open(self) -> None:
        """Make the consumer group, if it is not there."""
        await self._step("webhook_open", {})

    async def abandoned_entries(self, dispatcher: str) -> list[StreamEntry]:
        """Return outbox entries that another dispatcher read and never took; forget dispatchers that have left."""
        words = ("XAUTOCLAIM", self._stream, GROUP, dispatcher, self._lease_ms, "0", "COUNT", TAKE_AT_ONCE)
        reply = await self._script_client.command(*words)
        await self._step("webhook_forget", {"silent_ms": SILENT_LEASES * self._lease_ms})
        return [(entry_id, fields) for entry_id, fields in reply[1] if fields]

    async def drop(self, entry_id: str) -> None:
        """Forget an outbox entry that makes no delivery; the group forgets one of which only the first half is done."""
        await self._script_client.command("XDEL", self._stream, entry_id)
        await self._script_client.command("XACK", self._stream, GROUP, entry_id)

    async def take(self, new_deliveries: Sequence[NewDelivery]) -> None:
        """Put deliveries into the schedule; safe to repeat, by any dispatcher."""
        described = [
            {
                "id": new_delivery.delivery_id,
                "principal": new_delivery.principal,
                "url": new_delivery.url,
                "endpoint": new_delivery.endpoint,
                "kind": new_delivery.kind,
                "job": new_delivery.job_id,
                "entry": new_delivery.entry,
            }
            for new_delivery in new_deliveries
        ]
        bodies = [new_delivery.body for new_delivery in new_deliveries]
        await self._step("webhook_take", {"deliveries": described}, *bodies)

    async def claim(
        self, room: int, unproven: int, *, spare: int = 0, reserve: int = 0, share: int = 0
    ) -> tuple[list[DeliveryClaim], float | None]:
        """Return deliveries to attempt now, and the seconds until more may be due (None: nothing is waiting).

        Args:
            room: Most deliveries.
            unproven: How many of them may go to endpoints that did not answer 2xx last.
            spare: How much of the room is kept for endpoints without an attempt under way.
            reserve: How much of `room`, and of `unproven`, is kept for principals with less than their share under way.
            share: Attempts of one principal by any dispatcher: for `unproven` those to such endpoints, else all.
        """
        args = {"room": room, "unproven": unproven, "spare": spare, "reserve": reserve, "share": share}
        _ok, rows, next_ms = await self._step("webhook_claim", args)
        return [DeliveryClaim(*row) for row in rows], None if next_ms < 0 else next_ms / 1000

    async def renew(self, leases: Sequence[str]) -> None:
        """Extend leases; those that have passed on stay lost."""
        await self._step("webhook_renew", {"leases": list(leases), "lease_ms": self._lease_ms})

    async def give_back(self, leases: Sequence[str]) -> None:
        """End leases without an attempt; whoever claims next takes the deliveries over."""
        await self._step("webhook_renew", {"leases": list(leases), "lease_ms": 0})

    async def settle(self, delivery_claim: DeliveryClaim, outcome: AttemptOutcome) -> bool:
        """Record an attempt; False when the lease has passed on and nothing was written."""
        decision = outcome.decision
        args = {
            "id": delivery_claim.delivery_id,
            "fence": delivery_claim.fence,
            "is_delivered": decision.is_delivered,
            "is_gone": decision.is_gone,
            "is_withdrawn": decision.is_withdrawn,
            "error": decision.error,
            "status": outcome.status or 0,
            "took_ms": round(outcome.took_s * 1000),
            "delay_ms": -1 if decision.delay_s is None else round(decision.delay_s * 1000),
            "pause_ms": round(decision.pause_s * 1000),
        }
        reply = await self._step("webhook_settle", args)
        return bool(reply[0] == "ok")

    # ---- the owner's side

    async def newest(self, index: Index, principal: str, offset: int, count: int) -> list[TimedId]:
        """Return some of a principal's deliveries or endpoints, newest first."""
        name = store_keys.key(self._shard, "wh", index, principal)
        return _timed_ids(
            await self._script_client.command("ZREVRANGE", name, offset, offset + count - 1, "WITHSCORES")
        )

    async def count(self, index: Index, principal: str) -> int:
        """Return how many a principal has."""
        return int(await self._script_client.command("ZCARD", store_keys.key(self._shard, "wh", index, principal)))

    async def in_state(self, principal: str, state: DeliveryState) -> list[TimedId]:
        """Return a principal's deliveries in one state, newest first; looks at so many in one step."""
        found: dict[str, TimedId] = {}  # by id: what is new meanwhile moves the others on
        seen, more = 0, LOOK_AT_ONCE
        while more == LOOK_AT_ONCE:
            args = {"principal": principal, "state": state, "from": seen, "count": LOOK_AT_ONCE}
            _ok, flat, more = await self._step("webhook_list", args)
            found |= {aged[1]: aged for aged in _timed_ids(flat)}
            seen += more
        return list(found.values())

    async def find_without_attempts(self, principal: str, delivery_id: str) -> Delivery | None:
        """Return one delivery without its attempts, or None when it is unknown or another's."""
        kept = await self._script_client.command("HGETALL", store_keys.key(self._shard, "wh", "d", delivery_id))
        return _delivery(delivery_id, kept) if kept.get("principal") == principal else None

    async def find(self, principal: str, delivery_id: str) -> Delivery | None:
        """Return one delivery with its attempts, or None when it is unknown or another's."""
        if (found := await self.find_without_attempts(principal, delivery_id)) is None:
            return None
        tries = await self._script_client.command(
            "LRANGE", store_keys.key(self._shard, "wh", "tries", delivery_id), 0, -1
        )
        return replace(found, attempts=tuple(_attempt(json.loads(text)) for text in tries))

    async def endpoint(self, name: str) -> WebhookEndpoint | None:
        """Return how an endpoint does in this shard, or None when it was given nothing here."""
        kept = await self._script_client.command("HGETALL", store_keys.key(self._shard, "wh", "ep", name))
        if not kept.get("url"):
            return None
        pending = await self._script_client.command("ZCARD", store_keys.key(self._shard, "wh", "q", name))
        return _endpoint(kept, int(pending), self._clock_ms() / 1000 if self._clock_ms else time.time())

    async def replay(self, principal: str, delivery_id: str) -> Replay:
        """Schedule an ended delivery anew, if it is one of the principal's."""
        reply = await self._step("webhook_replay", {"id": delivery_id, "principal": principal})
        return Replay(reply[0])

    async def reopen(self, endpoint: str) -> None:
        """Forget whatever an endpoint was left alone for in this shard."""
        await self._step("webhook_reopen", {"endpoint": endpoint})

    async def _step(self, name: str, args: Json, *blobs: str) -> list[Any]:
        clock = {} if self._clock_ms is None else {"now_ms": self._clock_ms()}
        return await self._script_client.step(name, self._shard, {**args, **clock, "policy": self._policy}, *blobs)


def _timed_ids(flat: Sequence[str]) -> list[TimedId]:
    return [(float(score), name) for name, score in zip(flat[::2], flat[1::2], strict=True)]


def _attempt(kept: Json) -> DeliveryAttempt:
    return DeliveryAttempt(utc_from_ms(kept["at_ms"]), kept["status"] or None, kept["error"], int(kept["took_ms"]))


def _delivery(delivery_id: str, kept: dict[str, str]) -> Delivery:
    state = DeliveryState(kept["state"])
    return Delivery(
        id=delivery_id,
        principal=kept["principal"],
        url=kept["url"],
        job_id=kept["job"],
        kind=kept["kind"],
        body=kept["body"],
        state=state,
        created_at=utc_from_ms(kept["created_ms"]),
        due_at=utc_from_ms(kept["due_ms"]) if state is DeliveryState.PENDING else None,
        attempt_count=int(kept["attempts"]),
        error=kept.get("error", ""),
    )


def _endpoint(kept: dict[str, str], pending: int, now_s: float) -> WebhookEndpoint:
    failures, rests_until = int(kept.get("failures", 0)), int(kept.get("not_before_ms", 0)) / 1000
    state = EndpointState.FAILING if failures else EndpointState.WORKING if "status" in kept else EndpointState.NEW
    if failures and rests_until > now_s:
        state = EndpointState.RESTING
    if "gone" in kept:
        state = EndpointState.DISABLED
    return WebhookEndpoint(
        url=kept["url"].partition("?")[0],
        state=state,
        pending=pending + int(kept.get("inflight", 0)),
        failures=failures,
        status=int(kept.get("status", 0)) or None,
        failing_since=utc_from_ms(kept["failing_ms"]) if "failing_ms" in kept else None,
        last_at=utc_from_ms(kept["last_ms"]) if "last_ms" in kept else None,
        rests_until=utc_from_ms(rests_until * 1000) if state is EndpointState.RESTING else None,
    )
