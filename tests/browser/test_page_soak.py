"""A page that is open for long while a plan improves four times a second: its memory stays flat.

The test is the worker: it claims the job and reports plans, as fast as no solver does for ten minutes. `SOAK_S` sets
the seconds.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from examples.planner_server import PlannerServer, running_server
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate
from planner_mcp.settings import Settings
from tests.browser.conftest import call
from tests.shared.scenarios.client_scenarios import ring
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.store.chaos_results import keep, size_of

pytestmark = [pytest.mark.anyio, pytest.mark.chaos, pytest.mark.timeout(1200)]
SOAK_S = size_of("SOAK_S", 600)
PARTS = 10
"""Memory is looked at after each."""
EVERY_S = 0.25
GROWTH = 1.25
"""Times the memory in the middle that a flat page may hold at the end.

What it keeps, the curve and the latest events, is full by then. Of three looks the least counts: two drawings are held
while the one replaces the other.
"""
TICKETS = 60


async def _report(store: RedisStore, seconds: float, start: int, day: dict[str, Any], claim: Any) -> int:
    """Report another plan four times a second; return the number of the last."""
    problem = compiled(day)
    number, last = start, start + round(seconds / EVERY_S)
    due = time.monotonic()
    while number < last:
        number += 1
        due += EVERY_S
        turned = [(ticket + number) % TICKETS for ticket in range(TICKETS)]
        plan = build_plan(
            problem, Candidate.of_tickets({agent: turned[10 * agent : 10 * agent + 10] for agent in range(6)})
        )
        progress = Progress(50, 1e9 - number, None, TICKETS, TICKETS, improvements=number, elapsed_s=number * EVERY_S)
        await store.report(claim, replace(progress), {**plan.as_json(), "cost": 1e9 - number})
        if number % 8 == 0:
            await store.renew(claim)
        await anyio.sleep(max(0.0, due - time.monotonic()))
    return number


async def _kept(devtools: Any) -> tuple[float, int]:
    """Return MB of the page's heap and its DOM nodes, after garbage was collected."""
    for _ in range(2):
        await devtools.send("HeapProfiler.collectGarbage")
    found = {each["name"]: each["value"] for each in (await devtools.send("Performance.getMetrics"))["metrics"]}
    return round(found["JSHeapUsedSize"] / 1e6, 2), int(found["Nodes"])


async def _open(browser: Any, server: PlannerServer, job_id: str) -> tuple[Any, Any]:
    page = await browser.new_page()
    await page.goto(f"{server.url}/ui#/jobs/{job_id}")
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Performance.enable")
    return page, devtools


async def test_an_open_page_holds_no_more_memory_after_many_updates(browser: Any, tmp_path: Path) -> None:
    """Our choice: 10 minutes at 4 updates a second with a flat heap."""
    began = time.monotonic()
    day = {**ring(TICKETS + 1), "name": "soak"}
    settings = Settings(data_dir=tmp_path)
    async with running_server(tmp_path, workers=0) as server, connect(settings) as store:
        scenario_id = (await call(server, "create_scenario", **day))["scenario_id"]
        solved = await call(server, "solve_vrp", scenario_id=scenario_id, solve_time="PT3600S", fresh=True)
        await store.register("soak", 1)
        claim = await store.claim("soak", 5.0)
        assert claim is not None
        page, devtools = await _open(browser, server, solved["job_id"])
        last, kept = 0, list[tuple[float, int]]()
        for _ in range(PARTS):
            last = await _report(store, SOAK_S / PARTS, last, day, claim)
            kept.append(await _kept(devtools))
        await page.locator(f"ol.scroll li >> text=/{1e9 - last:,.0f}/").wait_for(state="attached", timeout=30_000)
        drawn = await page.locator("svg.map .stop").count()
        await page.close()
    (middle_mb, middle_nodes), (end_mb, end_nodes) = min(kept[PARTS // 2 - 2 : PARTS // 2 + 1]), min(kept[-3:])
    megabytes = "/".join(str(heap_mb) for heap_mb, _ in kept)
    keep("page soak", seed=0, began=began, updates=last, heap_mb=megabytes, nodes=f"{middle_nodes}/{end_nodes}")
    assert drawn == TICKETS
    assert end_mb <= GROWTH * middle_mb
    assert end_nodes <= GROWTH * middle_nodes
