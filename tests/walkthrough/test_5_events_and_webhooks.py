"""Chapter 5, events: learn of a job's progress without asking again and again.

You learn the two ways for programs that speak no MCP. A job's channel streams its events to its readers; a
webhook brings its end to an address of yours. Both carry the same notifications.
"""

import json

import anyio
import httpx2 as httpx
import pytest
from mcp import Client
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from examples.job_events import follow
from examples.planner_server import PlannerServer
from tests.shared.http.webhook_receiver import Receiver
from tests.shared.scenarios.client_scenarios import SMALLEST, ring, submit, use

pytestmark = pytest.mark.anyio


async def test_the_channel_sends_every_change_of_a_job_in_order(
    server: PlannerServer, client: Client, http: httpx.AsyncClient
) -> None:
    """SPEC J2, J3: `GET /jobs/{id}/events` sends JSON-RPC notifications until the job has ended."""
    with anyio.fail_after(30):
        job_id = await submit(client, ring(), "PT1S")
        events_seen = [note async for _event_id, note in follow(http, server.url, job_id)]
    states = list(dict.fromkeys(note["params"]["status"] for note in events_seen))
    assert states == ["QUEUED", "SOLVING", "COMPLETED"]
    assert {note["method"] for note in events_seen[:-1]} == {"notifications/progress"}
    assert events_seen[-1]["method"] == "notifications/complete"
    assert events_seen[-1]["params"]["result"]["tickets_served"] == 119


async def test_reader_goes_on_from_the_last_event_it_saw(
    server: PlannerServer, client: Client, http: httpx.AsyncClient
) -> None:
    """SPEC J4: each event has an id; who sends it as `Last-Event-ID` misses nothing and sees nothing twice."""
    with anyio.fail_after(30):
        job_id = await submit(client, SMALLEST, "PT1S")
        events = [event async for event in follow(http, server.url, job_id)]
        seen = events[1][0]
        rest = [event async for event in follow(http, server.url, job_id, last=seen)]
    assert len(events) > 2
    assert rest == events[2:]


async def test_a_webhook_is_signed_and_reports_the_end_of_the_job(
    server: PlannerServer, client: Client, http: httpx.AsyncClient, receiver: Receiver
) -> None:
    """SPEC W1, W2: your secret, shown once, verifies the body as it came; it is the last event of the channel."""
    secret = (await use(client, "webhook_secret"))["secret"]
    with anyio.fail_after(30):
        job_id = await submit(client, SMALLEST, "PT1S", callback_url=receiver.url("/planned"))
        request, *_again = await receiver.wait_for(1, "/planned")
        *_, (_event_id, last) = [event async for event in follow(http, server.url, job_id)]
    hook = Webhook(secret)  # of any library for Standard Webhooks
    assert hook.verify(request.body, request.headers) == json.loads(request.body) == last
    with pytest.raises(WebhookVerificationError):
        hook.verify(request.body.replace(b"COMPLETED", b"FAILED"), request.headers)
