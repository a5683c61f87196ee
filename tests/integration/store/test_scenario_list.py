"""Scenarios of a principal, as lists and completions need them (SPEC T5, R2)."""

import pytest

from planner_mcp.jobs.model import LOCAL, Principal, SolveRequest
from planner_mcp.jobs.service import Planner
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.settings import Settings
from planner_mcp.store.redis_store import RedisStore
from tests.system.scenarios import SMALLEST

pytestmark = pytest.mark.anyio


@pytest.fixture
def planner(store: RedisStore, feed: RedisFeed, settings: Settings) -> Planner:
    return Planner(store, feed, settings=settings)


async def test_scenarios_are_listed_newest_first_to_their_principal_alone(planner: Planner) -> None:
    """SPEC A2, T5."""
    made = [(await planner.create_scenario(LOCAL, {**SMALLEST, "name": f"day {n}"})).id for n in range(3)]
    cards, total = await planner.scenarios(LOCAL, offset=0, count=2)
    assert total == 3
    assert {card.id for card in cards} <= set(made)
    rest, _ = await planner.scenarios(LOCAL, offset=2, count=2)
    assert sorted(card.id for card in cards + rest) == sorted(made)
    assert {card.name for card in cards + rest} == {"day 0", "day 1", "day 2"}
    assert await planner.scenarios(Principal("somebody else")) == ([], 0)


async def test_a_scenario_knows_its_newest_job(planner: Planner) -> None:
    """SPEC R1: `scenario://{id}/result` is the newest solve."""
    scenario = await planner.create_scenario(LOCAL, dict(SMALLEST))
    assert scenario.last_job_id is None
    jobs = [await planner.submit(LOCAL, SolveRequest(scenario.id, 1, fresh=True)) for _ in range(2)]
    assert (await planner.scenario(LOCAL, scenario.id)).last_job_id == jobs[-1].id
    cards, _ = await planner.scenarios(LOCAL)
    assert cards[0].last_job_id == jobs[-1].id


async def test_a_scenario_that_expired_is_listed_no_more(planner: Planner, store: RedisStore) -> None:
    """SPEC J9."""
    gone = await planner.create_scenario(LOCAL, dict(SMALLEST))
    kept = await planner.create_scenario(LOCAL, dict(SMALLEST))
    await store.redis.delete(f"{{p0}}:scn:{gone.id}")
    cards, total = await planner.scenarios(LOCAL)
    assert ([card.id for card in cards], total) == ([kept.id], 1)
