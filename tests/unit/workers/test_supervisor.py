"""What the supervisor hands to its workers, and what it must not load itself."""

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import SecretStr

from planner_mcp.settings import GeocoderSettings, Settings
from workers import supervisor
from workers.supervisor import Supervisor, environment_of


def test_workers_read_the_settings_of_their_supervisor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O1: overrides of the command line reach the workers, lists, floats and secrets included."""
    settings = Settings(
        data_dir=tmp_path,
        lease_s=0.7,
        webhook_allow_ports=[1, 2],
        public_url="https://x.example",
        scale_token=SecretStr("s" * 16),
        geocoders={"map": GeocoderSettings(kind="photon", url="https://photon.example", key=SecretStr("key"))},
    )
    for name, value in environment_of(settings).items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings


@pytest.mark.parametrize("name", ["PLANNER_REDIS_URL", "planner_redis_url"])
def test_workers_do_not_read_what_an_override_left_empty(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O3: with `--redis-url ""` server and workers have the bundled store, whatever the variable says."""
    monkeypatch.setenv(name, "redis://elsewhere")
    assert Settings().redis_url == "redis://elsewhere"
    given = environment_of(Settings(redis_url=""))
    assert not [each for each in given if each.upper() == "PLANNER_REDIS_URL"]
    assert {"PATH", "PLANNER_LEASE_S"} <= given.keys()


def test_supervisor_loads_no_solver_and_no_numpy() -> None:
    """Our choice: `serve` runs the supervisor beside the server: it must stay small."""
    code = (
        "import sys, workers.supervisor; print([m for m in ('numpy', 'ortools', 'pyvrp', 'redis') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "[]"


@pytest.mark.anyio
async def test_a_worker_that_cannot_be_started_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC J6: jobs would wait for ever after a moment in which a host has no process or file left."""
    start, tries = asyncio.create_subprocess_exec, 0

    async def refuse_once(*words: str, **options: Any) -> asyncio.subprocess.Process:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return await start(sys.executable, "-c", "input()", **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse_once)
    monkeypatch.setattr(supervisor, "BACKOFF_FIRST_S", 0.01)
    workers = Supervisor(Settings(data_dir=tmp_path), 1)
    with anyio.fail_after(10):
        running = asyncio.create_task(workers.run())
        while not workers.pids and not running.done():  # noqa: ASYNC110 another process has no event
            await asyncio.sleep(0.01)
        assert workers.pids
        workers.drain()
        await running
