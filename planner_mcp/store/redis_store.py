"""The job store on Redis or Valkey: the caller's side, the worker's side and the events over one line."""

from types import TracebackType
from typing import Any, Self

from planner_mcp.settings import Settings
from planner_mcp.store.caller_store import CallerStore
from planner_mcp.store.event_log import FeedReader
from planner_mcp.store.link import Link
from planner_mcp.store.matrices import MatrixShelf
from planner_mcp.store.worker_store import WorkerSide


class RedisStore(CallerStore, WorkerSide, FeedReader, MatrixShelf):
    """Everything the engine keeps. Implements `JobStore`, `WorkerStore`, `MatrixStore` and `EventLog`.

    Args:
        link: The line to Redis, closed with the store.
        settings: As the steps were loaded with.
    """

    def __init__(self, link: Link, settings: Settings) -> None:
        CallerStore.__init__(self, link, settings)
        WorkerSide.__init__(self, link, settings)
        MatrixShelf.__init__(self, link, settings)

    @property
    def redis(self) -> Any:
        """The client for commands, for those who keep something else in the same place (sessions, outbox)."""
        return self._link.commands

    @property
    def link(self) -> Link:
        """The line itself, for the outbox and the secrets."""
        return self._link

    async def aclose(self) -> None:
        """Close all connections."""
        await self._link.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
