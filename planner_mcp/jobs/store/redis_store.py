"""The job store on Redis or Valkey: the caller's side, the worker's side and the events."""

from typing import Any

from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.events.event_log import RedisEventLog
from planner_mcp.jobs.store.queue.import_store import RedisImportStore
from planner_mcp.jobs.store.queue.job_store import RedisJobStore
from planner_mcp.jobs.store.queue.matrix_store import RedisMatrixStore
from planner_mcp.jobs.store.queue.review_store import RedisReviewStore
from planner_mcp.jobs.store.queue.worker_store import RedisWorkerStore


class RedisStore(RedisJobStore, RedisWorkerStore, RedisEventLog, RedisMatrixStore, RedisImportStore, RedisReviewStore):
    """Everything the engine keeps: `JobStore`, `WorkerStore`, `MatrixStore`, `ImportStore`, `ReviewStore`, `EventLog`.

    It is made as `RedisWorkerStore` is.
    """

    @property
    def redis(self) -> Any:
        """The client for commands, for those who keep something else in the same place (sessions, outbox)."""
        return self._script_client.commands

    @property
    def script_client(self) -> ScriptClient:
        """Runs steps and commands, for the outbox and the secrets."""
        return self._script_client
