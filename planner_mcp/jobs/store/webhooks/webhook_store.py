"""Webhooks of a principal over all shards: deliveries, replays, tests, the signing secret."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Final

from planner_mcp.errors import NotFoundError, StoreUnavailableError
from planner_mcp.jobs.ids import random_test_id, shard_of_delivery
from planner_mcp.jobs.store.connection import shard_pages
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.connection.shard_availability import ask_all
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.signing_secrets import SigningSecrets
from planner_mcp.jobs.store.webhooks.outbox import Index, NewDelivery, Outbox, Replay, TimedId
from planner_mcp.jobs.webhooks.delivery_records import (
    Delivery,
    DeliveryState,
    EndpointState,
    SigningSecret,
    WebhookEndpoint,
)
from planner_mcp.jobs.webhooks.endpoint_policy import endpoint_id
from planner_mcp.settings import Settings

READ_AT_ONCE: Final = 100
"""Deliveries read at once: each brings its body."""


class RedisWebhookStore:
    """Implements `jobs.webhooks.delivery_records.WebhookStore`.

    Args:
        script_client: Runs steps and commands.
        settings: Number of shards, schedule, the key that encrypts secrets.
    """

    def __init__(self, script_client: ScriptClient, settings: Settings) -> None:
        self._outboxes = [Outbox(script_client, shard, settings) for shard in range(settings.pools)]
        self._script_client = script_client
        self._settings = settings

    async def deliveries(
        self, principal: str, state: DeliveryState | None, *, offset: int, count: int
    ) -> tuple[Sequence[Delivery], int]:
        """Return deliveries newest first, and how many there are; those expired meanwhile are left out."""
        found, total = await self._listed(principal, state, offset, count)
        names = [name for _age, name in found]
        page: list[Delivery | None] = []
        for at in range(0, len(names), READ_AT_ONCE):
            some = names[at : at + READ_AT_ONCE]
            page += await asyncio.gather(*(self._outbox(name).find_without_attempts(principal, name) for name in some))
        return [one for one in page if one is not None], total

    async def delivery(self, principal: str, delivery_id: str) -> Delivery:
        """Return one delivery with its attempts."""
        if (found := await self._outbox(delivery_id).find(principal, delivery_id)) is None:
            raise NotFoundError
        return found

    async def endpoints(self, principal: str, *, offset: int, count: int) -> tuple[Sequence[WebhookEndpoint], int]:
        """Return endpoints and their number, the most recently used first; each with its worst state in any shard."""
        names, total = await self._given(principal, offset, count)
        found = [await self.endpoint(name) for name in names]
        return [each for each in found if each is not None], total

    async def endpoint(self, endpoint: str) -> WebhookEndpoint | None:
        """Return an endpoint with its worst state in any shard; None where it was given nothing."""
        known = await asyncio.gather(*(outbox.endpoint(endpoint) for outbox in self._outboxes))
        parts = [one for one in known if one is not None]
        return _together(parts) if parts else None

    async def reopen(self, endpoint: str, *, but: int | None = None) -> None:
        """Open an endpoint in all shards, or all but one: each counts its failures by itself.

        A shard that is away goes on leaving it alone until the next test or replay.
        """
        others = [shard for shard in range(len(self._outboxes)) if shard != but]
        with suppress(StoreUnavailableError):
            await ask_all(others, lambda shard: self._outboxes[shard].reopen(endpoint))

    async def replay(self, principal: str, delivery_id: str) -> Delivery:
        """Schedule a delivery that has ended anew, with the same id and body; one still pending is left alone."""
        outcome = await self._outbox(delivery_id).replay(principal, delivery_id)
        if outcome is Replay.UNKNOWN:
            raise NotFoundError
        delivery = await self.delivery(principal, delivery_id)
        if outcome is Replay.SCHEDULED:
            await self.reopen(endpoint_id(principal, delivery.url), but=shard_of_delivery(delivery_id))
        return delivery

    async def send_test(self, principal: str, url: str) -> Delivery:
        """Schedule a test delivery to a URL that was checked."""
        name = random_test_id(0)
        params = {"job_id": name, "status": "QUEUED", "progress": 0, "test": True}
        body = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        new_delivery = NewDelivery(name, principal, url, endpoint_id(principal, url), "test", name, body)
        await self._outboxes[0].take([new_delivery])
        await self.reopen(new_delivery.endpoint, but=0)
        return await self.delivery(principal, name)

    async def reveal(self, principal: str) -> SigningSecret:
        """Return the secret, made on first need, if nobody has seen it yet; otherwise what is known of it."""
        return await self._secrets.reveal(principal)

    async def rotate(self, principal: str, *, is_forced: bool = False) -> SigningSecret:
        """Return a new secret; the old one goes on signing beside it for a day, save where it is forced and cannot."""
        return await self._secrets.rotate(principal, is_forced=is_forced)

    async def _listed(
        self, principal: str, state: DeliveryState | None, offset: int, count: int
    ) -> tuple[list[TimedId], int]:
        """Return a page of all shards, newest first, and how many there are."""
        if state in (DeliveryState.PENDING, DeliveryState.DELIVERED):
            found = [await outbox.in_state(principal, state) for outbox in self._outboxes]
            return shard_pages.merged(found, offset + count, _age)[offset:], sum(map(len, found))
        index: Index = "dead" if state is DeliveryState.DEAD else "all"
        reads = [partial(outbox.newest, index, principal) for outbox in self._outboxes]
        starts = await shard_pages.page_starts([partial(_ages, read) for read in reads], offset)
        parts = [await read(start, count) for read, start in zip(reads, starts, strict=True)]
        total = sum([await outbox.count(index, principal) for outbox in self._outboxes])
        return shard_pages.merged(parts, count, _age), total

    async def _given(self, principal: str, offset: int, count: int) -> tuple[list[str], int]:
        """Return a page of the endpoints that were given something, and how many there are.

        Of several shards all are read, because many shards may know the same.
        """
        if len(self._outboxes) == 1:
            (shard,) = self._outboxes
            page = await shard.newest("eps", principal, offset, count)
            return [name for _age, name in page], await shard.count("eps", principal)
        given = [aged for outbox in self._outboxes for aged in await _all_endpoints(outbox, principal)]
        names = [*dict.fromkeys(name for _age, name in sorted(given, reverse=True))]
        return names[offset : offset + count], len(names)

    def _outbox(self, delivery_id: str) -> Outbox:
        if (shard := shard_of_delivery(delivery_id)) >= len(self._outboxes):
            raise NotFoundError
        return self._outboxes[shard]

    @cached_property
    def _secrets(self) -> SigningSecrets:
        """The secrets; the key is looked for on first need, so that listing works without it."""
        return SigningSecrets(self._script_client, open_cipher(self._settings))


def _age(aged: TimedId) -> float:
    return aged[0]


async def _all_endpoints(outbox: Outbox, principal: str) -> list[TimedId]:
    """Return the endpoints of a principal in a shard, newest first; so many are read in one step."""
    found: list[TimedId] = []
    while part := await outbox.newest("eps", principal, len(found), shard_pages.AT_ONCE):
        found += part
    return found


async def _ages(read: Callable[[int, int], Awaitable[list[TimedId]]], offset: int, count: int) -> list[float]:
    return [_age(aged) for aged in await read(offset, count)]


def _together(parts: Sequence[WebhookEndpoint]) -> WebhookEndpoint:
    """Return the worst state of an endpoint in any shard, with the number of deliveries pending in all."""
    worst = max(parts, key=lambda one: (_STATES.index(one.state), one.failures))
    return replace(worst, pending=sum(one.pending for one in parts))


_STATES: Final = [*EndpointState]
