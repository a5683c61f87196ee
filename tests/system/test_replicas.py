"""Nothing a client holds depends on which replica answered: two servers, another one at each request."""

import anyio
import pytest
from mcp import Client

from examples.house import House
from tests.system.scenarios import ring, submit, use, wait_for
from tests.system.switch import switching

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_client_is_served_through_a_balancer_that_changes_replica_each_time(
    house: House, second: House, mode: str
) -> None:
    """SPEC J4, X1: initialize on one, call on the next, wait on the third."""
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with switching(house.url, second.url) as (url, switch), Client(f"{url}/mcp", mode=mode) as client:
        with anyio.fail_after(40):
            job_id = await submit(client, ring(), "PT3S", fresh=True)
            await client.call_tool("query_vrp_status", {"job_id": job_id, "wait_s": 10}, progress_callback=hear)
            done = await wait_for(client, job_id, "COMPLETED")
            plan = await use(client, "read_plan", job_id=job_id)
        assert switch.served >= 5
    assert done["progress"] == 100
    assert plan["plan_id"] == job_id.replace("job-", "plan-", 1)
