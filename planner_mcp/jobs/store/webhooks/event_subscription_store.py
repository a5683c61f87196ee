"""Subscriptions to events in Redis, and the deliveries that an event makes for them.

Implements `jobs.webhooks.event_subscriptions.EventSubscriptionStore`. The keys are named in `store_keys.py`: records in
one hash for each principal, and in each shard the kinds of events that its jobs put into the outbox.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from planner_mcp.jobs.events.event_types import TYPES, Improvement, Occurrence, improvement_of
from planner_mcp.jobs.ids import shard_of_delivery
from planner_mcp.jobs.store import record_codec, store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.jobs.store.security.signing_secrets import OLD_S
from planner_mcp.jobs.store.webhooks.outbox import NewDelivery, Outbox
from planner_mcp.jobs.webhooks.endpoint_policy import endpoint_id
from planner_mcp.jobs.webhooks.event_subscriptions import EventSubscription
from planner_mcp.settings import Settings
from planner_mcp.text import Json, compact

MOST_OLD: Final = 2
"""Secrets that sign beside the current one."""
RENEWABLE: Final = timedelta(hours=1)
"""How long an ended subscription is kept: a client renews it when it ends, while an event has it read and forgotten."""
GAIN_S: Final = 86400
"""How long it is known which improvement of a job a subscription was sent last."""
_TYPES: Final = {each.name: each for each in TYPES}


class RedisEventSubscriptions:
    """The subscriptions of all principals.

    Args:
        script_client: Runs steps and commands.
        cipher: Encrypts the secrets.
        settings: Number of shards.
    """

    def __init__(self, script_client: ScriptClient, cipher: SecretCipher, settings: Settings) -> None:
        self._script_client = script_client
        self._cipher = cipher
        self._settings = settings

    async def put(self, subscription: EventSubscription, secret: str) -> None:
        """Keep a subscription until it ends; the secret before this one goes on signing beside it for a day."""
        life_s = max(0.001, subscription.until.timestamp() - time.time())
        owner, until_ms = subscription.principal, round(subscription.until.timestamp() * 1000)
        key = _key(owner)
        old = await self._script_client.command("HGET", key, subscription.id)
        kept = json.loads(old)["secrets"] if old else []
        record = {
            "name": subscription.type.name,
            "arguments": subscription.arguments,
            "url": subscription.url,
            "secrets": self._rotated(owner, secret, kept),
            "masked": subscription.is_masked,
            "until_ms": until_ms,
            "group": subscription.group,
        }
        await self._script_client.put_fields(key, {subscription.id: compact(record)}, life_s=life_s, is_least=True)
        if subscription.group:
            reviewers = _reviewers_key(subscription.group)
            last_ms = int(await self._script_client.command("HGET", reviewers, owner) or 0)
            longest_ms = max(until_ms, last_ms)
            await self._script_client.put_fields(reviewers, {owner: longest_ms}, life_s=life_s, is_least=True)
        for readers in filter(None, (owner, subscription.group)):
            for shard in range(self._settings.pools):
                watched = store_keys.key(shard, "watched", readers)
                kinds = {kind.value: 1 for kind in sorted(subscription.type.kinds)}
                await self._script_client.put_fields(watched, kinds, life_s=life_s, is_least=True, shard=shard)

    def _rotated(self, principal: str, secret: str, kept: Sequence[Json]) -> list[Json]:
        """Return the secrets to keep: the current one, and those before it for as long as they sign."""
        until_ms = round((time.time() + OLD_S) * 1000)
        known = [(each, self._cipher.decrypt_or_none(each["sealed"], principal)) for each in kept]
        others = [each for each, found in known if found not in (secret, None)]
        old = [{**each, "until_ms": min(each["until_ms"] or until_ms, until_ms)} for each in others[:MOST_OLD]]
        return [{"sealed": self._cipher.encrypt(secret, principal), "until_ms": 0}, *old]

    async def drop(self, principal: str, subscription: str) -> None:
        """Forget one; nothing where there is none. What waits for delivery is not sent any more."""
        await self._script_client.command("HDEL", _key(principal), subscription)

    async def of(self, principal: str) -> Sequence[EventSubscription]:
        """Return those that last; forgets the others."""
        records = await self._script_client.command("HGETALL", _key(principal))
        found = [self._read(principal, name, json.loads(text)) for name, text in records.items()]
        now = datetime.now(UTC)
        if ended := [each.id for each in found if each.until <= now - RENEWABLE]:
            await self._script_client.command("HDEL", _key(principal), *ended)
        return [each for each in found if each.until > now]

    async def signing(self, principal: str, subscription: str) -> list[str]:
        """Return the secrets that sign for a subscription, the current one first; none where it has ended.

        Raises:
            StoreError: The current one was encrypted with another key.
        """
        text = await self._script_client.command("HGET", _key(principal), subscription)
        kept: Json = json.loads(text) if text else {"until_ms": 0}
        now_ms = time.time() * 1000
        if kept["until_ms"] <= now_ms:
            return []
        current, *others = kept["secrets"]
        old = [self._cipher.decrypt_or_none(each["sealed"], principal) for each in others if each["until_ms"] > now_ms]
        return [self._cipher.decrypt(current["sealed"], principal), *filter(None, old)]

    def _read(self, principal: str, name: str, kept: Json) -> EventSubscription:
        return EventSubscription(
            id=name,
            principal=principal,
            type=_TYPES[kept["name"]],
            arguments=kept["arguments"],
            url=kept["url"],
            is_masked=kept["masked"],
            until=record_codec.utc_from_ms(kept["until_ms"]),
            group=kept.get("group", ""),
        )

    # ---- deliveries

    async def deliveries_of(self, entry_id: str, kept: Mapping[str, str]) -> list[NewDelivery]:
        """Return what an event in the outbox makes for its principal's subscriptions, and for its reviewers'.

        Raises:
            KeyError, ValueError: The entry is not what the job engine writes.
        """
        event = record_codec.event_from(kept["job"], kept["id"], dict(kept))
        found: list[NewDelivery] = []
        for each in [*await self.of(kept["principal"]), *await self._of_reviewers(kept)]:
            if event.kind in each.type.kinds:
                last = await self._last_gain(each, event.job_id)
                reported = {} if last is None else {event.job_id: last}
                if last == improvement_of(event):  # the same again: its first reader did not get to deliver it
                    reported = {}
                occurrences = each.occurrences(event, reported, is_confidential=bool(kept["confidential"]))
                is_first = not reported or await self._note(each, event.job_id, last, reported[event.job_id])
                found += [_delivery(each, one, entry_id) for one in occurrences if is_first]
        return found

    async def _of_reviewers(self, kept: Mapping[str, str]) -> list[EventSubscription]:
        """Return the subscriptions of those that an event in the outbox was proposed to, but for the owner's own."""
        if not (group := kept.get("group", "")):
            return []
        until_ms = await self._script_client.command("HGETALL", _reviewers_key(group))
        oldest_ms = (datetime.now(UTC) - RENEWABLE).timestamp() * 1000
        gone = [name for name, ms in until_ms.items() if int(ms) <= oldest_ms]
        if gone:
            await self._script_client.command("HDEL", _reviewers_key(group), *gone)
        names = until_ms.keys() - {kept["principal"], *gone}
        return [each for name in sorted(names) for each in await self.of(name) if each.group == group]

    async def deliver(self, subscription: EventSubscription, found: Sequence[Occurrence]) -> None:
        """Schedule occurrences for delivery, each once however often it is asked."""
        for new_delivery in (_delivery(subscription, each, "") for each in found):
            shard = shard_of_delivery(new_delivery.delivery_id)
            await Outbox(self._script_client, shard, self._settings).take([new_delivery])

    async def _last_gain(self, subscription: EventSubscription, job_id: str) -> Improvement | None:
        """Return the improvement of a job that a subscription was sent last."""
        text = await self._script_client.command("GET", _gain_key(subscription, job_id))
        if not text:
            return None
        at_s, penalty, cost = map(float, text.split())
        return at_s, penalty, cost

    async def _note(
        self,
        subscription: EventSubscription,
        job_id: str,
        old: Improvement | None,
        new: Improvement,
    ) -> bool:
        """Note an improvement; False where another dispatcher noted one meanwhile."""
        if old == new:
            return True
        args = {
            "subscription": subscription.id,
            "job": job_id,
            "old": "" if old is None else _gain_text(old),
            "new": _gain_text(new),
            "life_ms": GAIN_S * 1000,
        }
        shard = shard_of_delivery(job_id)
        reply = await self._script_client.step("note_gain", shard, args)
        return bool(reply[0] == "ok")


def _delivery(subscription: EventSubscription, occurrence: Occurrence, entry_id: str) -> NewDelivery:
    """Return the delivery of an occurrence. Its id is `<event>-<job>`."""
    job_id = str(occurrence.data["job_id"])
    event_id = occurrence.id.removesuffix(f"-{job_id}")
    return NewDelivery(
        delivery_id=f"{job_id}:{event_id}:{subscription.id}",
        principal=subscription.principal,
        url=subscription.url,
        endpoint=endpoint_id(subscription.principal, subscription.url),
        kind=subscription.type.name,
        job_id=job_id,
        body=compact(replace(occurrence, cursor=None).as_json()),
        entry=entry_id,
    )


def _key(principal: str) -> str:
    return store_keys.key(store_keys.UNSHARDED, "evsubs", principal)


def _reviewers_key(group: str) -> str:
    return store_keys.key(store_keys.UNSHARDED, "evgroup", group)


def _gain_key(subscription: EventSubscription, job_id: str) -> str:
    return store_keys.key(shard_of_delivery(job_id), "improved", subscription.id, job_id)


def _gain_text(gain: Improvement) -> str:
    return " ".join(map(repr, gain))
