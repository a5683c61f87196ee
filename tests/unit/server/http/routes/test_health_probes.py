"""Alive and ready."""

import tempfile
from pathlib import Path

import httpx2 as httpx
import pytest

import planner_mcp
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.processes.stopwatch import Stopwatch
from tests.unit.server.http.conftest import build, serving

pytestmark = pytest.mark.anyio


async def test_a_ready_server_shows_its_queue(http: httpx.AsyncClient, url: str, store: RedisStore, job: Job) -> None:
    """SPEC O3: what waits, what runs, who works."""
    await store.register("w1", 2)
    answer = await http.get(f"{url}/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "queued": 1, "solving": 0, "live_workers": 1, "live_slots": 2}
    alive = await http.get(f"{url}/healthz")
    assert alive.json() == {"status": "ok", "version": planner_mcp.__version__}


async def test_without_its_store_the_process_lives_and_is_not_ready(http: httpx.AsyncClient) -> None:
    """SPEC J7: 503 with Retry-After, within the bound; the job channel says the same."""
    with tempfile.TemporaryDirectory(prefix="planner-") as folder:
        server = EmbeddedServer(Path(folder), appendfsync="everysec")
        with server:
            settings = Settings(redis_url=server.url)
            store = await connect(settings).__aenter__()
        job_service = JobService(store, EventFeed(store), settings=settings)
        async with serving(build(settings, job_service)) as url:
            assert (await http.get(f"{url}/healthz")).status_code == 200
            for path in ("/readyz", f"/jobs/job-0-{'a' * 26}", f"/jobs/job-0-{'a' * 26}/events"):
                watch = Stopwatch()
                answer = await http.get(url + path)
                assert watch.spent_s < 4
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
                assert answer.json()["code"] == 5031
                assert answer.json()["retryable"] is True
        await store.script_client.aclose()
