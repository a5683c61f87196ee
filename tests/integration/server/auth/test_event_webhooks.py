"""MCP Events by webhook: subscribing, the challenge, signatures, masking and what is refused (SPEC O6; SEP-3415)."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from standardwebhooks.webhooks import Webhook

from planner_mcp.jobs.events.event_types import REVIEWED
from planner_mcp.jobs.principals import APPROVE, READ, SENSITIVE, WRITE
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.webhooks.event_subscription_store import RedisEventSubscriptions
from planner_mcp.jobs.webhooks.event_subscriptions import EventSubscription
from planner_mcp.settings import Settings
from tests.integration.server.auth.conftest import Key, Served
from tests.integration.server.auth.test_dashboard_routes import DAY
from tests.integration.server.auth.test_plan_reviews import call, planned
from tests.shared.http.mcp_caller import HEADERS
from tests.shared.http.webhook_receiver import Received, Receiver, answering, echo, receiving
from tests.shared.store.keys_without_ttl import keys_without_ttl
from workers.webhook_dispatcher import run_webhook_dispatcher

pytestmark = pytest.mark.anyio
SECRET = "whsec_" + base64.b64encode(b"a" * 32).decode()
OTHER = "whsec_" + base64.b64encode(b"b" * 24).decode()
MODERN = "2026-07-28"
FINISHED = "vrp.job.finished"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        receiver.answers["/hook"] = [echo]
        yield receiver


@asynccontextmanager
async def events_served(
    served: Served, store: RedisStore, settings: Settings, receiver: Receiver, **others: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """Serve the app, with a dispatcher that may reach the receiver."""
    further = {
        "webhook_allow_networks": ["127.0.0.0/8"],
        "webhook_allow_ports": [receiver.port],
        "webhook_schedule_s": [0, 0.1],
        "webhook_timeout_s": 5.0,
        "public_url": None,
        **others,
    }
    stop = anyio.Event()
    dispatching = settings.model_copy(update=further)
    async with served(**further) as http, anyio.create_task_group() as group:
        group.start_soon(run_webhook_dispatcher, store, dispatching, stop)
        yield http
        stop.set()


async def ask(http: httpx.AsyncClient, key: str, method: str, **params: Any) -> dict[str, Any]:
    """Return result or error of a request of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {}},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    named = {"mcp-name": params["name"]} if isinstance(params.get("name"), str) else {}
    headers = HEADERS | {"authorization": key, "mcp-protocol-version": MODERN, "mcp-method": method} | named
    answer = (await http.post("/mcp", json=body, headers=headers)).json()
    return dict(answer.get("result") or answer["error"])


def wanted(receiver: Receiver, *, url: str = "/hook", secret: str = SECRET, **further: Any) -> dict[str, Any]:
    """Return the parameters of a subscription."""
    delivery = {"mode": "webhook", "url": receiver.url(url), "secret": secret}
    return {"name": FINISHED, "arguments": {}, "delivery": delivery, "cursor": None, **further}


def occurrences(received: list[Received]) -> list[dict[str, Any]]:
    """Return the bodies of what is no verification."""
    bodies = [json.loads(each.body) for each in received]
    return [body for body in bodies if "type" not in body]


async def test_a_subscriber_is_sent_each_end_signed_with_its_secret(
    served: Served, key: Key, store: RedisStore, settings: Settings, receiver: Receiver
) -> None:
    """SPEC O6, W1, W3: verified first; the webhook's id is the event's; renewing with another secret signs by both."""
    ann = await key("ann", READ, WRITE, SENSITIVE)
    async with events_served(served, store, settings, receiver) as http:
        listed = (await ask(http, ann, "events/list"))["events"]
        assert {each["name"]: "webhook" in each["delivery"] for each in listed} == {
            "vrp.job.finished": True,
            "vrp.job.improved": True,
            "vrp.ticket.unassigned": True,
        }
        first = await ask(http, ann, "events/subscribe", **wanted(receiver))
        assert first["id"].startswith("sub_") and first["refreshBefore"] > "2026"
        assert (first["truncated"], first["deliveryStatus"]["active"]) == (False, True)
        (challenge,) = receiver.to("/hook")
        assert json.loads(challenge.body)["type"] == "verification"
        assert challenge.id.startswith("msg_verification_")
        Webhook(SECRET).verify(challenge.body, challenge.headers)
        again = await ask(http, ann, "events/subscribe", **wanted(receiver, secret=OTHER))
        assert again["id"] == first["id"] and len(receiver.to("/hook")) == 1
        job_id = await planned(http, store, ann)
        _challenge, event = await receiver.wait_for(2, "/hook")
        body = json.loads(event.body)
        assert (body["name"], body["data"]["job_id"], body["cursor"]) == (FINISHED, job_id, None)
        assert body["data"]["scenario_name"] == DAY["name"]
        assert event.id == body["eventId"]
        assert event.headers["x-mcp-subscription-id"] == first["id"]
        for secret in (SECRET, OTHER):
            Webhook(secret).verify(event.body, event.headers)
        polled = await ask(http, ann, "events/poll", name=FINISHED, arguments={}, cursor=first["cursor"])
        assert [each["eventId"] for each in polled["events"]] == [body["eventId"]]
        assert await keys_without_ttl(store) == []


async def test_reviewers_get_reviews_of_others_by_poll_and_webhook(
    served: Served, key: Key, store: RedisStore, settings: Settings, receiver: Receiver
) -> None:
    """SPEC O6, A5: each step once, to owner and reviewers; no other group, nobody without the scope, no other event."""
    readers = {
        "owner": await key("ann", READ, WRITE, SENSITIVE, APPROVE),
        "reviewer": await key("bob", READ, APPROVE),
        "plain": await key("cid", READ, WRITE),
        "foreign": await key("eve", READ, APPROVE, tenant="other"),
    }
    reviewed = "vrp.plan.reviewed"
    async with events_served(served, store, settings, receiver, approval="on") as http:
        begin = {}
        for name, who in readers.items():
            receiver.answers[f"/{name}"] = [echo]
            asked = wanted(receiver, url=f"/{name}", name=reviewed)
            begin[name] = (await ask(http, who, "events/subscribe", **asked))["cursor"]
        receiver.answers["/ends"] = [echo]
        await ask(http, readers["reviewer"], "events/subscribe", **wanted(receiver, url="/ends"))
        job_id = await planned(http, store, readers["owner"])
        await call(http, readers["owner"], "propose_plan", job_id=job_id)
        await call(http, readers["reviewer"], "review_plan", job_id=job_id, decision="approve")
        steps = ["plan.proposed", "plan.approved"]
        for name in ("owner", "reviewer"):
            sent = occurrences(await receiver.wait_for(3, f"/{name}"))
            assert sorted(each["data"]["event"] for each in sent) == sorted(steps), name
            polled = await ask(http, readers[name], "events/poll", name=reviewed, arguments={}, cursor=begin[name])
            assert [each["eventId"] for each in polled["events"]] == [
                each["eventId"] for each in sorted(sent, key=lambda each: steps.index(each["data"]["event"]))
            ]
        assert "reason" not in repr(occurrences(receiver.to("/reviewer")))
        for name in ("plain", "foreign"):
            polled = await ask(http, readers[name], "events/poll", name=reviewed, arguments={}, cursor=begin[name])
            assert polled["events"] == []
        # a webhook of the next day is the mark that whatever was to be sent before it has been sent
        second = await planned(http, store, readers["owner"])
        await call(http, readers["owner"], "propose_plan", job_id=second)
        await receiver.wait_for(4, "/reviewer")
        assert [occurrences(receiver.to(path)) for path in ("/plain", "/foreign", "/ends")] == [[], [], []]
        unsubscribed = {"name": reviewed, "arguments": {}, "delivery": {"url": receiver.url("/reviewer")}}
        await ask(http, readers["reviewer"], "events/unsubscribe", **unsubscribed)
        await call(http, readers["reviewer"], "review_plan", job_id=second, decision="approve")
        await receiver.wait_for(5, "/owner")
        assert len(receiver.to("/reviewer")) == 4
        assert await keys_without_ttl(store) == []


async def test_improvements_are_sent_ten_seconds_apart_whoever_reads_the_outbox(
    served: Served, key: Key, store: RedisStore, settings: Settings, receiver: Receiver
) -> None:
    """SPEC O6: what a subscription was told last is known to all dispatchers, and a repetition is the same event."""
    ann = await key("ann", READ, WRITE, SENSITIVE)
    async with events_served(served, store, settings, receiver) as http:
        await ask(http, ann, "events/subscribe", **wanted(receiver, name="vrp.job.improved"))
    subscriptions = [RedisEventSubscriptions(store.script_client, open_cipher(settings), settings) for _ in range(2)]
    (record,) = [key.removeprefix("{p0}:evsubs:") async for key in store.redis.scan_iter("*evsubs*")]
    entry = {
        "job": "job-0-" + "a" * 26,
        "principal": record,
        "kind": "progress",
        "number": "2",
        "confidential": "",
    }

    async def made(reader: int, second: int, cost: float) -> list[str]:
        at = f"2026-11-24T08:00:{second:02d}.000Z"
        kept = entry | {"id": f"{second}-0", "at": at, "data": json.dumps({"status": "SOLVING", "cost": cost})}
        return [each.delivery_id for each in await subscriptions[reader].deliveries_of("1-1", kept)]

    first = await made(0, 1, 100.0)
    assert (len(first), await made(1, 1, 100.0)) == (1, first)
    assert await made(1, 5, 90.0) == []
    assert await made(1, 20, 100.0) == []
    assert len(await made(1, 21, 80.0)) == 1


async def test_a_subscription_that_is_renewed_at_its_end_is_not_forgotten(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O6: an event had what has ended read just before the renewal, and deleted it just after."""
    subscriptions = RedisEventSubscriptions(store.script_client, open_cipher(settings), settings)
    command, now = store.script_client.command, datetime.now(UTC)
    ended, lasting = (
        EventSubscription(name, "ann", REVIEWED, {}, "https://example.org", is_masked=False, until=until)
        for name, until in (("ended", now - timedelta(seconds=1)), ("lasting", now + timedelta(hours=1)))
    )
    for each in (lasting, ended):
        await subscriptions.put(each, SECRET)

    async def with_renewal(*words: str | int | float) -> Any:
        found = await command(*words)
        if words[0] == "HGETALL":
            await subscriptions.put(replace(ended, until=lasting.until), SECRET)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(store.script_client, "command", with_renewal)
        assert [each.id for each in await subscriptions.of("ann")] == ["lasting"]
    assert {each.id for each in await subscriptions.of("ann")} == {"ended", "lasting"}


async def test_an_improvement_is_noted_by_a_step_whose_answer_was_lost(store: RedisStore) -> None:
    """SPEC O6: the step is repeated then; it said that another had noted something, and the event was never sent."""
    noted = {"subscription": "sub", "job": "job", "old": "", "new": "1.0 0.0 2.0", "life_ms": 1000}
    assert [await store.script_client.step("note_gain", 0, noted) for _ in range(2)] == [["ok"], ["ok"]]
    assert await store.script_client.step("note_gain", 0, noted | {"new": "2.0 0.0 1.0"}) == ["changed"]


async def test_a_cursor_brings_what_was_missed_and_arguments_choose_jobs(
    served: Served, key: Key, store: RedisStore, settings: Settings, receiver: Receiver
) -> None:
    """SPEC O6: past events from a cursor on, each once; scenario and its name choose jobs, also of polls."""
    ann = await key("ann", READ, WRITE, SENSITIVE)
    for path in ("/all", "/one", "/none"):
        receiver.answers[path] = [echo]
    async with events_served(served, store, settings, receiver) as http:
        cursor = (await ask(http, ann, "events/poll", name=FINISHED, arguments={}, cursor=None))["cursor"]
        job_id = await planned(http, store, ann)
        (past,) = (await ask(http, ann, "events/poll", name=FINISHED, arguments={}, cursor=cursor))["events"]
        one = {"scenario_id": past["data"]["scenario_id"]}
        named = {"scenario_name": past["data"]["scenario_name"], "job_id": job_id}
        for arguments, count in ((one, 1), (named, 1), ({"scenario_name": "another"}, 0)):
            polled = await ask(http, ann, "events/poll", name=FINISHED, arguments=arguments, cursor=cursor)
            assert len(polled["events"]) == count
        for path, arguments in (("/all", {}), ("/one", one), ("/none", {"scenario_id": "scn-0-x"})):
            subscribed = await ask(
                http, ann, "events/subscribe", **wanted(receiver, url=path, arguments=arguments, cursor=cursor)
            )
            assert subscribed["truncated"] is False
        later = await planned(http, store, ann)
        (everything,) = [occurrences(await receiver.wait_for(3, "/all"))]
        assert [each["data"]["job_id"] for each in everything] == [job_id, later]
        assert [each["data"]["job_id"] for each in occurrences(await receiver.wait_for(2, "/one"))] == [job_id]
        assert occurrences(receiver.to("/none")) == []


async def test_who_unsubscribed_is_sent_nothing_more(
    served: Served, key: Key, store: RedisStore, settings: Settings, receiver: Receiver
) -> None:
    """SPEC O6: also what waited for its next attempt; unsubscribing again is no error; others are not disturbed."""
    ann = await key("ann", READ, WRITE, SENSITIVE)
    receiver.answers |= {"/other": [echo], "/hook": [echo, answering(500), echo]}
    async with events_served(served, store, settings, receiver, webhook_schedule_s=[0, 2]) as http:
        await ask(http, ann, "events/subscribe", **wanted(receiver))
        await ask(http, ann, "events/subscribe", **wanted(receiver, url="/other"))
        await planned(http, store, ann)
        await receiver.wait_for(2, "/hook")
        gone = {"name": FINISHED, "arguments": {}, "delivery": {"url": receiver.url("/hook")}}
        for _ in range(2):
            assert (await ask(http, ann, "events/unsubscribe", **gone))["resultType"] == "complete"
        await planned(http, store, ann)
        assert len(occurrences(await receiver.wait_for(3, "/other"))) == 2
        with anyio.fail_after(20):
            dead: list[dict[str, Any]] = []
            while not dead:
                await anyio.sleep(0.1)  # what is given up is told by nothing
                dead = (await call(http, ann, "webhook_deliveries", state="dead"))["deliveries"]
        assert [(each["event"], each["error"]) for each in dead] == [(FINISHED, "subscription ended")]
        assert len(receiver.to("/hook")) == 2


async def test_another_principal_is_sent_nothing_and_masks_hold(
    served: Served, key: Key, store: RedisStore, settings: Settings, receiver: Receiver
) -> None:
    """SPEC A2, R3: events are those of own jobs; figures of a confidential day need `planner:sensitive`."""
    ann, masked, eve = await key("ann", READ, WRITE, SENSITIVE), await key("ann", READ), await key("eve", READ)
    for path in ("/masked", "/eve"):
        receiver.answers[path] = [echo]
    async with events_served(served, store, settings, receiver) as http:
        for who, path in ((ann, "/hook"), (masked, "/masked"), (eve, "/eve")):
            assert "id" in await ask(http, who, "events/subscribe", **wanted(receiver, url=path))
        await planned(http, store, ann, day={**DAY, "agents": [{**DAY["agents"][0], "name": "Ann", "cost_per_km": 3}]})
        (whole,) = occurrences(await receiver.wait_for(2, "/hook"))
        (hidden,) = occurrences(await receiver.wait_for(2, "/masked"))
        assert "cost" in whole["data"] and "cost" not in hidden["data"]
        assert hidden["data"]["job_id"] == whole["data"]["job_id"]
        assert occurrences(receiver.to("/eve")) == []


@pytest.mark.parametrize(
    ("further", "number", "place"),
    [
        ({"name": "vrp.other"}, -32011, None),
        ({"arguments": {"x": 1}}, -32602, "/arguments/x"),
        ({"arguments": {"scenario_name": 3}}, -32602, "/arguments/scenario_name"),
        ({"delivery": None}, -32602, None),
        ({"delivery": {"mode": "poll", "url": "https://example.org", "secret": SECRET}}, -32602, None),
        ({"delivery": {"mode": "webhook", "url": "https://example.org"}}, -32602, None),
        ({"secret": "whsec_YQ=="}, -32602, "/delivery/secret"),
        ({"secret": "whsec_***"}, -32602, "/delivery/secret"),
        ({"secret": "plain"}, -32602, "/delivery/secret"),
        ({"delivery": {"mode": "webhook", "url": "https://10.0.0.1/x", "secret": SECRET}}, -32015, "/delivery/url"),
        ({"delivery": {"mode": "webhook", "url": "file:///etc/passwd", "secret": SECRET}}, -32015, "/delivery/url"),
        ({"url": "/silent"}, -32015, None),
        ({"url": "/broken"}, -32015, None),
        ({"url": "/list"}, -32015, None),
        ({"cursor": "yesterday"}, -32602, None),
        ({"cursor": 3}, -32602, None),
        ({"ttlMs": 0}, -32602, None),
        ({"ttlMs": 1e30}, -32602, None),
        ({"maxAgeMs": -1}, -32602, None),
    ],
)
async def test_what_cannot_be_subscribed_to_is_refused_and_leaves_nothing(
    served: Served,
    key: Key,
    store: RedisStore,
    settings: Settings,
    receiver: Receiver,
    further: dict[str, Any],
    number: int,
    place: str | None,
) -> None:
    """SPEC O6, T7: number, code and place; the secret is not repeated; nothing is kept."""
    receiver.answers |= {
        "/silent": [answering(200)],
        "/broken": [answering(500)],
        "/list": [answering(200, body="[" * 3000)],
    }
    ann = await key("ann", READ)
    async with events_served(served, store, settings, receiver) as http:
        error = await ask(http, ann, "events/subscribe", **(wanted(receiver) | wanted(receiver, **further)))
        assert (error["code"], error["data"]["code"] >= 4000) == (number, True), error
        if place is not None:
            assert [each["path"] for each in error["data"]["errors"]] == [place]
        assert SECRET not in str(error)
        assert [key async for key in store.redis.scan_iter("*evsubs*")] == []


async def test_the_single_user_and_too_many_subscriptions_are_refused(
    served: Served, key: Key, store: RedisStore, settings: Settings, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SEP-3415: webhooks need an authenticated principal; SPEC J8: their number is bounded."""
    monkeypatch.setattr("planner_mcp.jobs.webhooks.event_webhooks.MOST_SUBSCRIPTIONS", 2)
    ann = await key("ann", READ)
    async with events_served(served, store, settings, receiver) as http:
        for number in range(2):
            asked = wanted(receiver, arguments={"job_id": str(number)})
            assert "id" in await ask(http, ann, "events/subscribe", **asked)
        assert "id" in await ask(http, ann, "events/subscribe", **asked)
        error = await ask(http, ann, "events/subscribe", **wanted(receiver))
        assert (error["code"], error["data"]["type"]) == (-32013, "QuotaExceeded")
    async with served(auth_api_keys=False, public_url=None) as http:
        error = await ask(http, "", "events/subscribe", **wanted(receiver))
        assert error["code"] == -32012
        assert all("webhook" not in each["delivery"] for each in (await ask(http, "", "events/list"))["events"])
