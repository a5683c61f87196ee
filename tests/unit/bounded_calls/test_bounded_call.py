"""Calls in a process of their own (ADR 0036)."""

import asyncio
import gc
import logging
import sys
import weakref
from contextlib import suppress

import anyio
import pytest

from planner_mcp.bounded_calls.bounded_call import _call_server as call_server
from planner_mcp.bounded_calls.bounded_call import bounded_call
from planner_mcp.bounded_calls.call_frames import CallLimits
from planner_mcp.errors import InvalidParameterError, NotFoundError, PlannerError, TooLargeError
from tests.shared.processes.process_tree import until_gone
from tests.unit.bounded_calls import bounded_functions

pytestmark = pytest.mark.anyio
SMALL = CallLimits(cpu_s=1, wall_s=20, memory_mb=64)


async def test_a_call_returns_what_its_function_returns() -> None:
    """SPEC X3: and says what it cost."""
    cost_s: list[float] = []
    assert await bounded_call(bounded_functions.doubled, 21, spend=cost_s.append) == 42
    assert len(cost_s) == 1
    assert 0 <= cost_s[0] < 1


async def test_an_error_of_ours_comes_whole() -> None:
    """SPEC T7: with its faults, as if the function had been called here."""
    with pytest.raises(InvalidParameterError) as caught:
        await bounded_call(bounded_functions.refused)
    assert [fault.path for fault in caught.value.errors] == ["/a"]


async def test_an_error_does_not_keep_what_was_sent() -> None:
    """ADR 0036: two hundred refused bodies stayed in memory until the next collection of garbage."""

    async def ask(sent: bounded_functions.Sent) -> None:
        await bounded_call(bounded_functions.refused, sent)
        sent.close()

    gc.disable()
    try:
        sent = bounded_functions.Sent()
        is_alive = weakref.ref(sent)
        with suppress(InvalidParameterError):
            await ask(sent)
        del sent
        assert is_alive() is None
    finally:
        gc.enable()


async def test_a_bug_stays_in_the_child(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC T8: the caller learns no detail."""
    caplog.set_level(logging.DEBUG)
    with pytest.raises(PlannerError) as caught:
        await bounded_call(bounded_functions.failing)
    assert (type(caught.value), "hunter2" in str(caught.value)) == (PlannerError, False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
@pytest.mark.parametrize(
    ("function", "args"),
    [(bounded_functions.greedy, (256,)), (bounded_functions.endless, ()), (bounded_functions.killed, ())],
    ids=["memory", "time", "crash"],
)
async def test_a_call_beyond_its_limits_is_refused(function: object, args: tuple[int, ...]) -> None:
    """SPEC X3: native code that dies takes nothing with it; the next call is served."""
    with pytest.raises(TooLargeError, match="more memory or time than allowed"):
        await bounded_call(function, *args, limits=SMALL)  # type: ignore[arg-type]
    assert await bounded_call(bounded_functions.doubled, 1, limits=SMALL) == 2


async def test_a_function_asks_its_caller() -> None:
    """ADR 0036: what it needs of the store it gets from the process that has a connection."""

    async def answer(name: str) -> str:
        if name == "c":
            raise NotFoundError
        return name.upper()

    assert await bounded_call(bounded_functions.asking, ["a", "b"], answer=answer) == ["A", "B"]
    with pytest.raises(NotFoundError):
        await bounded_call(bounded_functions.asking, ["a", "c"], answer=answer)


async def test_a_call_that_is_cancelled_before_its_fork_disturbs_no_other() -> None:
    """ADR 0036: the call server was stopped for it, and with it the children of others; a socket stayed open."""
    asked, may_answer = anyio.Event(), anyio.Event()

    async def answer(name: str) -> str:
        asked.set()
        await may_answer.wait()
        return name

    other = asyncio.create_task(bounded_call(bounded_functions.asking, ["a"], answer=answer))
    await asked.wait()
    with call_server._lock:  # the fork waits in its thread
        call = asyncio.create_task(bounded_call(bounded_functions.doubled, 1))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert await bounded_call(bounded_functions.doubled, 2) == 4
    may_answer.set()
    assert await other == ["a"]
    gc.collect()  # an open socket would be reported


async def test_a_call_that_is_cancelled_leaves_no_child_and_is_paid() -> None:
    """SPEC A4: clients that left in mid-call left their children to 20 s of CPU each, as many as they liked, unpaid."""
    pids: list[int] = []
    cost_s: list[float] = []
    started = anyio.Event()

    async def answer(pid: int) -> None:
        pids.append(pid)
        started.set()

    call = asyncio.create_task(
        bounded_call(bounded_functions.reporting_pid, limits=CallLimits(600, 600), answer=answer, spend=cost_s.append)
    )
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until_gone(pids)
    assert len(cost_s) == 1 and cost_s[0] > 0
