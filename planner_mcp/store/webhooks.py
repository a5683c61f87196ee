"""Everything a principal may ask of webhooks, over all pools: deliveries, replays, tests, the signing secret."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from planner_mcp.errors import NotFoundError, StoreUnavailableError
from planner_mcp.jobs.deliveries import Delivery, DeliveryState, Endpoint, SecretNote
from planner_mcp.notify.endpoints import endpoint_id
from planner_mcp.settings import Settings
from planner_mcp.store.link import Link
from planner_mcp.store.outbox import Aged, Outbox, Posting, Replay, pool_of, test_id
from planner_mcp.store.presence import ask_all
from planner_mcp.store.seal import open_seal
from planner_mcp.store.secrets import RedisSecrets

GLANCES: Final = 100
"""Deliveries read at once: each brings its body."""


class RedisWebhooks:
    """Implements `jobs.deliveries.Webhooks`.

    Args:
        link: The line to Redis.
        settings: Number of pools, schedule, the key that seals secrets.
    """

    def __init__(self, link: Link, settings: Settings) -> None:
        self._outboxes = [Outbox(link, pool, settings) for pool in range(settings.pools)]
        self._link = link
        self._settings = settings
        self._secrets: RedisSecrets | None = None

    async def deliveries(
        self, principal: str, state: DeliveryState | None, *, offset: int, count: int
    ) -> tuple[Sequence[Delivery], int]:
        """Return deliveries newest first, and how many there are; those expired meanwhile are left out."""
        found, total = await self._listed(principal, state, offset + count)
        names = [name for _age, name in found[offset : offset + count]]
        page: list[Delivery | None] = []
        for at in range(0, len(names), GLANCES):
            some = names[at : at + GLANCES]
            page += await asyncio.gather(*(self._outbox(name).glance(principal, name) for name in some))
        return [one for one in page if one is not None], total

    async def delivery(self, principal: str, delivery_id: str) -> Delivery:
        """Return one delivery with its attempts."""
        if (found := await self._find(principal, delivery_id)) is None:
            raise NotFoundError
        return found

    async def endpoints(self, principal: str, *, count: int) -> Sequence[Endpoint]:
        """Return how endpoints do, those last given something first; each pool judges an endpoint by itself."""
        return [one for outbox in self._outboxes for one in await outbox.endpoints(principal, count)][:count]

    async def replay(self, principal: str, delivery_id: str) -> Delivery:
        """Schedule a delivery that has ended anew, with the same id and body; one still pending is left alone."""
        outcome = await self._outbox(delivery_id).replay(principal, delivery_id)
        if outcome is Replay.UNKNOWN:
            raise NotFoundError
        delivery = await self.delivery(principal, delivery_id)
        if outcome is Replay.SCHEDULED:
            await self._reopen_beside(delivery_id, endpoint_id(principal, delivery.url))
        return delivery

    async def send_test(self, principal: str, url: str) -> Delivery:
        """Schedule a test delivery to a URL that was checked."""
        name = test_id(0)
        params = {"job_id": name, "status": "QUEUED", "progress": 0, "test": True}
        body = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        posting = Posting(name, principal, url, endpoint_id(principal, url), "test", name, body)
        await self._outboxes[0].take([posting])
        await self._reopen_beside(name, posting.endpoint)
        return await self.delivery(principal, name)

    async def _reopen_beside(self, delivery_id: str, endpoint: str) -> None:
        """Open an endpoint in the pools beside that of a delivery, which opens it there: each judges it by itself.

        A pool that is away goes on leaving it alone until the next test or replay.
        """
        others = [pool for pool in range(len(self._outboxes)) if pool != pool_of(delivery_id)]
        with suppress(StoreUnavailableError):
            await ask_all(others, lambda pool: self._outboxes[pool].reopen(endpoint))

    async def reveal(self, principal: str) -> SecretNote:
        """Return the secret, made on first need, if nobody has seen it yet; otherwise what is known of it."""
        return await self._secret_store().reveal(principal)

    async def rotate(self, principal: str) -> SecretNote:
        """Return a new secret; the old one goes on signing beside it for a day."""
        return await self._secret_store().rotate(principal)

    async def _listed(self, principal: str, state: DeliveryState | None, most: int) -> tuple[list[Aged], int]:
        """Return at least the newest so many of all pools, newest first, and how many there are."""
        if state in (DeliveryState.PENDING, DeliveryState.DELIVERED):
            found = [await outbox.in_state(principal, state) for outbox in self._outboxes]
            parts = [(aged, len(aged)) for aged in found]
        else:
            dead_only = state is DeliveryState.DEAD
            parts = [await outbox.newest(principal, most, dead_only=dead_only) for outbox in self._outboxes]
        merged = sorted((one for aged, _count in parts for one in aged), reverse=True)
        return merged, sum(total for _aged, total in parts)

    async def _find(self, principal: str, delivery_id: str) -> Delivery | None:
        return await self._outbox(delivery_id).find(principal, delivery_id)

    def _outbox(self, delivery_id: str) -> Outbox:
        if (pool := pool_of(delivery_id)) >= len(self._outboxes):
            raise NotFoundError
        return self._outboxes[pool]

    def _secret_store(self) -> RedisSecrets:
        """Return the secrets; the key is looked for on first need, so that listing works without it."""
        if self._secrets is None:
            self._secrets = RedisSecrets(self._link, open_seal(self._settings))
        return self._secrets
