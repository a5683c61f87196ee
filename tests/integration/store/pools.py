"""What tests of a store of several pools share."""

from datetime import UTC, datetime
from typing import Any

from planner_mcp.jobs import ids
from planner_mcp.jobs.model import Job, SolveRequest, StoredScenario
from planner_mcp.store.redis_store import RedisStore

POOLS = 8


async def submit(store: RedisStore, pool: int, **args: Any) -> Job:
    """Queue a job of a new scenario in a pool."""
    scenario = StoredScenario(ids.random_name("scn", pool), "ann", {}, datetime.now(UTC), "h")
    await store.put_scenario(scenario)
    request = SolveRequest(scenario.id, 30, **args)
    return await store.submit("ann", request, ids.random_name("job", pool))
