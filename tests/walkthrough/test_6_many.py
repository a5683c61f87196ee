"""Chapter 6, many: calls that are repeated, plans of many pages, orders from a table.

You learn what a program does that plans every day: it may call twice without harm, it reads long tables page by page,
and it hands over a file instead of writing a scenario.
"""

import anyio
import pytest
from mcp import Client

from tests.shared.scenarios.client_scenarios import SMALLEST, ring, submit, use, wait_for

pytestmark = pytest.mark.anyio

ORDERS = """订单号,纬度,经度,重量
A1,39.95,116.40,3
A2,39.96,116.42,4
"""


async def test_same_call_twice_is_one_job(client: Client) -> None:
    """SPEC T2: who heard no answer calls again; a key of your own stands for one call and is refused for another."""
    scenario_id = (await use(client, "create_scenario", **SMALLEST))["scenario_id"]
    asked = {"scenario_id": scenario_id, "solve_time": "PT1S", "idempotency_key": "tuesday"}
    first, again = [(await use(client, "solve_vrp", **asked))["job_id"] for _ in range(2)]
    assert first == again
    refused = await client.call_tool("solve_vrp", {**asked, "solve_time": "PT2S"})
    assert refused.is_error
    assert refused.structured_content["type"] == "IdempotencyConflict"


async def test_long_plan_is_read_page_by_page(client: Client) -> None:
    """SPEC T5, T9: a page is short enough for a model; `next_page` says where to go on, and is absent at the end."""
    with anyio.fail_after(30):
        job_id = await submit(client, ring(40), "PT1S")
        await wait_for(client, job_id, "COMPLETED")
    pages, page = [], 1
    while page:
        asked = {"job_id": job_id, "view": "visits", "fields": ["ticket_id"], "size": 15, "page": page}
        answer = await use(client, "read_plan", **asked)
        pages.append(answer["rows"])
        page = answer.get("next_page", 0)
    assert [len(rows) for rows in pages] == [15, 15, 9]
    assert sorted(ticket_id for rows in pages for (ticket_id,) in rows) == sorted(f"t-{n}" for n in range(1, 40))


async def test_table_of_orders_becomes_a_day(client: Client) -> None:
    """SPEC T5: columns are recognised in Chinese and English, and the answer says what each was taken for."""
    agents = [{"id": "van-1", "capacity": 10}]
    table = {"format": "csv", "content": ORDERS, "planning_date": "2025-07-15", "depot": "39.9,116.4"}
    made = await use(client, "import_scenario", **table, agents=agents)
    assert made["columns"]["tickets"]["taken"] == ["订单号 → id", "纬度 → lat", "经度 → lon", "重量 → demand"]
    with anyio.fail_after(30):
        job = await use(client, "solve_vrp", scenario_id=made["scenario_id"], solve_time="PT1S")
        done = await wait_for(client, job["job_id"], "COMPLETED")
    assert done["tickets_served"] == 2
