"""Scenarios of a principal, as lists and completions need them (SPEC T5, R2)."""

from dataclasses import replace

import pytest

from planner_mcp.errors import QuotaExceededError
from planner_mcp.jobs import ids
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_model import SolveRequest
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.scenarios.client_scenarios import SMALLEST

pytestmark = pytest.mark.anyio


async def test_scenarios_are_listed_newest_first_to_their_principal_alone(job_service: JobService) -> None:
    """SPEC A2, T5."""
    made = [(await job_service.create_scenario(LOCAL, {**SMALLEST, "name": f"day {n}"})).id for n in range(3)]
    cards, total = await job_service.scenarios(LOCAL, offset=0, count=2)
    assert total == 3
    assert {card.id for card in cards} <= set(made)
    rest, _ = await job_service.scenarios(LOCAL, offset=2, count=2)
    assert sorted(card.id for card in cards + rest) == sorted(made)
    assert {card.name for card in cards + rest} == {"day 0", "day 1", "day 2"}
    assert {card.planning_date for card in cards + rest} == {SMALLEST["planning_date"]}
    assert await job_service.scenarios(Principal("somebody else")) == ([], 0)


async def test_a_scenario_knows_its_newest_job(job_service: JobService) -> None:
    """SPEC R1: `scenario://{id}/result` is the newest solve."""
    scenario = await job_service.create_scenario(LOCAL, dict(SMALLEST))
    assert scenario.last_job_id is None
    jobs = [await job_service.submit(LOCAL, SolveRequest(scenario.id, 1, fresh=True)) for _ in range(2)]
    assert (await job_service.scenario(LOCAL, scenario.id)).last_job_id == jobs[-1].id
    cards, _ = await job_service.scenarios(LOCAL)
    assert cards[0].last_job_id == jobs[-1].id


async def test_a_scenario_knows_no_job_that_has_expired(job_service: JobService, store: RedisStore) -> None:
    """SPEC R1, J9: a scenario outlives its jobs, and takes the next one."""
    scenario = await job_service.create_scenario(LOCAL, dict(SMALLEST))
    for kept in (False, True):
        job = await job_service.submit(LOCAL, SolveRequest(scenario.id, 1, fresh=True))
        if not kept:
            await store.redis.delete(f"{{p0}}:job:{job.id}")
        expected = job.id if kept else None
        assert (await job_service.scenario(LOCAL, scenario.id)).last_job_id == expected
        assert await job_service.last_job(LOCAL, scenario.id) == expected
        assert (await job_service.scenarios(LOCAL))[0][0].last_job_id == expected


async def test_the_generations_of_a_revision_are_listed_as_far_as_they_are_kept(
    job_service: JobService, store: RedisStore
) -> None:
    """SPEC A2, T5: nearest first; what was revised from made-up prices has those of the day before them."""
    line = [await job_service.create_scenario(LOCAL, dict(SMALLEST))]
    for name, has_own in (("style", False), ("style of it", False), ("onward", True)):
        body = {**SMALLEST, "name": name}
        line.append(await job_service.create_scenario(LOCAL, body, line[-1], has_own_prices=has_own))
    kept = [await job_service.scenario(LOCAL, each.id) for each in line]
    assert [each.prices_of for each in kept] == [None, *[line[0].id] * 3]
    assert await job_service.ancestors(line[-1]) == [each.id for each in reversed(line)]
    assert await job_service.ancestors(replace(line[-1], principal="somebody else")) == [line[-1].id]
    await store.redis.delete(f"{{p0}}:scn:{line[1].id}")
    assert await job_service.ancestors(line[-1]) == [line[3].id, line[2].id]


async def test_a_scenario_that_expired_is_listed_no_more(job_service: JobService, store: RedisStore) -> None:
    """SPEC J9."""
    gone = await job_service.create_scenario(LOCAL, dict(SMALLEST))
    kept = await job_service.create_scenario(LOCAL, dict(SMALLEST))
    await store.redis.delete(f"{{p0}}:scn:{gone.id}")
    cards, total = await job_service.scenarios(LOCAL)
    assert ([card.id for card in cards], total) == ([kept.id], 1)


async def test_a_step_clears_so_many_expired_scenarios_and_no_more(job_service: JobService, store: RedisStore) -> None:
    """SPEC J9: others wait for each step."""
    dead = {ids.random_id("scn", 0): number for number in range(1, 1201)}
    await store.redis.zadd("{p0}:scns:local", dead)
    kept = [(await job_service.create_scenario(LOCAL, dict(SMALLEST))).id for _ in range(2)]
    args = {"principal": "local", "look": "rows", "offset": 0, "count": 9}
    assert await store.script_client.step("list_scenarios", 0, args) == ["again"]
    assert await store.redis.zcard("{p0}:scns:local") == 702
    cards, total = await job_service.scenarios(LOCAL)
    assert ({card.id for card in cards}, total) == ({*kept}, 2)


async def test_scenarios_beyond_a_number_are_refused_until_others_expire(store: RedisStore, settings: Settings) -> None:
    """SPEC J8, J9: with when to come back; one that is used lives on and counts on; others are not concerned."""
    small = settings.model_copy(update={"max_scenarios": 2, "scenario_ttl_s": 1000})
    async with connect(small) as narrow:
        job_service = JobService(narrow, EventFeed(narrow), settings=small)
        made = [(await job_service.create_scenario(LOCAL, dict(SMALLEST))).id for _ in range(2)]
        with pytest.raises(QuotaExceededError) as refused:
            await job_service.create_scenario(LOCAL, dict(SMALLEST))
        assert refused.value.retry_after_s is not None
        assert 900 < refused.value.retry_after_s <= 1000
        assert refused.value.errors[0].accepted == "max_scenarios is 2"
        await job_service.create_scenario(Principal("somebody else"), dict(SMALLEST))
        await _is_due(store, made[0], is_gone=False)
        with pytest.raises(QuotaExceededError):
            await job_service.create_scenario(LOCAL, dict(SMALLEST))
        await _is_due(store, made[1], is_gone=True)
        new = await job_service.create_scenario(LOCAL, dict(SMALLEST))
        with pytest.raises(QuotaExceededError):
            await job_service.create_scenario(LOCAL, dict(SMALLEST))
        cards, total = await job_service.scenarios(LOCAL)
    assert ({card.id for card in cards}, total) == ({made[0], new.id}, 2)


async def test_scenarios_that_take_too_much_room_are_refused(store: RedisStore, settings: Settings) -> None:
    """SPEC J8: whatever their number; the room of what expired is free again, and a repeated step takes none."""
    small = settings.model_copy(update={"max_scenarios_bytes": 10_000})
    async with connect(small) as narrow:
        job_service = JobService(narrow, EventFeed(narrow), settings=small)
        large = {**SMALLEST, "name": "x" * 3000}
        first = await job_service.create_scenario(LOCAL, large)
        await narrow.put_scenario(first)
        with pytest.raises(QuotaExceededError) as refused:
            await job_service.create_scenario(LOCAL, large)
        assert refused.value.errors[0].accepted == "max_scenarios_bytes is 10000"
        await job_service.create_scenario(LOCAL, dict(SMALLEST))
        await _is_due(store, first.id, is_gone=True)
        await job_service.create_scenario(LOCAL, large)


async def _is_due(store: RedisStore, scenario_id: str, *, is_gone: bool) -> None:
    """Make a scenario's life end now as far as it is written down, and in fact if it is gone."""
    lives = "{p0}:scnx:local"
    (entry,) = [each for each in await store.redis.zrange(lives, 0, -1) if each.startswith(scenario_id)]
    await store.redis.zadd(lives, {entry: 1})
    if is_gone:
        await store.redis.delete(f"{{p0}}:scn:{scenario_id}")
