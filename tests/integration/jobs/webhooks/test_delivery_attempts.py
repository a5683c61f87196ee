"""What reaches an endpoint, what an answer means, and what is recorded (SPEC W1–W4)."""

import json

import anyio
import pytest
from standardwebhooks.webhooks import Webhook

from planner_mcp.jobs.webhooks.delivery_records import DeliveryState
from tests.integration.jobs.webhooks.conftest import WebhookHarness
from tests.shared.http.webhook_receiver import Receiver, answering, hanging

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("dispatcher")]


async def test_a_receiver_we_did_not_write_accepts_what_comes(post: WebhookHarness, receiver: Receiver) -> None:
    """SPEC W1, W2: Standard Webhooks headers over the exact bytes of the notification."""
    note = await post.hooks.reveal("ann")
    name = await post.put(receiver.url("/hook?for=me"))
    (request,) = await receiver.wait_for(1, "/hook")
    assert note.secret is not None
    notice = Webhook(note.secret).verify(request.body, request.headers)
    assert request.id == name
    assert notice["method"] == "notifications/complete"
    assert notice["params"]["status"] == "COMPLETED"
    assert "id" not in notice
    assert request.path == "/hook?for=me"


async def test_a_delivery_that_was_refused_comes_again_with_the_same_id_and_body(
    post: WebhookHarness, receiver: Receiver
) -> None:
    """SPEC W3: retries; a delivery keeps its id."""
    receiver.answers["/hook"] = [answering(500), answering(302, "location: /elsewhere\r\n"), answering(204)]
    found = await post.ended(await post.put(receiver.url("/hook")))
    requests = receiver.to("/hook")
    assert found.state is DeliveryState.DELIVERED
    assert [attempt.status for attempt in found.attempts] == [500, 302, 204]
    assert len({(request.id, request.body) for request in requests}) == 1
    assert receiver.to("/elsewhere") == []


async def test_a_delivery_is_given_up_after_the_last_attempt_and_can_be_replayed(
    post: WebhookHarness, receiver: Receiver
) -> None:
    """SPEC W3: dead letters can be listed and replayed."""
    receiver.answers["/hook"] = [*[answering(500)] * 4, answering(200)]
    name = await post.put(receiver.url("/hook"))
    dead = await post.ended(name)
    assert (dead.state, dead.attempt_count, dead.error) == (DeliveryState.DEAD, 4, "answer 500")
    listed, total = await post.hooks.deliveries("ann", DeliveryState.DEAD, offset=0, count=10)
    assert ([one.id for one in listed], total) == ([name], 1)
    await post.hooks.replay("ann", name)
    assert (await post.ended(name)).state is DeliveryState.DELIVERED
    assert len({(request.id, request.body) for request in receiver.to("/hook")}) == 1
    assert (await post.hooks.deliveries("ann", DeliveryState.DEAD, offset=0, count=10))[1] == 0


async def test_an_endpoint_that_is_gone_hears_no_more_until_somebody_asks(
    post: WebhookHarness, receiver: Receiver
) -> None:
    """SPEC W3: 410 ends the retries and disables the endpoint; 413 ends the delivery."""
    receiver.answers["/gone"] = [answering(410), answering(200)]
    receiver.answers["/large"] = [answering(413), answering(200)]
    gone = await post.ended(await post.put(receiver.url("/gone")))
    assert (gone.state, gone.attempt_count) == (DeliveryState.DEAD, 1)
    later = await post.ended(await post.put(receiver.url("/gone")))
    assert (later.state, later.attempt_count, later.error) == (DeliveryState.DEAD, 0, "endpoint is gone")
    await post.hooks.replay("ann", later.id)
    assert (await post.ended(later.id)).state is DeliveryState.DELIVERED
    assert (await post.ended(await post.put(receiver.url("/large")))).state is DeliveryState.DEAD
    assert (await post.ended(await post.put(receiver.url("/large")))).state is DeliveryState.DELIVERED


async def test_retry_after_is_honoured(post: WebhookHarness, receiver: Receiver) -> None:
    """SPEC W3: an endpoint that says when to come again is not asked before."""
    receiver.answers["/hook"] = [answering(429, "retry-after: 1\r\n"), answering(200)]
    await post.ended(await post.put(receiver.url("/hook")))
    first, second = receiver.to("/hook")
    assert second.at - first.at >= 1.0


@pytest.mark.slow
async def test_a_wait_that_no_clock_can_hold_costs_its_own_delivery_alone(
    post: WebhookHarness, receiver: Receiver
) -> None:
    """SPEC W3, W4: a year beyond every calendar says nothing; attempts to others go on meanwhile."""
    receiver.answers["/slow"] = [hanging, answering(200)]
    receiver.answers["/odd"] = [answering(503, "retry-after: Mon, 01 Jan 99999999999 00:00:00 GMT\r\n"), answering(200)]
    slow = await post.put(receiver.url("/slow"))
    await receiver.wait_for(1, "/slow")
    misdated = await post.ended(await post.put(receiver.url("/odd")))
    assert [attempt.status for attempt in misdated.attempts] == [503, 200]
    assert [attempt.error for attempt in (await post.ended(slow)).attempts] == ["unreachable", ""]


@pytest.mark.slow
@pytest.mark.parametrize("manner", ["hangs", "drips headers", "closes", "speaks no HTTP"])
async def test_an_endpoint_that_does_not_answer_costs_a_bounded_time(
    post: WebhookHarness, receiver: Receiver, manner: str
) -> None:
    """SPEC W4: one deadline for the whole attempt, within the patience of `post`; the reason is not told."""

    async def dripping(_request: object, writer: object) -> None:
        for _ in range(1000):
            writer.write(b"HTTP/1.1 200 x\r\n" if _ == 0 else b"x-drip: 1\r\n")  # type: ignore[attr-defined]
            await writer.drain()  # type: ignore[attr-defined]
            await anyio.sleep(0.05)

    async def closing(_request: object, writer: object) -> None:
        writer.close()  # type: ignore[attr-defined]

    async def babbling(_request: object, writer: object) -> None:
        writer.write(b"\x00\x01\x02 what?\r\n\r\n")  # type: ignore[attr-defined]

    manners = {"hangs": hanging, "drips headers": dripping, "closes": closing, "speaks no HTTP": babbling}
    receiver.answers["/hook"] = [manners[manner], answering(200)]
    found = await post.ended(await post.put(receiver.url("/hook")))
    assert [attempt.error for attempt in found.attempts] == ["unreachable", ""]


@pytest.mark.parametrize("size", [10, 200_000_000])
async def test_the_answer_is_read_within_bounds(post: WebhookHarness, receiver: Receiver, size: int) -> None:
    """SPEC W4: 2xx alone is success, whatever body follows or never ends."""
    sent = 0

    async def long_winded(_request: object, writer: object) -> None:
        nonlocal sent
        writer.write(f"HTTP/1.1 200 x\r\ncontent-length: {size}\r\n\r\n".encode())  # type: ignore[attr-defined]
        while sent < size:
            part = b"x" * min(65536, size - sent)
            writer.write(part)  # type: ignore[attr-defined]
            sent += len(part)
            await writer.drain()  # type: ignore[attr-defined]

    receiver.answers["/hook"] = [long_winded]
    found = await post.ended(await post.put(receiver.url("/hook")))
    assert [attempt.status for attempt in found.attempts] == [200]
    assert sent < 20_000_000


async def test_the_proxy_environment_is_not_read(
    post: WebhookHarness, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC W4: the address that was checked is the address that is called."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    await post.put(receiver.url("/hook"))
    await receiver.wait_for(1, "/hook")


async def test_principals_see_only_their_own(post: WebhookHarness, receiver: Receiver) -> None:
    """SPEC A2, W5: deliveries and secrets belong to a principal."""
    name = await post.put(receiver.url("/hook"), principal="ann")
    await post.ended(name)
    assert (await post.hooks.deliveries("bob", None, offset=0, count=10))[1] == 0
    with pytest.raises(Exception, match="id"):
        await post.hooks.delivery("bob", name)
    assert (await post.hooks.reveal("ann")).secret != (await post.hooks.reveal("bob")).secret


async def test_a_test_delivery_travels_like_any_other(post: WebhookHarness, receiver: Receiver) -> None:
    """Our choice: an admin can test an endpoint."""
    made = await post.hooks.send_test("ann", receiver.url("/hook"))
    assert (await post.ended(made.id)).state is DeliveryState.DELIVERED
    (request,) = receiver.to("/hook")
    assert json.loads(request.body)["params"]["test"] is True


@pytest.mark.slow
async def test_a_status_stands_though_its_body_never_ends(post: WebhookHarness, receiver: Receiver) -> None:
    """SPEC W4: the deadline of the attempt falls into a body nobody needs; the delivery is not made again."""

    async def unending(_request: object, writer: object) -> None:
        writer.write(b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n")  # type: ignore[attr-defined]
        await writer.drain()  # type: ignore[attr-defined]
        await anyio.sleep_forever()

    receiver.answers["/hook"] = [unending]
    found = await post.ended(await post.put(receiver.url("/hook")))
    assert [attempt.status for attempt in found.attempts] == [200]
