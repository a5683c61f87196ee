"""What callers and operators may ask of webhooks: tools, commands, and a callback_url judged at submit (SPEC W3–W5)."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from typer.testing import CliRunner

from planner_mcp.cli.commands.webhook_commands import app
from planner_mcp.jobs import ids
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import SCOPES, Principal
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.webhooks import outbox as outbox_module
from planner_mcp.jobs.store.webhooks.outbox import AttemptOutcome, NewDelivery, Outbox
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.jobs.webhooks.delivery_records import DeliveryState
from planner_mcp.jobs.webhooks.endpoint_policy import DeliveryDecision, endpoint_id
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolContext, ToolResult
from planner_mcp.server.tools.tool_registry import REGISTRY, dispatch
from planner_mcp.settings import Settings
from tests.integration.jobs.webhooks.conftest import WebhookHarness, dispatching_webhooks
from tests.shared.http.webhook_receiver import Receiver, answering
from tests.shared.tools.tool_contexts import tool_context

pytestmark = pytest.mark.anyio
TOOLS = {tool.name: tool for tool in REGISTRY}
ANN = Principal("ann", SCOPES)
NOW_MS = 1_795_219_200_000


@pytest.fixture
def ctx(store: RedisStore, feed: EventFeed, settings: Settings) -> ToolContext:
    return tool_context(store, JobService(store, feed, settings=settings), settings, ANN)


async def call(ctx: ToolContext, name: str, **args: Any) -> ToolResult | ErrorResult:
    return await dispatch(TOOLS[name], ctx, args)


async def test_a_forbidden_callback_is_refused_before_anything_is_queued(ctx: ToolContext) -> None:
    """SPEC W4, T7: literals refused at submit, with the place and what would be accepted."""
    args = {"scenario_id": ids.random_id("scn", 0), "callback_url": "https://169.254.169.254/latest/meta-data"}
    refused = await call(ctx, "solve_vrp", **args)
    assert refused.is_error
    assert (refused.structured["code"], refused.structured["type"]) == (4014, "EndpointForbidden")
    assert refused.structured["errors"][0]["path"] == "/callback_url"
    unknown = await call(ctx, "solve_vrp", **{**args, "callback_url": "https://example.com/hook"})
    assert unknown.structured["code"] == 4004


async def test_a_tool_shows_the_secret_once(ctx: ToolContext) -> None:
    """SPEC W5."""
    first = await call(ctx, "webhook_secret")
    assert first.structured["secret"] in first.text
    again = await call(ctx, "webhook_secret")
    assert not again.is_error
    assert "secret" not in again.structured
    rotated = await call(ctx, "webhook_secret", action="rotate")
    assert rotated.structured["secret"] != first.structured["secret"]
    assert len(rotated.structured["old_secrets_until"]) == 1


@pytest.mark.parametrize("pools", [1, 3])
@pytest.mark.parametrize("at_once", [1, 7, 1000])
async def test_a_page_of_deliveries_costs_its_own_size_however_many_there_are(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch, at_once: int, pools: int
) -> None:
    """SPEC W3: by state and page, newest first over all shards; a listing reads no delivery that it does not show."""
    monkeypatch.setattr(outbox_module, "LOOK_AT_ONCE", at_once)
    made = await _thirty(store, settings, pools)
    reads: list[Any] = []
    command = store.script_client.command

    async def counted(*words: Any) -> Any:
        reads.append(words[0])
        return await command(*words)

    monkeypatch.setattr(store.script_client, "command", counted)
    hooks = RedisWebhookStore(store.script_client, settings.model_copy(update={"pools": pools}))
    for state in (None, *DeliveryState):
        there = [name for name in reversed(made) if state in (None, made[name])]
        pages = []
        for offset in range(0, 36, 4):
            reads.clear()
            found, total = await hooks.deliveries("ann", state, offset=offset, count=4)
            assert reads.count("HGETALL") + reads.count("LRANGE") == len(found)
            assert total == len(there)
            pages += [(one.id, one.state) for one in found]
        assert pages == [(name, made[name]) for name in there]
    assert await hooks.deliveries("bob", DeliveryState.PENDING, offset=0, count=4) == ([], 0)


async def _thirty(store: RedisStore, settings: Settings, pools: int) -> dict[str, DeliveryState]:
    """Have thirty deliveries of ann in all states, spread over shards; return them oldest first."""
    made: dict[str, DeliveryState] = {}
    for number in range(30):
        outbox = Outbox(store.script_client, number % pools, settings, clock_ms=lambda: NOW_MS + number)  # noqa: B023
        url, name = f"https://example.com/{number}", ids.random_test_id(number % pools)
        await outbox.take([NewDelivery(name, "ann", url, endpoint_id("ann", url), "completed", name, "{}")])
        made[name] = list(DeliveryState)[number % 5 % 3]
        if made[name] is not DeliveryState.PENDING:
            ((dispatch,), _next) = await outbox.claim(1, 1)
            decision = DeliveryDecision(is_delivered=made[name] is DeliveryState.DELIVERED, error="answer 413")
            await outbox.settle(dispatch, AttemptOutcome(decision, 200, 0.1))
        else:  # no later claim takes it
            await store.redis.zrem(f"{{p{number % pools}}}:wh:unproven", endpoint_id("ann", url))
    return made


async def test_deliveries_are_listed_shown_and_replayed_by_tool(
    ctx: ToolContext, post: WebhookHarness, receiver: Receiver, store: RedisStore, settings: Settings
) -> None:
    """SPEC W3: dead letters can be listed and replayed, by their owner alone."""
    receiver.answers["/hook"] = [*[answering(500)] * 4, answering(200)]
    async with dispatching_webhooks(store, settings):
        name = await post.put(receiver.url("/hook"))
        await post.ended(name)
        listed = await call(ctx, "webhook_deliveries", state="dead")
        assert [(row["delivery_id"], row["error"]) for row in listed.structured["deliveries"]] == [(name, "answer 500")]
        shown = await call(ctx, "webhook_deliveries", action="show", delivery_id=name)
        assert [one["status"] for one in shown.structured["deliveries"][0]["tries"]] == [500] * 4
        stranger = replace(ctx, principal=Principal("bob", SCOPES))
        foreign = await call(stranger, "webhook_deliveries", action="replay", delivery_id=name)
        unknown = await call(ctx, "webhook_deliveries", action="show", delivery_id="job-0-" + "a" * 26)
        assert foreign.structured == unknown.structured
        assert unknown.structured["errors"][0]["path"] == "/delivery_id"
        await call(ctx, "webhook_deliveries", action="replay", delivery_id=name)
        await receiver.wait_for(5, "/hook")
        tested = await call(ctx, "webhook_deliveries", action="test", url=receiver.url("/test"))
        assert tested.structured["deliveries"][0]["event"] == "test"
        await receiver.wait_for(1, "/test")
        reported = (await call(ctx, "webhook_deliveries", action="endpoints")).structured["endpoints"]
        assert {receiver.url("/hook"), receiver.url("/test")} == {row["url"] for row in reported}
        assert all(row["state"] in ("working", "new") for row in reported)
        none = await call(stranger, "webhook_deliveries", action="endpoints")
        assert none.structured == {"endpoints": [], "total": 0}


@pytest.mark.parametrize("pools", [1, 3])
async def test_endpoints_come_in_pages(
    ctx: ToolContext, settings: Settings, monkeypatch: pytest.MonkeyPatch, pools: int
) -> None:
    """SPEC W3, T5: told by page, with total and next page, like every list; each once, whichever shards know it."""
    wide = settings.model_copy(update={"pools": pools})
    urls = [f"https://example.com/{number}" for number in range(5)]
    async with connect(wide) as store:
        await store.redis.flushdb()
        for number, url in enumerate([*urls, urls[0]]):
            outbox = Outbox(store.script_client, number % pools, wide, clock_ms=lambda: NOW_MS + number)  # noqa: B023
            name = ids.random_test_id(number % pools)
            await outbox.take([NewDelivery(name, "ann", url, endpoint_id("ann", url), "completed", name, "{}")])
        here = replace(ctx, webhooks=RedisWebhookStore(store.script_client, wide))
        pages = [await call(here, "webhook_deliveries", action="endpoints", size=2, page=page) for page in range(1, 5)]
        monkeypatch.setattr("planner_mcp.server.tools.webhooks.webhook_deliveries.MAX_ENDPOINTS", 2)
        bounded = [await call(here, "webhook_deliveries", action="endpoints", size=50, page=page) for page in (1, 2, 3)]
    assert [row["url"] for page in pages for row in page.structured["endpoints"]] == [urls[0], *urls[:0:-1]]
    assert [page.structured["total"] for page in pages] == [5] * 4
    assert [page.structured.get("next_page") for page in pages] == [2, 3, None, None]
    assert [page.structured for page in bounded] == [page.structured for page in pages[:3]]


@pytest.mark.parametrize(
    ("args", "code", "path"),
    [
        ({"action": "show"}, 4002, "/delivery_id"),
        ({"action": "test"}, 4002, "/url"),
        ({"action": "test", "url": "https://10.0.0.1/"}, 4014, "/url"),
    ],
)
async def test_a_mistaken_call_says_what_is_missing(
    ctx: ToolContext, args: dict[str, str], code: int, path: str
) -> None:
    """SPEC T7."""
    refused = await call(ctx, "webhook_deliveries", **args)
    assert (refused.structured["code"], refused.structured["errors"][0]["path"]) == (code, path)


async def test_commands_do_the_same(post: WebhookHarness, receiver: Receiver, settings: Settings) -> None:
    """Our choice: `planner-mcp webhooks` lists, shows, replays and tests deliveries and manages secrets."""
    where = ["--data-dir", str(settings.data_dir), "--redis-url", str(settings.redis_url)]
    env = {
        "PLANNER_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
        "PLANNER_WEBHOOK_ALLOW_PORTS": str(receiver.port),
        "PLANNER_WEBHOOK_SCHEDULE_S": "0,0",
    }

    async def run(*words: str) -> tuple[int, str]:
        done = await anyio.to_thread.run_sync(lambda: CliRunner().invoke(app, [*words, *where], env=env))
        return done.exit_code, done.output.strip()

    code, secret = await run("secret")
    assert (code, secret[:6]) == (0, "whsec_")
    assert (await run("secret"))[0] == 1
    assert (await run("rotate"))[1] != secret
    code, line = await run("test", receiver.url("/hook"))
    name = line.split("  ")[1]
    assert (code, name[:7]) == (0, "test-0-")
    assert name in (await run("list", "--state", "pending"))[1]
    assert receiver.url("/hook") in (await run("show", name))[1]
    assert (await run("endpoints"))[1] == f"new  {receiver.url('/hook')}  pending 1  failures 0"
    assert "pending" in (await run("replay", name))[1]
    unknown = (
        "Nothing with this id is known here. (accepted: the id of a delivery) planner-mcp webhooks list shows them."
    )
    assert await run("show", "nothing") == (1, f"error 4004 NotFound: /delivery_id: {unknown}")
    before = await run("show", name)
    assert await run("replay", name, "nothing") == (1, f"error 4004 NotFound: /delivery_ids/1: {unknown}")
    assert await run("show", name) == before  # where one id is unknown, nothing is sent again
    assert (await run("test", "https://10.0.0.1/"))[0] == 1
    env |= {"PLANNER_SECRET_KEY": "another"}
    code, reported = await run("rotate")
    assert (code, "PLANNER_SECRET_KEY" in reported) == (1, True)
    assert (await run("rotate", "--force"))[1].startswith("whsec_")
