"""Every key has a life (SPEC J9). The store fixture checks that no other test leaves an immortal key either."""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from planner_mcp.addresses.structured_address import StructuredAddress
from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.events.event_types import REVIEWED
from planner_mcp.jobs.ids import derived_id, plan_of, subscription_id
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import MatrixParts, SeatClaim
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.records.confirmed_addresses import ConfirmedAddress
from planner_mcp.jobs.records.import_records import UploadedFile
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.audit_log import AuditLog
from planner_mcp.jobs.store.security.confirmed_address_store import ConfirmedAddressStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.rate_limiter import RateLimiter
from planner_mcp.jobs.store.webhooks.event_subscription_store import RedisEventSubscriptions
from planner_mcp.jobs.webhooks.event_subscriptions import EventSubscription
from planner_mcp.server.auth.api_key_auth import new_key
from planner_mcp.server.auth.audit_trail import OK, Audit
from planner_mcp.settings import Settings
from tests.shared.store.keys_without_ttl import keys_without_ttl

pytestmark = pytest.mark.anyio


async def everything(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """Use every part of the store, so that every key of the grammar comes to be."""
    for state in (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED):
        await harness.ended(state)
    claim = await harness.solving(callback_url="https://example.org", idempotency_key="k")
    await harness.store.report(claim, half, plan)
    await harness.store.cancel("ann", claim.job.id, keep_best=True)
    await harness.submit("ben")
    await harness.store.settle_cancel(claim)
    await harness.claim()
    await harness.submit("cid", cores=2)
    await harness.workers(3)
    while not isinstance(seat := await harness.claim(), SeatClaim):
        pass
    await harness.store.exchange(seat, plan, is_new=True)
    await harness.submit()
    await harness.store.redis.hset("{p0}:weights", "ann", 2)
    for number, is_cache in enumerate((True, False)):
        name = derived_id("mat", bytes([number]) * 18, 1)
        await harness.store.put_matrix("ann", MatrixParts(name), {"locations": "[]"}, is_cache=is_cache)
    await edge(harness.store.script_client)
    await harness.store.ping()


async def edge(script_client: ScriptClient) -> None:
    """Leave what the edge keeps: an API key, a counted request, a line of the audit log."""
    now = datetime.now(UTC)
    await ApiKeyStore(script_client).add(new_key("ann", "", ["planner:read"], now=now)[1])
    await RateLimiter(script_client, Settings()).take("ann")
    audit = Audit(AuditLog(script_client, Settings()))
    await audit.record(LOCAL, "solve_vrp", outcome=OK, trace_id="0")
    await audit.until_written()


async def test_every_key_is_in_the_grammar(harness: Any, plan: dict[str, Any], half: Progress) -> None:
    """Our choice: the docstring of jobs/store/store_keys.py names all, and nothing that is never written."""
    await everything(harness, plan, half)
    written = {key.split(":")[1] async for key in harness.store.redis.scan_iter()}
    named = set(re.findall(r"^\{pN\}:(\w+)", store_keys.__doc__ or "", re.MULTILINE))
    # several shards; a matrix on its way; a limit on submits; a dispatcher; subscriptions to events
    assert named - written == {"bound", "calls", "matp", "pace", "wh", "watched", "improved"}
    assert written - named == set()


async def test_ended_jobs_expire_after_the_job_ttl_and_others_only_after_a_week(
    harness: Any, settings: Settings, plan: dict[str, Any], half: Progress
) -> None:
    """SPEC J9: a short retention never takes a job that is not over."""
    async with connect(settings.model_copy(update={"job_ttl_s": 60, "scenario_ttl_s": 60})) as store:
        harness.store = store
        over, waiting = await harness.ended(JobState.COMPLETED), await harness.submit("ben")
        ttl = store.redis.ttl
        for key in ("job", "ev"):
            assert 0 < await ttl(f"{{p0}}:{key}:{over.job.id}") <= 60
            assert await ttl(f"{{p0}}:{key}:{waiting.id}") > 6 * 86400
        assert 0 < await ttl("{p0}:plan:" + plan_of(over.job.id)) <= 60
        assert await ttl("{p0}:scn:" + waiting.request.scenario_id) > 6 * 86400


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.SOLVING])
async def test_the_reaper_keeps_what_lasts_long_from_expiring(harness: Any, state: JobState) -> None:
    """SPEC J7, J9: nothing acknowledged is lost, however long it waits or runs; what is gone is counted no more."""
    job = await harness.submit() if state is JobState.QUEUED else (await harness.solving()).job
    await harness.store.redis.expire("{p0}:job:" + job.id, 10)
    await harness.store.redis.zadd(f"{{p0}}:{state}", {job.id: 1, "job-0-gone": 1})
    await harness.store.reap()
    assert await harness.store.redis.ttl("{p0}:job:" + job.id) > 6 * 86400
    assert await harness.store.redis.zrange(f"{{p0}}:{state}", 0, -1) == [job.id]


@pytest.mark.parametrize("where", ["in the backlog", "handed out", "delivered", "in a worker's hands"])
async def test_a_job_that_expired_before_its_end_takes_no_place_of_its_principal(
    harness: Any, settings: Settings, where: str
) -> None:
    """SPEC J8, J9: whatever the place was, it is free once a worker comes across it."""
    narrow = {"max_solving_per_principal": 1, "max_queued_per_principal": 1}
    async with connect(settings.model_copy(update=narrow)) as store:
        harness.store = store
        if where != "in the backlog":
            await harness.workers()
        job = await harness.submit()
        if where == "delivered":
            await store.script_client.read_group("{p0}:ready", group="workers", consumer="w1", block_s=0)
        elif where == "in a worker's hands":
            await harness.let_lease_lapse(await harness.claim())
        await store.redis.delete(f"{{p0}}:job:{job.id}", f"{{p0}}:ev:{job.id}")
        if where == "in a worker's hands":
            assert await store.reap() == 0
        else:
            await harness.workers()
            assert await store.claim("w1", 0) is None
        assert (await store.list_jobs("ann", None, offset=0, count=0))[1] == 0
        await harness.workers()
        later = await harness.submit()
        assert (await harness.claim()).job.id == later.id
        assert await store.redis.smembers("{p0}:out:ann") == {later.id}
        assert ((await store.stats()).queued, (await store.stats()).solving) == (0, 1)


async def test_a_handed_out_entry_of_an_earlier_version_is_served_and_dropped(harness: Any) -> None:
    """SPEC J6: while a deployment rolls, an entry may not name its principal yet."""
    await harness.workers(2)
    jobs = [await harness.submit() for _ in range(2)]
    redis = harness.store.redis
    for entry, fields in await redis.xrange("{p0}:ready"):
        await redis.xdel("{p0}:ready", entry)
        anew = await redis.xadd("{p0}:ready", {"job": fields["job"]})
        await redis.hset(f"{{p0}}:job:{fields['job']}", "delivery", anew)
    await redis.delete(f"{{p0}}:job:{jobs[0].id}")
    assert (await harness.claim()).job.id == jobs[1].id
    assert await redis.xlen("{p0}:ready") == 1


async def test_the_events_of_a_long_job_are_trimmed_but_never_its_end(harness: Any, plan: dict[str, Any]) -> None:
    """SPEC J9, J1."""
    claim = await harness.solving()
    for step in range(store_keys.EVENTS_KEPT + 300):
        await harness.store.report(claim, Progress(elapsed_s=float(step)), None)
    await harness.store.complete(claim, Progress(), plan)
    kept = await harness.events(claim.job.id)
    assert len(kept) < store_keys.EVENTS_KEPT + 150
    assert kept[-1].is_final
    assert [event.number for event in kept] == list(range(kept[0].number, kept[-1].number + 1))


async def test_an_index_outlives_a_job_that_is_put_into_it_by_a_week(harness: Any) -> None:
    """SPEC J9: an index is renewed when less is left of it than a job may live, and only then."""
    redis, index = harness.store.redis, "{p0}:jobs:ann"
    await harness.submit("ann")
    assert await redis.ttl(index) > 13 * 86400
    await redis.expire(index, 8 * 86400)
    await harness.submit("ann")
    assert await redis.ttl(index) <= 8 * 86400
    await redis.expire(index, 6 * 86400)
    await harness.submit("ann")
    assert await redis.ttl(index) > 13 * 86400


@pytest.mark.parametrize(
    "use",
    [
        lambda harness, scenario_id: harness.store.get_scenario("ann", scenario_id),
        lambda harness, scenario_id: harness.store.last_job("ann", scenario_id),
        lambda harness, _scenario_id: harness.submit(),
    ],
    ids=["read", "asked for its job", "solved"],
)
async def test_the_lists_of_a_scenario_live_as_long_as_it_is_used(
    harness: Any, settings: Settings, use: Callable[[Any, str], Awaitable[object]]
) -> None:
    """SPEC J9, T5: a standing day that is never put again is listed, and counts against what may be kept."""
    async with connect(settings.model_copy(update={"scenario_ttl_s": 1000})) as store:
        harness.store = store
        scenario_id = await harness.scenario()
        await _all_used(store.redis, use(harness, scenario_id), "scn:" + scenario_id, ["scns", "scnx", "scnb"])


@pytest.mark.parametrize("is_cache", [False, True], ids=["uploaded", "told by a road engine"])
@pytest.mark.parametrize("use", ["get_matrix", "outline_matrix"])
async def test_the_list_of_a_matrix_lives_as_long_as_it_is_used(
    harness: Any, settings: Settings, use: str, is_cache: bool
) -> None:
    """SPEC J9: a matrix in use counts against what may be kept."""
    async with connect(settings.model_copy(update={"scenario_ttl_s": 1000})) as store:
        name = derived_id("mat", bytes(18), 1)
        await store.put_matrix("ann", MatrixParts(name), {"locations": "[]"}, is_cache=is_cache)
        await _all_used(store.redis, getattr(store, use)("ann", name), "mat:" + name, ["roads" if is_cache else "mats"])


async def _all_used(redis: Any, use: Awaitable[object], kept: str, indexes: list[str]) -> None:
    """Use what is kept when little is left of its life, and check that its lists live on with it."""
    kept, *names = [f"{{p0}}:{kept}", *(f"{{p0}}:{name}:ann" for name in indexes)]
    for name in (kept, *names):
        await redis.expire(name, 10)
    await use
    life_s = await redis.ttl(kept)
    assert life_s >= 1000
    for name in names:
        assert await redis.ttl(name) >= life_s


async def test_what_was_kept_when_the_store_went_away_has_a_life(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J9: a file whose caller left in between would stay for ever."""
    client, command = store.script_client, store.script_client.command

    async def without_expiry(*words: str | int | float) -> Any:
        if words[0] in ("EXPIRE", "PEXPIRE"):
            raise StoreUnavailableError
        return await command(*words)

    monkeypatch.setattr(client, "command", without_expiry)
    until = datetime.now(UTC) + timedelta(hours=1)
    subscription = EventSubscription(
        subscription_id("ann"), "ann", REVIEWED, {}, "https://example.org", is_masked=False, until=until, group="g"
    )
    for keeping in (
        store.put_file("ann", "a.csv", UploadedFile(b"x", is_confidential=False)),
        ConfirmedAddressStore(client, settings).confirm("ann", "here", ConfirmedAddress(StructuredAddress(), None)),
        RedisEventSubscriptions(client, open_cipher(settings), settings).put(subscription, "whsec_x"),
    ):
        with suppress(StoreUnavailableError):
            await keeping
    assert await store.redis.keys("{p0}:*") != []
    assert await keys_without_ttl(store) == []
