"""A submit that waits for a replica (SPEC J7)."""

import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.cli.commands.doctor import examine
from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings
from tests.integration.jobs.store.sharded_store import submit
from tests.shared.store.redis_cluster import cluster_of_three
from tests.shared.store.valkey_server import Valkey

pytestmark = pytest.mark.anyio


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Valkey, Valkey]]:
    """A primary and its replica, in step."""
    with (
        Valkey(tmp_path / "primary", repl_diskless_sync_delay="0") as primary,
        Valkey(tmp_path / "replica", replicaof=f"127.0.0.1 {primary.port}") as replica,
    ):
        while not _is_up(replica):
            time.sleep(0.02)
        yield primary, replica


def _is_up(replica: Valkey) -> bool:
    return bool(replica.ask("INFO", "replication").get("master_link_status") == "up")


async def insisted(submit: Callable[[], Awaitable[Job]]) -> Job:
    """Submit again and again until it is acknowledged: a replica that flushes or wakes may be late more than once."""
    with anyio.fail_after(30):
        while True:
            with suppress(StoreUnavailableError):
                return await submit()


@pytest.mark.parametrize("mode", ["wait", "waitaof"])
async def test_an_acknowledged_submit_is_on_the_replica(pair: tuple[Valkey, Valkey], harness: Any, mode: str) -> None:
    """SPEC J7: WAIT or WAITAOF after each submit."""
    primary, replica = pair
    async with connect(Settings(redis_url=primary.url, replication=mode)) as store:  # type: ignore[arg-type]
        harness.store = store
        job = await insisted(partial(store.submit, "ann", await harness.request(), ids.random_id("job", 0)))
        assert replica.ask("HGET", f"{{p0}}:job:{job.id}", "state") == "queued"


async def test_a_submit_that_no_replica_has_is_a_retryable_error_and_its_retry_finds_the_job(
    pair: tuple[Valkey, Valkey], harness: Any
) -> None:
    """SPEC J7, T2: never acknowledged while it could be lost, never made twice; the retry waits too."""
    primary, replica = pair
    async with connect(Settings(redis_url=primary.url, replication="wait", replication_wait_s=0.3)) as store:
        harness.store = store
        request = await harness.request()
        replica.signal(signal.SIGSTOP)
        for _attempt in range(2):
            with anyio.fail_after(30), pytest.raises(StoreUnavailableError) as caught:
                await store.submit("ann", request, ids.random_id("job", 0))
            assert caught.value.retryable
            assert "replica" in caught.value.message
        replica.signal(signal.SIGCONT)
        job = await insisted(partial(store.submit, "ann", request, ids.random_id("job", 0)))
        assert (await store.list_jobs("ann", None, offset=0, count=9))[1] == 1
        assert replica.ask("EXISTS", f"{{p0}}:job:{job.id}") == 1


async def test_without_the_setting_a_lone_primary_acknowledges(tmp_path: Path, harness: Any) -> None:
    """SPEC J7: the default asks for no replica; with `wait` a lone primary takes no submit."""
    with Valkey(tmp_path / "alone") as primary:
        for mode, is_taken in (("none", True), ("wait", False)):
            settings = Settings(redis_url=primary.url, replication=mode, replication_wait_s=0.1)  # type: ignore[arg-type]
            async with connect(settings) as store:
                harness.store, harness.scenarios = store, {}
                if is_taken:
                    await harness.submit()
                else:
                    with pytest.raises(StoreUnavailableError):
                        await harness.submit()


async def test_a_store_without_an_append_only_file_is_not_asked_to_confirm_from_it(tmp_path: Path) -> None:
    """SPEC J7: it is refused at the start; every submit would be, though its job stands."""
    with Valkey(tmp_path / "alone", appendonly="no") as primary:
        with pytest.raises(StoreError, match="appendonly"):
            async with connect(Settings(redis_url=primary.url, replication="waitaof")):
                pass
        async with connect(Settings(redis_url=primary.url, replication="wait")):
            pass


async def test_the_bundled_server_has_no_replica_to_wait_for(tmp_path: Path) -> None:
    """SPEC J7: else a start finds no fault and every submit is refused; a command without a store goes on."""
    with pytest.raises(StoreError, match="PLANNER_REPLICATION needs PLANNER_REDIS_URL"):
        async with connect(Settings(replication="wait", data_dir=tmp_path)):
            pass
    reported = CliRunner(env={"PLANNER_REPLICATION": "wait"}).invoke(app, ["manifest"])
    assert reported.exit_code == 0, reported.output


@pytest.mark.slow
async def test_doctor_reports_whether_a_replica_confirms(pair: tuple[Valkey, Valkey], tmp_path: Path) -> None:
    """SPEC J7, O3: without one each submit is refused, while the store takes writes and the server is ready."""
    primary, replica = pair
    settings = Settings(redis_url=primary.url, replication="waitaof", data_dir=tmp_path, port=0)

    async def reported() -> bool:
        return {finding.name: finding.is_well async for finding in examine(settings)}["replica"]

    with anyio.fail_after(30):
        while not await reported():  # a replica that flushes or wakes may be late
            pass
    replica.kill()
    assert not await reported()


@pytest.mark.parametrize("mode", ["wait", pytest.param("waitaof", marks=pytest.mark.slow)])
async def test_on_a_cluster_the_replica_of_the_node_that_wrote_is_waited_for(tmp_path: Path, mode: str) -> None:
    """SPEC J7: each shard at its own node; the replica of another does not count."""
    options = {"cluster_node_timeout": "5000", "appendonly": "yes", "appendfsync": "always"}
    with cluster_of_three(tmp_path, replicas=True, **options) as cluster:
        settings = Settings(redis_url=cluster.url, pools=6, replication=mode, replication_wait_s=2)  # type: ignore[arg-type]
        async with connect(settings) as store:
            for shard in range(6):
                job, replica = await insisted(partial(submit, store, shard)), cluster.replica_of(shard)
                held = replica.ask("CLUSTER", "GETKEYSINSLOT", cluster.slot_of(shard), 100)
                assert f"{{p{shard}}}:job:{job.id}" in held
            cluster.replica_of(0).kill()
            with pytest.raises(StoreUnavailableError):
                await submit(store, 0)
            other = next(shard for shard in range(6) if cluster.holder(shard) is not cluster.holder(0))
            await insisted(partial(submit, store, other))
