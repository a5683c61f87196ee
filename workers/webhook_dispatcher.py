"""Sends webhooks from the outbox to their endpoints (SPEC W3). Any number of dispatchers work side by side.

Owns the loop: take entries out of the outbox, claim what is due, attempt, record. Due times, leases and the state of
endpoints are in the store, so a dispatcher that dies loses nothing: its leases run out and another makes the attempt,
with the same id and body. What an answer means is `jobs/webhooks/endpoint_policy.py`, how to connect safely
`jobs/webhooks/webhook_client.py`.
"""

import asyncio
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Final

import anyio
from anyio.abc import TaskGroup

from planner_mcp.errors import EndpointUnreachableError, StoreError
from planner_mcp.jobs.ids import subscription_in
from planner_mcp.jobs.job_events import Event, EventKind, notification
from planner_mcp.jobs.masking.hidden_figures import masked_event
from planner_mcp.jobs.store.connection.script_client import StreamEntry
from planner_mcp.jobs.store.record_codec import event_data_of
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.signing_secrets import SigningSecrets
from planner_mcp.jobs.store.webhooks.event_subscription_store import RedisEventSubscriptions
from planner_mcp.jobs.store.webhooks.outbox import AttemptOutcome, DeliveryClaim, NewDelivery, Outbox
from planner_mcp.jobs.webhooks import webhook_signing
from planner_mcp.jobs.webhooks.endpoint_policy import WITHDRAWN, DeliveryDecision, decide_delivery, endpoint_id
from planner_mcp.jobs.webhooks.event_subscriptions import ID_HEADER
from planner_mcp.jobs.webhooks.webhook_client import WebhookClient, WebhookResponse
from planner_mcp.settings import Settings
from planner_mcp.text import compact

SLOTS: Final = 128
"""Most attempts that one dispatcher has in flight."""
UNPROVEN_SLOTS: Final = 96
"""Slots that endpoints may take whose last answer was not 2xx; the rest stays free for working endpoints."""
SPARE_SLOTS: Final = 64
"""Slots kept for endpoints without an attempt in flight, so that slow endpoints do not take all."""
RESERVED_SLOTS: Final = 32
"""Slots kept for principals that have less than `PRINCIPAL_SHARE` attempts in flight."""
PRINCIPAL_SHARE: Final = 12
"""Attempts of one principal beyond which it leaves the reserved slots to others."""
TICK_S: Final = 0.5
"""Longest time between two looks at the schedule, to which other processes add."""
READ_S: Final = 2.0
"""Longest wait for an outbox entry."""
AWAY_S: Final = 0.5
"""Wait before the store is asked again after a failure."""
AGAIN_S: Final = 1.0
"""Wait before a dispatcher that failed is restarted."""
STOP_S: Final = 2.0
"""Time for attempts in flight to end when the dispatcher stops."""

log = logging.getLogger("planner.webhooks")


class WebhookDispatcher:
    """The dispatcher of one shard in one process.

    Args:
        outbox: The deliveries.
        secrets: What signs them.
        subscriptions: Who subscribed to events, and what signs theirs.
        webhook_client: The guarded client.
        settings: Schedule, jitter and lease.
        name: Unique name of this dispatcher.
        clock: Unix time of an attempt.
        draw: Uniform in [0, 1), for jitter.
    """

    def __init__(
        self,
        outbox: Outbox,
        secrets: SigningSecrets,
        subscriptions: RedisEventSubscriptions,
        webhook_client: WebhookClient,
        settings: Settings,
        *,
        name: str,
        clock: Callable[[], float] = time.time,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._outbox = outbox
        self._secrets = secrets
        self._subscriptions = subscriptions
        self._webhook_client = webhook_client
        self._settings = settings
        self._name = name
        self._clock = clock
        self._draw = draw
        self._in_flight: dict[str, DeliveryClaim] = {}
        self._wake = anyio.Event()
        self._sweep_at = 0.0

    async def run(self, stop: anyio.Event) -> None:
        """Send until stopped. Attempts in flight then have `STOP_S` to end; the others are given back."""
        async with anyio.create_task_group() as loops:
            loops.start_soon(self._forever, self._read_outbox, stop)
            loops.start_soon(self._forever, self._keep_leases, stop)
            async with anyio.create_task_group() as attempts:
                loops.start_soon(self._cancel_after_grace, stop, attempts.cancel_scope)
                await self._forever(partial(self._start_due_deliveries, attempts), stop)
            loops.cancel_scope.cancel()

    async def _forever(self, step: Callable[[], Awaitable[None]], stop: anyio.Event) -> None:
        """Repeat a step until stopped; of failures in a row the first is logged."""
        has_failed = False
        while not stop.is_set():
            try:
                await step()
                has_failed = False
            except StoreError as error:
                if not has_failed:
                    log.warning("webhook dispatcher: store error: %s", error)
                has_failed = True
                await anyio.sleep(AWAY_S)

    async def _cancel_after_grace(self, stop: anyio.Event, attempts: anyio.CancelScope) -> None:
        await stop.wait()
        self._wake_loop()
        await anyio.sleep(STOP_S)
        attempts.cancel()

    # ---- from the outbox into the schedule

    async def _read_outbox(self) -> None:
        """Take new outbox entries, and once a lease also those that another dispatcher read and left."""
        began = anyio.current_time()
        entries = await self._outbox.read(self._name, READ_S)
        now = anyio.current_time()
        has_no_group = not entries and now - began < READ_S / 2
        if has_no_group or now >= self._sweep_at:
            self._sweep_at = now + self._settings.lease_s
            await self._outbox.open()
            entries += await self._outbox.abandoned_entries(self._name)
        if entries:
            await self._outbox.take([new_delivery for entry in entries for new_delivery in await self._read(entry)])
            self._wake_loop()

    async def _read(self, entry: StreamEntry) -> list[NewDelivery]:
        """Return the deliveries of an outbox entry: of a callback URL, or of subscriptions to events."""
        try:
            new_deliveries = (
                [delivery_of(entry)] if "url" in entry[1] else await self._subscriptions.deliveries_of(*entry)
            )
        except (KeyError, ValueError):
            log.exception("an outbox entry cannot be read and is dropped")
            new_deliveries = []
        if not new_deliveries:
            await self._outbox.drop(entry[0])
        return new_deliveries

    # ---- from the schedule to the endpoints

    async def _start_due_deliveries(self, attempts: TaskGroup) -> None:
        """Start the due deliveries for which there are slots, then wait until something changes."""
        wake = self._wake
        unproven = sum(not delivery_claim.proven for delivery_claim in self._in_flight.values())
        free_slots = SLOTS - len(self._in_flight)
        dispatches, next_s = await self._outbox.claim(
            free_slots,
            max(0, UNPROVEN_SLOTS - unproven),
            spare=SPARE_SLOTS,
            reserve=RESERVED_SLOTS,
            share=PRINCIPAL_SHARE,
        )
        for delivery_claim in dispatches:
            self._in_flight[delivery_claim.lease] = delivery_claim
            attempts.start_soon(self._attempt, delivery_claim)
        with anyio.move_on_after(min(next_s or TICK_S, TICK_S)):
            await wake.wait()

    async def _keep_leases(self) -> None:
        await anyio.sleep(self._settings.lease_s / 4)
        if self._in_flight:
            await self._outbox.renew(list(self._in_flight))

    async def _attempt(self, delivery_claim: DeliveryClaim) -> None:
        """Make one attempt and record it. When the store fails the lease runs out and the attempt is made again."""
        try:
            outcome = await self._outcome(delivery_claim)
            if not await self._outbox.settle(delivery_claim, outcome):
                log.info("delivery %s passed to another dispatcher", delivery_claim.delivery_id)
        except StoreError as error:
            log.warning("delivery %s will be attempted again: %s", delivery_claim.delivery_id, error)
        except anyio.get_cancelled_exc_class():
            await self._give_back(delivery_claim)
            raise
        finally:
            del self._in_flight[delivery_claim.lease]
            self._wake_loop()

    async def _outcome(self, delivery_claim: DeliveryClaim) -> AttemptOutcome:
        """Send, and evaluate the answer. No exception that an endpoint causes ends the dispatcher.

        An unforeseen exception counts as a failed attempt. Raised again, it would end every dispatcher in turn.
        """
        began = anyio.current_time()
        try:
            headers = await self._headers(delivery_claim)
            if headers is None:
                return AttemptOutcome(WITHDRAWN, None, 0.0)
            answer = await self._send(delivery_claim, headers)
            decision = self._decision(delivery_claim, answer)
        except StoreError:
            raise
        except Exception:
            log.exception("delivery %s failed inside the dispatcher", delivery_claim.delivery_id)
            answer, decision = None, self._decision(delivery_claim, None)
        return AttemptOutcome(decision, answer.status if answer else None, anyio.current_time() - began)

    def _decision(self, delivery_claim: DeliveryClaim, answer: WebhookResponse | None) -> DeliveryDecision:
        return decide_delivery(
            answer.status if answer else None,
            answer.retry_after if answer else "",
            attempt=delivery_claim.attempts + 1,
            schedule_s=self._settings.webhook_schedule_s,
            jitter=1 + self._settings.webhook_jitter * (2 * self._draw() - 1),
            now=datetime.fromtimestamp(self._clock(), UTC),
        )

    async def _headers(self, delivery_claim: DeliveryClaim) -> dict[str, str] | None:
        """Return the headers of a freshly signed attempt; None where its subscription has ended."""
        principal, name, body = delivery_claim.principal, delivery_claim.delivery_id, delivery_claim.body.encode()
        if not (subscription := subscription_in(name)):
            secrets = await self._secrets.signing(principal)
            return webhook_signing.headers(secrets, name, int(self._clock()), body)
        if not (secrets := await self._subscriptions.signing(principal, subscription)):
            return None
        event_id = json.loads(delivery_claim.body)["eventId"]
        return webhook_signing.headers(secrets, event_id, int(self._clock()), body) | {ID_HEADER: subscription}

    async def _send(self, delivery_claim: DeliveryClaim, headers: dict[str, str]) -> WebhookResponse | None:
        """Return the endpoint's answer to an attempt; None when there was none."""
        try:
            return await self._webhook_client.post(delivery_claim.url, headers, delivery_claim.body.encode())
        except EndpointUnreachableError as error:
            log.info("delivery %s got no answer: %r", delivery_claim.delivery_id, error.__cause__)
            return None

    async def _give_back(self, delivery_claim: DeliveryClaim) -> None:
        with anyio.move_on_after(AWAY_S, shield=True), suppress(StoreError):
            await self._outbox.give_back([delivery_claim.lease])

    def _wake_loop(self) -> None:
        self._wake.set()
        self._wake = anyio.Event()


def delivery_of(entry: StreamEntry) -> NewDelivery:
    """Return the delivery that an outbox entry describes.

    Raises:
        KeyError, ValueError: The entry is not what the job engine writes.
    """
    entry_id, kept = entry
    event = json.loads(kept["event"])
    kind = EventKind(event["kind"])
    given = Event(event["id"], event["job_id"], kind, event["at"], event_data_of(event["data"]))
    notice = notification(masked_event(given) if kept.get("masked") else given)
    return NewDelivery(
        delivery_id=kept["delivery_id"],
        principal=kept["principal"],
        url=kept["url"],
        endpoint=endpoint_id(kept["principal"], kept["url"]),
        kind=kind,
        job_id=event["job_id"],
        body=compact(notice),
        entry=entry_id,
    )


async def run_webhook_dispatcher(store: RedisStore, settings: Settings, stop: anyio.Event) -> None:
    """Send the webhooks of every shard until stopped."""
    cipher = open_cipher(settings)
    secrets = SigningSecrets(store.script_client, cipher)
    subscriptions = RedisEventSubscriptions(store.script_client, cipher, settings)
    webhook_client = WebhookClient(settings)
    name = f"courier-{token_hex(8)}"
    async with anyio.create_task_group() as dispatchers:
        for shard in range(settings.pools):
            dispatcher = WebhookDispatcher(
                Outbox(store.script_client, shard, settings),
                secrets,
                subscriptions,
                webhook_client,
                settings,
                name=name,
            )
            dispatchers.start_soon(dispatcher.run, stop)


async def keep_webhook_dispatcher(store: RedisStore, settings: Settings, stop: anyio.Event) -> None:
    """Run a dispatcher beside a worker until stopped. One that fails is restarted; no solve is affected."""
    while not stop.is_set():
        dispatcher = asyncio.create_task(run_webhook_dispatcher(store, settings, stop), name="webhook dispatcher")
        try:
            await asyncio.wait({dispatcher})
        finally:
            dispatcher.cancel()
        if not dispatcher.cancelled() and (error := dispatcher.exception()) is not None:
            log.error("the webhook dispatcher failed and is restarted", exc_info=error)
            await anyio.sleep(AGAIN_S)
