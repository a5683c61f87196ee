"""All entry points open at once for a long time: every visit is answered, and nothing grows.

`SOAK_MINUTES` sets how long, `SOAK_VISITORS` how many at each entry point; `CHAOS_RECORD` keeps the figures.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from redis.exceptions import RedisError

from examples import bridged_orders
from examples.planner_server import running_server
from planner_mcp.jobs.principals import ADMIN, READ, SENSITIVE, WRITE
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.server.auth.api_key_auth import new_key
from planner_mcp.settings import Settings
from tests.shared.http.webhook_receiver import receiving
from tests.shared.store.chaos_results import keep, size_of
from tests.shared.store.keys_without_ttl import keys_without_ttl
from tests.soak.entry_points import ENTRY_POINTS, ComeBackError, World
from tests.soak.footprint import Footprint, grown, look

pytestmark = pytest.mark.anyio
LIFE_S = 60
"""How long jobs, scenarios and files are kept, so that what expires is level long before the end."""
LOOKS = 60
"""Of a run at most; a look takes its time too."""


@dataclass
class Visits:
    """What became of the visits."""

    done: Counter[str] = field(default_factory=Counter)
    """By entry point."""
    asked_to_come_back: Counter[str] = field(default_factory=Counter)
    slowest_s: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    async def visit(self, entry_point: str, world: World, until: float) -> None:
        """Visit an entry point again and again."""
        while time.monotonic() < until:
            began = time.monotonic()
            try:
                await ENTRY_POINTS[entry_point](world)
                self.done[entry_point] += 1
            except ComeBackError:
                self.asked_to_come_back[entry_point] += 1
                await anyio.sleep(1)
            except Exception as error:  # noqa: BLE001 - whatever it is, the run goes on and tells
                self.wrong.append(f"{datetime.now(UTC):%H:%M:%S} {entry_point}: {error!r}")
            self.slowest_s[entry_point] = max(self.slowest_s.get(entry_point, 0.0), round(time.monotonic() - began, 1))


@dataclass
class Scene:
    """The world, and what stands behind it."""

    world: World
    roots: dict[str, int]
    store: RedisStore

    async def look(self) -> Footprint:
        """Return what everything holds."""
        return await look(self.roots, self.store, "planner")


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    """Run planner, bridge and address server, each with a store of its own."""
    async with receiving() as receiver, bridged_orders.running_order_system() as orders:
        lives = dict.fromkeys(("JOB_TTL_S", "SCENARIO_TTL_S", "IDEMPOTENCY_TTL_S", "FILE_TTL_S", "LINK_TTL_S"), LIFE_S)
        given = {
            **lives,
            "AUTH_API_KEYS": "true",
            "TOOLSETS": "all",
            "WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
            "WEBHOOK_ALLOW_PORTS": receiver.port,
            "WEBHOOK_SCHEDULE_S": "0,0.5,1,2,5",
            "MAX_MATRICES": 50,
        }
        settings = {f"PLANNER_{name}": str(value) for name, value in given.items()}
        folders = {name: folder / name for name in ("planner", "bridge", "addresses")}
        for each in folders.values():
            each.mkdir()
        async with (
            running_server(folders["planner"], workers=1, settings=settings) as planner,
            bridged_orders.running_bridge(folders["bridge"], orders) as bridge,
            running_server(folders["addresses"], workers=0, options=("--address",)) as addresses,
            connect(Settings(data_dir=folders["planner"])) as store,
        ):
            secret, record = new_key("ann", "", (READ, WRITE, SENSITIVE, ADMIN), now=datetime.now(UTC))
            await ApiKeyStore(store.script_client).add(record)
            world = World(planner.url, bridge.url, addresses.url, f"Bearer {secret}", receiver)
            roots = {"planner": planner.pid, "bridge": bridge.pid, "addresses": addresses.pid}
            yield Scene(world, roots, store)


async def soak(folder: Path, seconds: float, visitors: int, judged: Callable[[Scene], Awaitable[None]]) -> Visits:
    """Visit every entry point for some seconds; then have the scene judged at rest."""
    async with scene(folder) as here:
        visits, until = Visits(), time.monotonic() + seconds
        async with anyio.create_task_group() as tasks:
            for entry_point in ENTRY_POINTS:
                for _ in range(visitors):
                    tasks.start_soon(visits.visit, entry_point, here.world, until)
            await judged(here)
        assert await keys_without_ttl(here.store) == []
    return visits


def logged_faults(folder: Path) -> list[str]:
    """Return what the servers logged as an error."""
    logs = [path for path in folder.rglob("*.log") if path.is_file()]
    assert logs
    return [line for log in logs for line in log.read_text().splitlines() if '"level": "error"' in line]


@pytest.mark.slow
async def test_every_entry_point_is_open_at_once(tmp_path: Path) -> None:
    """SPEC X1, O2, O5, O6: sessions, streams, REST, pages, addresses, bridge, webhooks, links and uploads at once."""

    async def unjudged(_here: Scene) -> None:
        pass

    visits = await soak(tmp_path, 8.0, 1, unjudged)
    assert visits.wrong[:20] == []
    assert set(visits.done) == set(ENTRY_POINTS)
    assert logged_faults(tmp_path) == []


@pytest.mark.chaos
@pytest.mark.timeout(7200)
async def test_nothing_grows_while_all_entry_points_are_open(tmp_path: Path) -> None:
    """SPEC J9, X1: half an hour; descriptors, keys and memory of server, worker and store are flat, no visit fails."""
    began, minutes, visitors = time.monotonic(), size_of("SOAK_MINUTES", 30), size_of("SOAK_VISITORS", 2)
    looks: list[Footprint] = []

    async def watch(here: Scene) -> None:
        until = time.monotonic() + minutes * 60
        while time.monotonic() < until:
            await anyio.sleep(minutes * 60 / LOOKS)
            with suppress(RedisError):  # the store of a busy machine: the next look counts
                looks.append(await here.look())

    visits = await soak(tmp_path, minutes * 60, visitors, watch)
    found = grown(looks)
    figures: dict[str, Any] = {
        "minutes": minutes,
        "visitors_at_each_entry_point": visitors,
        "visits": dict(visits.done),
        "asked_to_come_back": dict(visits.asked_to_come_back),
        "slowest_visit_s": visits.slowest_s,
        "wrong": visits.wrong[:50],
        "grown": found,
        "memory_mib": {part: [each.memory_mib.get(part) for each in looks] for part in looks[0].memory_mib},
        "looks": [asdict(looks[at]) for at in (0, len(looks) // 3, 2 * len(looks) // 3, -1)],
    }
    keep("all entry points open", seed=0, began=began, **figures)
    assert visits.wrong[:20] == []
    assert found == []
    assert set(visits.done) == set(ENTRY_POINTS)
    assert logged_faults(tmp_path) == []
