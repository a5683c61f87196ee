"""The job store on Redis or Valkey: the caller's side, the worker's side and the events."""

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Any, Self

from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.events.event_log import RedisEventLog
from planner_mcp.jobs.store.queue.import_store import RedisImportStore
from planner_mcp.jobs.store.queue.job_store import RedisJobStore
from planner_mcp.jobs.store.queue.matrix_store import RedisMatrixStore
from planner_mcp.jobs.store.queue.review_store import RedisReviewStore
from planner_mcp.jobs.store.queue.worker_store import RedisWorkerStore
from planner_mcp.settings import Settings


class RedisStore(RedisJobStore, RedisWorkerStore, RedisEventLog, RedisMatrixStore, RedisImportStore, RedisReviewStore):
    """Everything the engine keeps: `JobStore`, `WorkerStore`, `MatrixStore`, `ImportStore`, `ReviewStore`, `EventLog`.

    Args:
        script_client: Runs steps and commands; closed with the store.
        settings: As the steps were loaded with.
        clock: Monotonic seconds, for waits.
    """

    def __init__(
        self, script_client: ScriptClient, settings: Settings, *, clock: Callable[[], float] = monotonic
    ) -> None:
        RedisJobStore.__init__(self, script_client, settings)
        RedisWorkerStore.__init__(self, script_client, settings, clock=clock)
        RedisMatrixStore.__init__(self, script_client, settings)
        RedisImportStore.__init__(self, script_client, settings)
        RedisReviewStore.__init__(self, script_client)

    @property
    def redis(self) -> Any:
        """The client for commands, for those who keep something else in the same place (sessions, outbox)."""
        return self._script_client.commands

    @property
    def script_client(self) -> ScriptClient:
        """Runs steps and commands, for the outbox and the secrets."""
        return self._script_client

    async def aclose(self) -> None:
        """Close all connections."""
        await self._script_client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
