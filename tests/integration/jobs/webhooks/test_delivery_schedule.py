"""When attempts are made, who makes them, and what a broken endpoint costs others (SPEC W3, W4)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import anyio
import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.signing_secrets import SigningSecrets
from planner_mcp.jobs.store.webhooks.delivery_policy import CIRCUIT_BREAKER_FAILURES
from planner_mcp.jobs.store.webhooks.event_subscription_store import RedisEventSubscriptions
from planner_mcp.jobs.store.webhooks.outbox import AttemptOutcome, NewDelivery, Outbox
from planner_mcp.jobs.webhooks.delivery_records import DeliveryState, EndpointState
from planner_mcp.jobs.webhooks.endpoint_policy import DeliveryDecision, endpoint_id
from planner_mcp.jobs.webhooks.webhook_client import WebhookResponse
from planner_mcp.settings import Settings
from tests.integration.jobs.webhooks.conftest import WebhookHarness, dispatching_webhooks
from tests.shared.http.webhook_receiver import Receiver, answering, hanging
from tests.shared.processes.stopwatch import Stopwatch
from workers import webhook_dispatcher
from workers.webhook_dispatcher import RESERVED_SLOTS, SLOTS, UNPROVEN_SLOTS, WebhookClient, WebhookDispatcher

pytestmark = pytest.mark.anyio
NAME = "job-0-" + "a" * 26
FAILED = AttemptOutcome(DeliveryDecision(is_delivered=False, error="answer 500", delay_s=1.0), 500, 0.01)
GIVEN_UP = AttemptOutcome(DeliveryDecision(is_delivered=False, error="answer 413"), 413, 0.01)
DELIVERED = AttemptOutcome(DeliveryDecision(is_delivered=True), 200, 0.01)


@dataclass
class Clock:
    """A clock that a test sets, in milliseconds."""

    ms: int = 1_795_219_200_000

    def __call__(self) -> int:
        return self.ms

    def pass_s(self, seconds: float) -> None:
        self.ms += round(seconds * 1000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def outbox(store: RedisStore, settings: Settings, clock: Clock) -> Outbox:
    real = settings.model_copy(update={"webhook_schedule_s": Settings().webhook_schedule_s, "lease_s": 6.0})
    return Outbox(store.script_client, 0, real, clock_ms=clock)


async def take(
    outbox: Outbox, url: str = "https://a/x", number: int = 0, entry: str = "", principal: str = "ann"
) -> str:
    name = f"{NAME}:{number}"
    await outbox.take([NewDelivery(name, principal, url, endpoint_id(principal, url), "completed", NAME, "{}", entry)])
    return name


@pytest.mark.parametrize("draw", [0.0, 0.5, 0.999])
async def test_the_schedule_is_kept_to_the_millisecond(
    store: RedisStore, settings: Settings, clock: Clock, receiver: Receiver, draw: float
) -> None:
    """Our choice: 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h with ±20 % jitter; then given up."""
    real = settings.model_copy(update={"webhook_schedule_s": Settings().webhook_schedule_s})
    outbox = Outbox(store.script_client, 0, real, clock_ms=clock)
    cipher = open_cipher(real)
    dispatcher = WebhookDispatcher(
        outbox,
        SigningSecrets(store.script_client, cipher),
        RedisEventSubscriptions(store.script_client, cipher, real),
        WebhookClient(real),
        real,
        name="one",
        clock=lambda: clock.ms / 1000,
        draw=lambda: draw,
    )
    receiver.answers["/hook"] = [answering(500)]
    name = await take(outbox, receiver.url("/hook"))
    waits = []
    for attempt in range(8):
        dispatches, _next = await outbox.claim(10, 10)
        while not dispatches:
            _none, next_s = await outbox.claim(10, 10)
            assert next_s is not None
            clock.pass_s(next_s - 0.001)
            assert (await outbox.claim(10, 10))[0] == []
            clock.pass_s(0.001)
            waits.append(next_s)
            dispatches, _next = await outbox.claim(10, 10)
        assert dispatches[0].attempts == attempt
        await outbox.settle(dispatches[0], await dispatcher._outcome(dispatches[0]))
    jitter = 1 + 0.2 * (2 * draw - 1)
    assert waits == pytest.approx([delay * jitter for delay in real.webhook_schedule_s[1:]], abs=0.002)
    stamps = [int(request.headers["webhook-timestamp"]) for request in receiver.to("/hook")]
    assert stamps == sorted(set(stamps))
    found = await outbox.find("ann", name)
    assert found is not None
    assert (found.state, found.attempt_count) == (DeliveryState.DEAD, 8)


async def test_a_delivery_whose_dispatcher_is_gone_passes_to_another(outbox: Outbox, clock: Clock) -> None:
    """SPEC W3: a lease with a fencing number; the attempt that was not recorded is made again and counts once."""
    name = await take(outbox)
    ((first,), _next) = await outbox.claim(10, 10)
    clock.pass_s(5.9)
    assert (await outbox.claim(10, 10))[0] == []
    await outbox.renew([first.lease])
    clock.pass_s(5.9)
    assert (await outbox.claim(10, 10))[0] == []
    clock.pass_s(0.2)
    ((second,), _next) = await outbox.claim(10, 10)
    assert (second.delivery_id, second.body, second.attempts) == (first.delivery_id, first.body, 0)
    assert second.fence > first.fence
    await outbox.renew([first.lease])
    assert await outbox.settle(first, FAILED) is False
    assert await outbox.settle(second, DELIVERED) is True
    assert await outbox.settle(second, DELIVERED) is False
    found = await outbox.find("ann", name)
    assert found is not None
    assert (found.state, len(found.attempts)) == (DeliveryState.DELIVERED, 1)


async def test_a_delivery_a_dispatcher_gives_back_is_due_at_once(outbox: Outbox) -> None:
    """SPEC J7: a drain hands over without waiting for the lease and without using up an attempt."""
    await take(outbox)
    ((delivery_claim,), _next) = await outbox.claim(10, 10)
    await outbox.give_back([delivery_claim.lease])
    ((again,), _next) = await outbox.claim(10, 10)
    assert again.attempts == 0


async def test_taking_twice_delivers_once(outbox: Outbox) -> None:
    """SPEC W3: a dispatcher may die between taking an entry and saying so."""
    await take(outbox)
    await take(outbox)
    assert len((await outbox.claim(10, 10))[0]) == 1


async def test_an_endpoint_that_keeps_failing_is_left_alone_and_probed(outbox: Outbox, clock: Clock) -> None:
    """SPEC W4: the breaker opens after ten failures in a row, lets one probe through and closes on a success."""
    for number in range(CIRCUIT_BREAKER_FAILURES + 5):
        await take(outbox, number=number)
    for _ in range(CIRCUIT_BREAKER_FAILURES):
        ((delivery_claim,), _next) = await outbox.claim(50, 50)
        await outbox.settle(delivery_claim, FAILED)
    assert await outbox.claim(50, 50) == ([], 30.0)
    clock.pass_s(30)
    ((probe,), _next) = await outbox.claim(50, 50)
    await outbox.settle(probe, FAILED)
    assert await outbox.claim(50, 50) == ([], 60.0)
    clock.pass_s(60)
    ((probe,), _next) = await outbox.claim(50, 50)
    await outbox.settle(probe, DELIVERED)
    assert len((await outbox.claim(50, 50))[0]) > 1


async def test_an_endpoint_that_fails_for_days_is_disabled_until_its_owner_asks(outbox: Outbox, clock: Clock) -> None:
    """SPEC W3, W4: `webhook_disable_after_s`; what waits is given up, a test or a replay opens it again."""
    every_s, limit_s, states = 6 * 3600, Settings().webhook_disable_after_s, list[EndpointState]()
    for tries in range(1, int(limit_s / every_s) + 2):
        await take(outbox, number=tries, entry="1-0")
        ((delivery_claim,), _next) = await outbox.claim(50, 50)
        await outbox.settle(delivery_claim, FAILED)
        one = await outbox.endpoint(endpoint_id("ann", "https://a/x"))
        assert one is not None
        assert (one.url, one.failures, one.status) == ("https://a/x", tries, 500)
        states.append(one.state)
        clock.pass_s(every_s)
    resting = [EndpointState.RESTING] * (tries - CIRCUIT_BREAKER_FAILURES)
    assert states == [*[EndpointState.FAILING] * (CIRCUIT_BREAKER_FAILURES - 1), *resting, EndpointState.DISABLED]
    late = await take(outbox, number=99, entry="1-0")
    clock.pass_s(3600)
    assert (await outbox.claim(50, 50))[0] == []
    given_up = await outbox.find("ann", late)
    assert given_up is not None
    assert (given_up.state, given_up.error) == (DeliveryState.DEAD, "endpoint failed for too long")
    await outbox.replay("ann", given_up.id)
    ((again,), _next) = await outbox.claim(50, 50)
    await outbox.settle(again, DELIVERED)
    one = await outbox.endpoint(endpoint_id("ann", "https://a/x"))
    assert one is not None
    assert one.state is EndpointState.WORKING


async def test_broken_endpoints_have_a_lane_of_their_own(outbox: Outbox) -> None:
    """SPEC W4: however many broken endpoints wait, one that works is served first; each has one in flight."""
    await take(outbox, "https://good/x", 0)
    ((good,), _next) = await outbox.claim(10, 10)
    await outbox.settle(good, DELIVERED)
    for number in range(1, 60):
        await take(outbox, f"https://bad/{number % 20}", number)
    for number in range(60, 65):
        await take(outbox, "https://good/x", number)
    dispatches, _next = await outbox.claim(25, 12)
    assert [delivery_claim.url for delivery_claim in dispatches[:5]] == ["https://good/x"] * 5
    assert len({delivery_claim.url for delivery_claim in dispatches[5:]}) == len(dispatches[5:]) == 7


async def test_one_principals_unproven_endpoints_leave_room_for_anothers(outbox: Outbox) -> None:
    """SPEC W4: what stands aside for others is made as attempts of the same principal end, and none is forgotten."""
    anns = [f"https://tarpit/{number}" for number in range(40)]
    for number, url in enumerate(anns):
        await take(outbox, url, number)
    await take(outbox, "https://bob/x", 40, principal="bob")
    under_way, _next = await outbox.claim(10, 10, reserve=4, share=2)
    assert [delivery_claim.principal for delivery_claim in under_way] == [*["ann"] * 6, "bob"]
    reached: list[str] = []
    while under_way:
        delivery_claim = under_way.pop(0)
        reached.append(delivery_claim.url)
        await outbox.settle(delivery_claim, GIVEN_UP)
        room = 10 - len(under_way)
        under_way += (await outbox.claim(room, room, reserve=4, share=2))[0]
        assert sum(delivery_claim.principal == "ann" for delivery_claim in under_way) <= 6
    assert sorted(reached) == sorted([*anns, "https://bob/x"])


async def prove(outbox: Outbox, urls: list[str], principal: str, first: int) -> None:
    """Have endpoints answer 2xx, with deliveries of these numbers."""
    for number, url in enumerate(urls, first):
        await take(outbox, url, number, principal=principal)
    while dispatches := (await outbox.claim(50, 50))[0]:
        for delivery_claim in dispatches:
            await outbox.settle(delivery_claim, DELIVERED)


async def test_one_principals_slow_endpoints_leave_room_for_anothers(outbox: Outbox, clock: Clock) -> None:
    """SPEC W4: they answer 200, late; what stands aside for others is made as others of its principal end."""
    anns = [f"https://slow/{number}" for number in range(40)]
    await prove(outbox, anns, "ann", 100)
    await prove(outbox, ["https://bob/x"], "bob", 200)
    clock.pass_s(60)
    for number, url in enumerate(anns):
        await take(outbox, url, number)
    await take(outbox, "https://bob/x", 40, principal="bob")
    under_way, _next = await outbox.claim(10, 8, spare=5, reserve=4, share=2)
    assert [delivery_claim.principal for delivery_claim in under_way] == [*["ann"] * 6, "bob"]
    reached: list[str] = []
    while under_way:
        delivery_claim = under_way.pop(0)
        reached.append(delivery_claim.url)
        await outbox.settle(delivery_claim, DELIVERED)
        under_way += (await outbox.claim(10 - len(under_way), 8, spare=5, reserve=4, share=2))[0]
        assert sum(delivery_claim.principal == "ann" for delivery_claim in under_way) <= 6
    assert sorted(reached) == sorted([*anns, "https://bob/x"])


async def test_who_sends_much_that_works_makes_a_first_contact_all_the_same(outbox: Outbox, clock: Clock) -> None:
    """SPEC W4: in the room another's endpoints that do not answer leave, only attempts of that kind count."""
    works = [f"https://bob/{number}" for number in range(4)]
    await prove(outbox, works, "bob", 100)
    clock.pass_s(60)
    for number in range(10):
        await take(outbox, f"https://tarpit/{number}", number)
    await outbox.claim(4, 4, reserve=0, share=2)
    for number, url in enumerate([*works, "https://bob/new"]):
        await take(outbox, url, 20 + number, principal="bob")
    dispatches, _next = await outbox.claim(8, 5, reserve=4, share=4)
    assert {delivery_claim.url for delivery_claim in dispatches} == {*works, "https://bob/new"}


async def test_endpoints_that_were_put_off_return_though_their_dispatcher_is_gone(outbox: Outbox, clock: Clock) -> None:
    """SPEC W3, W4: leases that run out make room like answers do."""
    for number in range(6):
        await take(outbox, f"https://tarpit/{number}", number)
    assert len((await outbox.claim(4, 4, reserve=3, share=1))[0]) == 1
    reached = set()
    for _ in range(20):
        clock.pass_s(6.1)
        ((delivery_claim,), _next) = await outbox.claim(4, 4, reserve=3, share=1)
        await outbox.settle(delivery_claim, GIVEN_UP)
        reached.add(delivery_claim.url)
        if len(reached) == 6:
            break
        assert len((await outbox.claim(4, 4, reserve=3, share=1))[0]) == 1
    assert len(reached) == 6


async def test_what_stood_aside_is_looked_at_again_whatever_was_counted(
    outbox: Outbox, store: RedisStore, clock: Clock
) -> None:
    """SPEC W3: nothing waits for ever behind a count that a dispatcher of another release has spoilt."""
    await take(outbox, "https://bob/x", 0, principal="bob")
    ((bobs, *_), _next) = await outbox.claim(4, 4)
    await store.redis.hset("{p0}:wh:busy", "ann", "9")
    await take(outbox, "https://ann/x", 1)
    assert (await outbox.claim(4, 4, reserve=4, share=2))[0] == []
    for _ in range(11):
        clock.pass_s(5.9)
        await outbox.renew([bobs.lease])
    ((anns, *_), _next) = await outbox.claim(4, 4, reserve=3, share=2)
    assert anns.principal == "ann"
    for delivery_claim in (bobs, anns):
        await outbox.settle(delivery_claim, GIVEN_UP)
    await outbox.claim(4, 4)
    assert await store.redis.exists("{p0}:wh:busy", "{p0}:wh:load") == 0


async def test_an_endpoint_is_not_flooded(outbox: Outbox, clock: Clock) -> None:
    """SPEC W4: a rate for each endpoint, beside the number in flight."""
    sent = 0
    for number in range(300):
        await take(outbox, number=number)
    while True:
        dispatches, _next = await outbox.claim(100, 100)
        if not dispatches:
            break
        for delivery_claim in dispatches:
            await outbox.settle(delivery_claim, DELIVERED)
        sent += len(dispatches)
    assert 45 <= sent <= 60
    clock.pass_s(1)
    assert len((await outbox.claim(100, 100))[0]) == 8


async def test_a_delivery_held_back_for_too_long_is_given_up(outbox: Outbox, clock: Clock) -> None:
    """SPEC J9: nothing waits for ever behind an endpoint that never comes back."""
    name = await take(outbox)
    clock.pass_s(3 * sum(Settings().webhook_schedule_s))
    assert (await outbox.claim(10, 10))[0] == []
    found = await outbox.find("ann", name)
    assert found is not None
    assert (found.state, found.error) == (DeliveryState.DEAD, "endpoint is out of service")


@pytest.mark.slow
@pytest.mark.parametrize("worked_before", [False, True])
async def test_fifty_dead_endpoints_do_not_slow_a_healthy_one(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings, worked_before: bool
) -> None:
    """SPEC W4: not by more than a second, its first contact included; the dead hold on for longer than the test."""
    dead = [f"/dead/{number}" for number in range(50)]
    for path in dead:
        receiver.answers[path] = [answering(200), hanging] if worked_before else [hanging]
    async with dispatching_webhooks(store, settings.model_copy(update={"webhook_timeout_s": 60.0})):
        if worked_before:
            for name in [await post.put(receiver.url(path)) for path in dead]:
                await post.ended(name)
        for _ in range(8):
            for path in dead:
                await post.put(receiver.url(path))
        for path in dead:
            await receiver.wait_for(1 + worked_before, path)
        for count in range(1, 6):
            watch = Stopwatch()
            await post.put(receiver.url("/healthy"))
            await receiver.wait_for(count, "/healthy")
            assert watch.spent_s < 1.0


@pytest.mark.slow
async def test_a_tarpit_of_one_principal_does_not_delay_the_first_contact_of_another(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC W4: with more endpoints than a dispatcher has room for, all of which hold on for longer than the test."""
    for number in range(UNPROVEN_SLOTS * 2):
        receiver.answers[f"/tarpit/{number}"] = [hanging]
    async with dispatching_webhooks(store, settings.model_copy(update={"webhook_timeout_s": 60.0})):
        for number in range(UNPROVEN_SLOTS * 2):
            await post.put(receiver.url(f"/tarpit/{number}"), principal="mallory")
        await receiver.wait_in_all(UNPROVEN_SLOTS - RESERVED_SLOTS)
        name = await post.put(receiver.url("/healthy"))
        assert (await post.ended(name)).state is DeliveryState.DELIVERED


@pytest.mark.slow
async def test_slow_answers_to_one_principal_do_not_delay_the_webhooks_of_another(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC W4: more endpoints that worked than a dispatcher has slots, and each now holds on for the whole test."""
    paths = [f"/slow/{number}" for number in range(SLOTS + RESERVED_SLOTS)]
    for path in paths:
        receiver.answers[path] = [answering(200), hanging]
    async with dispatching_webhooks(store, settings.model_copy(update={"webhook_timeout_s": 60.0})):
        await post.ended(await post.put(receiver.url("/healthy")))
        for name in [await post.put(receiver.url(path), principal="mallory") for path in paths]:
            await post.ended(name, principal="mallory")
        for path in paths:
            await post.put(receiver.url(path), principal="mallory")
        await receiver.wait_in_all(1 + len(paths) + SLOTS - RESERVED_SLOTS)
        for path in ("/healthy", "/first"):
            assert (await post.ended(await post.put(receiver.url(path)))).state is DeliveryState.DELIVERED


async def test_dispatchers_share_the_work_and_send_nothing_twice(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC W3: any number of dispatchers; while none dies each delivery is made once."""
    patient = settings.model_copy(update={"lease_s": 30.0, "webhook_timeout_s": 30.0})  # none dies, held up or not
    async with (
        dispatching_webhooks(store, patient),
        dispatching_webhooks(store, patient),
        dispatching_webhooks(store, patient),
    ):
        names = [await post.put(receiver.url(f"/hook/{number % 10}")) for number in range(100)]
        for name in names:
            await post.ended(name)
    assert sorted(request.id for request in receiver.received) == sorted(names)
    assert await store.redis.xlen("{p0}:outbox") == 0


async def test_an_outbox_entry_that_cannot_be_read_stops_nothing(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """Our choice: it is logged and dropped."""
    await store.redis.xadd("{p0}:outbox", {"delivery_id": "x", "event": "not JSON"})
    async with dispatching_webhooks(store, settings):
        await post.ended(await post.put(receiver.url("/hook")))
    assert await store.redis.xlen("{p0}:outbox") == 0


class FaultySender(WebhookClient):
    """Has a fault that one path brings out."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, *, keep_bytes: int = 0) -> WebhookResponse:
        if url.endswith("/fault"):
            raise ZeroDivisionError
        return await super().post(url, headers, body)


@pytest.mark.slow
async def test_an_internal_error_ends_one_attempt_and_no_dispatcher(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC W3, W4: the attempt counts as one that reached nobody, so that the delivery ends; others are carried on."""
    receiver.answers["/slow"] = [hanging, answering(200)]
    cipher = open_cipher(settings)
    dispatcher = WebhookDispatcher(
        Outbox(store.script_client, 0, settings),
        SigningSecrets(store.script_client, cipher),
        RedisEventSubscriptions(store.script_client, cipher, settings),
        FaultySender(settings),
        settings,
        name="one",
    )
    stop = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(dispatcher.run, stop)
        slow = await post.put(receiver.url("/slow"))
        await receiver.wait_for(1, "/slow")
        fault = await post.ended(await post.put(receiver.url("/fault")))
        assert [attempt.error for attempt in (await post.ended(slow)).attempts] == ["unreachable", ""]
        stop.set()
    assert (fault.state, fault.attempt_count, fault.error) == (DeliveryState.DEAD, 4, "unreachable")
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.slow
async def test_an_entry_another_dispatcher_left_unread_is_taken_over(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC W3: a dispatcher may die between reading an entry and taking it."""
    hasty = settings.model_copy(update={"lease_s": 0.6})
    outbox = Outbox(store.script_client, 0, hasty)
    await outbox.open()
    name = await post.put(receiver.url("/hook"))
    assert len(await outbox.read("dead", 1.0)) == 1
    async with dispatching_webhooks(store, hasty):
        assert (await post.ended(name)).state is DeliveryState.DELIVERED


async def test_the_dispatcher_goes_on_after_the_store_lost_everything(
    post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC J7: the consumer group is made anew."""
    async with dispatching_webhooks(store, settings):
        await post.ended(await post.put(receiver.url("/hook")))
        await store.redis.flushdb()
        await post.ended(await post.put(receiver.url("/hook")))


async def test_dispatchers_that_left_are_removed_as_consumers(
    store: RedisStore, settings: Settings, post: WebhookHarness
) -> None:
    """SPEC J9: each start of a dispatcher makes one; what one of them read and never took goes to the next one."""
    outbox = Outbox(store.script_client, 0, settings.model_copy(update={"lease_s": 0.6}))
    await outbox.open()
    name = await post.put("https://a.example/")
    for number in range(3):
        assert len(await outbox.read(f"left-{number}", 0)) == (number == 0)
    found: list[str] = []

    known = {"left-0", "left-1", "left-2"}
    with anyio.fail_after(20):
        while known != {"here"}:
            for entry, fields in await outbox.abandoned_entries("here"):
                await outbox.drop(entry)
                found.append(fields["delivery_id"])
            known = {each["name"] for each in await store.redis.xinfo_consumers("{p0}:outbox", "couriers")}
            await anyio.sleep(0.05)
    assert found == [name]


async def test_a_group_that_exists_is_not_logged_as_a_refusal(
    store: RedisStore, settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O3: a dispatcher creates its group with each lease; the log of a healthy one has no refusal."""
    monkeypatch.setattr("planner_mcp.jobs.store.connection.error_translation._logged_at", {})
    outbox = Outbox(store.script_client, 0, settings)
    for _lease in range(2):
        await outbox.open()
        await outbox.abandoned_entries("here")
    assert not [record for record in caplog.records if record.name == "planner.store"]


class UnavailableOutbox:
    """An outbox whose store does not answer."""

    def __init__(self) -> None:
        self.calls = 0
        self.called_often = anyio.Event()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def unavailable(*_args: Any, **_named: Any) -> Any:
            self.calls += 1
            if self.calls > 12:
                self.called_often.set()
            raise StoreUnavailableError

        return unavailable


async def test_an_outage_of_the_store_is_logged_once_by_each_loop(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC O3: two lines a second and loop hid all others for as long as it was away."""
    monkeypatch.setattr(webhook_dispatcher, "AWAY_S", 0.0)
    cipher, outbox, stop = open_cipher(settings), UnavailableOutbox(), anyio.Event()
    dispatcher = WebhookDispatcher(
        cast("Outbox", outbox),
        SigningSecrets(store.script_client, cipher),
        RedisEventSubscriptions(store.script_client, cipher, settings),
        WebhookClient(settings),
        settings,
        name="one",
    )
    async with anyio.create_task_group() as group:
        group.start_soon(dispatcher.run, stop)
        with anyio.fail_after(5):
            await outbox.called_often.wait()
        stop.set()
    assert 1 <= sum("store error" in record.message for record in caplog.records) <= 3
