"""The loop of a worker, on a store that is played."""

from typing import Any

import anyio
import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.settings import Settings
from workers import worker
from workers.worker import Worker

pytestmark = pytest.mark.anyio


class StoreOfOneFailure:
    """Fails the first claim after a while, and drains its worker at the next."""

    def __init__(self, took_s: float) -> None:
        self.now = 0.0
        self.worker: Worker | None = None
        self._took_s = took_s

    async def claim(self, _worker_id: str, _wait_s: float) -> None:
        if self.now == 0.0:
            self.now = self._took_s
            raise StoreUnavailableError
        assert self.worker is not None
        self.worker.drain()

    async def wait_control(self, _wait_s: float) -> set[str]:
        await anyio.sleep_forever()
        return set()

    async def register(self, *_args: Any) -> None:
        """Take a heartbeat."""

    async def reap(self) -> list[str]:
        return []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("took_s", "line"), [(60.0, "this worker was stopped for 60 s"), (3.0, "store is unavailable")]
)
async def test_a_worker_that_was_stopped_does_not_blame_the_store(
    caplog: pytest.LogCaptureFixture, took_s: float, line: str
) -> None:
    """SPEC J6: after SIGCONT all its deadlines have passed, whatever the store did; it claims again at once."""
    store = StoreOfOneFailure(took_s)
    store.worker = Worker(store, None, Settings(), worker_id="w-1", clock=lambda: store.now)  # type: ignore[arg-type]
    with caplog.at_level("INFO"), anyio.fail_after(30):
        await store.worker.run()
    lines = [record.message for record in caplog.records if record.name == "planner.worker"]
    assert len(lines) == 1 and lines[0].startswith(line)


async def test_an_outage_that_a_worker_meets_at_its_claims_is_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O3: and once more when the store goes away again."""
    monkeypatch.setattr(worker, "RETRY_S", 0.0)
    store = StoreOfOneFailure(0.0)
    waiting = Worker(store, None, Settings(), worker_id="w-1", clock=lambda: 0.0)  # type: ignore[arg-type]
    outages = [True, True, False, True, True]

    async def claim(_worker_id: str, _wait_s: float) -> None:
        if not outages:
            waiting.drain()
        elif outages.pop(0):
            raise StoreUnavailableError

    monkeypatch.setattr(store, "claim", claim)
    with anyio.fail_after(30):
        await waiting.run()
    assert [record.message.partition(":")[0] for record in caplog.records] == ["store is unavailable"] * 2
