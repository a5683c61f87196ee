"""The settings a command begins with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner_mcp.cli.command_runner import MOST_OWN_CORES, command_settings, run_service
from planner_mcp.cli.processes import server_processes
from planner_mcp.process_limits import usable_cores
from planner_mcp.settings import Settings


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PLANNER_")]:
        monkeypatch.delenv(name)


def test_a_solve_gets_the_cores_that_workers_leave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: one worker of a server of its own uses the machine; many workers use a core each."""
    cores = usable_cores()
    assert command_settings(workers=1).solve_cores == min(MOST_OWN_CORES, cores)
    assert command_settings(workers=cores + 1).solve_cores == 1
    monkeypatch.setenv("PLANNER_SOLVE_CORES", "3")
    assert command_settings(workers=1).solve_cores == 3


def test_processes_that_share_a_store_agree_on_one_core() -> None:
    """SPEC O8: what a server charges and what a worker uses must be equal, and neither knows the other's machine."""
    assert command_settings(workers=1, redis_url="redis://store:6379/0").solve_cores == 1
    assert command_settings(workers=0).solve_cores == 1


def test_a_process_that_serves_warns_of_a_variable_that_is_nearly_a_setting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC O3: whoever writes PLANNER_APPROVALS gets plans that nobody approves; its value is not logged."""
    monkeypatch.setenv("PLANNER_APPROVALS", "four_eyes")
    monkeypatch.setenv("PLANNER_API_KEYS", "true")
    monkeypatch.setenv("PLANNER_MOOD", "1")
    run_service(Settings(), _nothing())
    assert caplog.messages == [
        "PLANNER_API_KEYS is no setting; PLANNER_AUTH_API_KEYS is",
        "PLANNER_APPROVALS is no setting; PLANNER_APPROVAL is",
    ]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SECRET_KEY", "short", "PLANNER_SECRET_KEY has fewer than 16 characters and can be guessed"),
        ("POOLS", "2", "PLANNER_POOLS is for Redis Cluster: in the bundled store pools only divide the limits"),
    ],
)
def test_a_service_warns_of_settings_that_are_accepted_and_do_harm(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, value: str, said: str
) -> None:
    """SPEC O3: what is stored under a key or in a pool stays readable; its value is not logged."""
    monkeypatch.setenv(f"PLANNER_{name}", value)
    run_service(Settings(), _nothing())
    assert caplog.messages == [said]


def test_a_long_key_and_the_pools_of_a_cluster_are_no_reason_to_warn(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC O3."""
    run_service(Settings(secret_key="k" * 16, pools=2, redis_url="redis://a:1,b:1"), _nothing())
    assert caplog.messages == []


async def _nothing() -> None:
    pass


async def _stop(*_: object) -> None:
    raise LookupError


@pytest.mark.anyio
async def test_a_worker_says_which_store_it_takes_jobs_from(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """SPEC O3: without --redis-url it waits at a store of its own, without a word; passwords are not logged."""
    caplog.set_level("INFO")
    monkeypatch.setattr(server_processes, "run_supervisor", _stop)
    for given in ({"redis_url": "redis://ann:pw@store:6379/0?db=1"}, {}):
        with pytest.raises(LookupError):
            await server_processes.run_workers(Settings(data_dir=tmp_path, **given), 2)
    starts = [(record.message, vars(record)["store"]) for record in caplog.records if hasattr(record, "store")]
    assert starts == [("taking jobs", "redis://store:6379/0"), ("taking jobs", f"bundled server in {tmp_path}")]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system binds no process to cores")
def test_usable_cores_are_those_a_process_may_run_on() -> None:
    """Our choice: a container or `taskset` may leave one of many."""
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from planner_mcp.process_limits import usable_cores; print(usable_cores())"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
