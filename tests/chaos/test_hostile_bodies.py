"""One principal sends what hurts most, another is answered all the same (SPEC A3, X3; ADR 0036)."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import hostile_bodies
from benchmarks.hostile_bodies import BODIES, MATRICES, Wire, made_key, measured, request_of
from examples.planner_server import PlannerServer, running_server
from tests.chaos.attack_bounds import HEALTH_MS, faults_of
from tests.shared.http.hostile_bodies import FRAMES, TOKENS, hostile_body
from tests.shared.store.chaos_results import keep

pytestmark = [pytest.mark.anyio, pytest.mark.chaos, pytest.mark.timeout(600)]
SETTINGS = {"PLANNER_AUTH_API_KEYS": "true", "PLANNER_TOOLSETS": "all"}
GENERATED = 200
"""Bodies of the generator, each of full size."""


@pytest.fixture
async def attacked(tmp_path: Path) -> AsyncIterator[tuple[PlannerServer, tuple[str, str]]]:
    """A server, and the keys of attacker and bystander."""
    async with running_server(tmp_path, workers=0, settings=SETTINGS) as server:
        yield server, (made_key(tmp_path, "mallory", SETTINGS), made_key(tmp_path, "alice", SETTINGS))


@pytest.mark.parametrize("at_once", [1, 12, 200])
@pytest.mark.parametrize("name", [*BODIES, *MATRICES])
async def test_no_body_holds_up_another_principal(
    attacked: tuple[PlannerServer, tuple[str, str]], name: str, at_once: int
) -> None:
    """SPEC A3, X3: calls and health stay quick, memory stays bounded and is given back, each request is answered."""
    server, keys = attacked
    began = time.monotonic()
    figures = await measured(server.url, server.pid, keys, name, at_once)
    keep("hostile bodies", seed=0, began=began, **asdict(figures))
    assert faults_of(figures) == []


async def test_generated_bodies_hold_up_nobody(attacked: tuple[PlannerServer, tuple[str, str]], seed: int) -> None:
    """SPEC A3, X3: token, place and nesting at random, grown to the limit; health is asked all the time."""
    server, (key, _) = attacked
    rng = random.Random(seed)
    health = Wire(server.url, request_of(server.url, key, b"", method="GET", path="/healthz"))
    await health.ask()
    health.times_ms.clear()
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            await health.ask()
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    began = time.monotonic()
    for _ in range(GENERATED):
        body = hostile_body(rng.choice(TOKENS), rng.choice(FRAMES), rng.randrange(40), hostile_bodies.BODY)
        attacker = Wire(server.url, request_of(server.url, key, body, tool="create_scenario"))
        await attacker.ask()
        await attacker.close()
    done.set()
    await watching
    slow_ms = hostile_bodies.p99(health.times_ms)
    keep("generated bodies", seed=seed, began=began, p99_ms=slow_ms, slowest_ms=max(health.times_ms))
    assert slow_ms <= HEALTH_MS
    assert health.failed == 0
