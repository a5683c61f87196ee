"""What every test may ask for: a real store on a socket of its own, a feed, a server; and in which order tests run.

After each test of the store every key must have a TTL or an owner."""

import contextlib
import gc
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis
from xdist.scheduler import LoadScopeScheduling

from examples.planner_server import PlannerServer, running_server
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.http.webhook_receiver import Receiver, receiving
from tests.shared.processes.logging_state import logging_restored
from tests.shared.property_tests.example_counts import FEWEST, QUICK, THOROUGH
from tests.shared.store.keys_without_ttl import keys_without_ttl
from tests.shared.store.redis_cluster import IS_CLUSTER, three_nodes
from tests.shared.workers.patient_lease import PATIENT_LEASE

for name in [name for name in os.environ if name.startswith("PLANNER_")]:
    del os.environ[name]  # tests run with the settings they state

hypothesis.settings.register_profile(
    THOROUGH,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(QUICK, hypothesis.settings.get_profile(THOROUGH), max_examples=FEWEST)
hypothesis.settings.load_profile(QUICK)  # the same examples each time, none judged by how long it takes

DATABASES = 14
"""A test's own; the last two of a server's sixteen are shared by modules whose servers stay (integration/protocol)."""
_turn = count()


RARELY = 10_000
"""Objects between two collections of garbage; with the 700 of Python these take a twentieth of the time of tests."""

GROUPS = (
    ("tests/system/auth",),
    ("tests/integration/workers", "tests/integration/travel"),
    ("tests/browser", "tests/system", "tests/walkthrough", "tests/docs"),
    ("tests/integration/server/tools",),
)
"""Folders whose tests share servers or workers, so one process of pytest-xdist runs them all, beginning with what takes
longest; elsewhere each file is run as a whole."""
LAST = "tests/unit"
"""Short files, kept for the end, so that no process waits long for another."""
FIRST_OF_LAST = "tests/unit/workers"
"""The longest of them: proofs and searches."""


def _process_group(nodeid: str) -> str:
    """Return the name of the folders, or the file, that one process runs as a whole."""
    path = nodeid.partition("::")[0]
    return next((folders[0] for folders in GROUPS if path.startswith(tuple(f"{each}/" for each in folders))), path)


class GroupScheduling(LoadScopeScheduling):
    """Hands out groups of tests to the processes of pytest-xdist, in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        return _process_group(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the processes of `-n auto`: two more than cores, as tests wait for other processes and for time."""
    return 2 + (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    """Make the scheduler of `-n`."""
    config.option.loadscopereorder = False
    return GroupScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long; a test that is long is slow."""
    ranks = {folders[0]: rank for rank, folders in enumerate(GROUPS)}

    def rank(item: pytest.Item) -> int:
        group = _process_group(item.nodeid)
        is_short = group.startswith(f"{LAST}/") and not group.startswith(f"{FIRST_OF_LAST}/")
        return ranks.get(group, len(ranks) + is_short)

    items.sort(key=rank)
    for item in items:
        if item.get_closest_marker("long") is not None:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Iterator[Any]:
    """Escape what UTF-8 does not have: pytest-xdist ends at a report, or a captured log line, with half a surrogate."""
    return _encodable((yield))


def _encodable(data: Any) -> Any:
    if isinstance(data, str):
        return data.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(data, dict):
        return {name: _encodable(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return type(data)(_encodable(value) for value in data)
    return data


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Leave what is collected, and nearly all of it stays, out of every collection of garbage: during this one it would
    take a quarter of the time, and later stop servers and clients alike."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(RARELY)
        gc.enable()


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """Leave the next test the logging it would have by itself."""
    with logging_restored():
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def store_url() -> Iterator[str]:
    """URL of a server that lives as long as the test session; with `STORE=cluster` of a cluster of three nodes."""
    if IS_CLUSTER:
        with three_nodes() as url:
            yield url
        return
    with (
        tempfile.TemporaryDirectory(prefix="planner-") as folder,
        EmbeddedServer(Path(folder), appendfsync="everysec") as server,
    ):
        yield server.url


@pytest.fixture
def database_url(store_url: str) -> str:
    """URL of an empty database for one test. It may have been another's before: there are `DATABASES`."""
    url = store_url if IS_CLUSTER else f"{store_url}?db={next(_turn) % DATABASES}"
    with redis.RedisCluster.from_url(url) if IS_CLUSTER else redis.Redis.from_url(url) as line:
        line.flushdb()
    return url


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings of a test: the real defaults."""
    return Settings(redis_url=database_url, data_dir=tmp_path)


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[RedisStore]:
    """An empty store. After the test every key must have a TTL or an owner (SPEC J9)."""
    async with connect(settings) as store:
        yield store
        assert await keys_without_ttl(store) == []


@pytest.fixture
async def feed(store: RedisStore) -> AsyncIterator[EventFeed]:
    """A feed over the store."""
    async with contextlib.aclosing(EventFeed(store)) as feed:
        yield feed


@pytest.fixture
def job_service(store: RedisStore, feed: EventFeed, settings: Settings) -> JobService:
    """The use cases of jobs over the store."""
    return JobService(store, feed, settings=settings)


@pytest.fixture(scope="session")
def server_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the planner of `server` keeps what it was given, and its log, `serve.log`."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
async def receiver() -> AsyncIterator[Receiver]:
    """A web server that remembers what was posted to it."""
    async with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="session")
async def server(server_dir: Path, receiver: Receiver) -> AsyncIterator[PlannerServer]:
    """`planner-mcp serve` with one worker on a free port, for every test that does not break it.

    It may send webhooks to the receiver; elsewhere they go to public addresses alone. A solve has one core: other tests
    run beside it.
    """
    settings = {
        "PLANNER_WEBHOOK_ALLOW_NETWORKS": '["127.0.0.0/8"]',
        "PLANNER_WEBHOOK_ALLOW_PORTS": f"[{receiver.port}]",
        "PLANNER_SOLVE_CORES": "1",
    }
    async with running_server(server_dir, workers=1, settings=settings | PATIENT_LEASE) as server:
        yield server
