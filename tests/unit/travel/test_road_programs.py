"""Programs of road engines as children of the planner."""

import asyncio
import os
from pathlib import Path

import anyio
import pytest

from planner_mcp.task_cancellation import cancel_and_wait
from planner_mcp.travel.osrm_programs import OsrmPrograms
from planner_mcp.travel.road_programs import stop_process
from tests.shared.processes.process_tree import LONGEST_S, children

pytestmark = pytest.mark.anyio


@pytest.fixture
def programs(tmp_path: Path) -> OsrmPrograms:
    """A program that says when it runs, and goes on."""
    (tmp_path / "bin").mkdir()
    (program := tmp_path / "bin" / "osrm-routed").write_text(
        f"#!/bin/sh\ntouch {tmp_path}/runs\nexec sleep 600\n", encoding="utf-8"
    )
    program.chmod(0o700)
    return OsrmPrograms(tmp_path)


async def test_a_program_is_gone_when_the_task_that_waits_for_it_is_cancelled(programs: OsrmPrograms) -> None:
    """SPEC O9: one that outlives its loop leaves its pipes open."""
    before = children(os.getpid())
    asking = asyncio.create_task(programs.version())
    with anyio.fail_after(LONGEST_S):
        while not (programs.folder / "runs").exists():  # noqa: ASYNC110 — another process has no event
            await anyio.sleep(0.01)
        await cancel_and_wait(asking)
    assert asking.cancelled()
    assert children(os.getpid()) == before


async def test_a_program_that_is_stopped_is_waited_for_however_often_the_task_is_cancelled(
    programs: OsrmPrograms,
) -> None:
    """SPEC O9: `cancel_and_wait` cancels again while a program of a busy machine takes its time to end."""
    process = await programs.start("osrm-routed", [])
    stopping = asyncio.create_task(stop_process(process))
    for _ in range(3):
        await asyncio.sleep(0)
        stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert process.returncode is not None


async def test_a_program_that_is_stopped_is_waited_for_though_its_loop_ends(programs: OsrmPrograms) -> None:
    """SPEC O9: a loop that ends cancels every task there is; a reader of streets then left its pipe open."""
    others = asyncio.all_tasks()
    process = await programs.start("osrm-routed", [])
    stopping = asyncio.create_task(stop_process(process))
    for _ in range(3):
        await asyncio.sleep(0)
        for task in asyncio.all_tasks() - others:
            task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert process.returncode is not None
    assert process.stdout is not None
    assert process.stdout.at_eof()


async def stopped(programs: OsrmPrograms, script: str) -> int | None:
    """Stop a program that runs a script, once it is through with it; return how it ended."""
    text = f"#!/bin/sh\n{script}\ntouch {programs.folder}/runs\nexec sleep 600\n"
    (programs.folder / "bin" / "osrm-routed").write_text(text, encoding="utf-8")
    process = await programs.start("osrm-routed", [])
    with anyio.fail_after(LONGEST_S):
        while not (programs.folder / "runs").exists():  # noqa: ASYNC110 — another process has no event
            await anyio.sleep(0.01)
        await stop_process(process)
    return process.returncode


async def test_a_program_that_has_written_much_is_stopped_all_the_same(programs: OsrmPrograms) -> None:
    """SPEC O9: what nobody reads any longer holds up the end of its pipe."""
    assert await stopped(programs, "yes | head -c 200000") is not None


async def test_a_program_is_stopped_together_with_what_it_started(programs: OsrmPrograms) -> None:
    """SPEC O9: a process that it left behind would keep the pipe open, and whoever stops it would wait for that."""
    assert await stopped(programs, "sleep 600 &") is not None
