"""What tests of a store of several shards share."""

from datetime import UTC, datetime
from typing import Any

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Job, SolveRequest, StoredScenario
from planner_mcp.jobs.store.redis_store import RedisStore

SHARDS = 8


async def submit(store: RedisStore, shard: int, **args: Any) -> Job:
    """Queue a job of a new scenario in a shard."""
    scenario = StoredScenario(ids.random_id("scn", shard), "ann", {}, datetime.now(UTC), "h")
    await store.put_scenario(scenario)
    request = SolveRequest(scenario.id, 30, **args)
    return await store.submit("ann", request, ids.random_id("job", shard))
