"""Waiting until a replica has what was written, where a deployment asks for it (SPEC J7).

A primary acknowledges before its replicas know; one that dies then takes acknowledged jobs with it. `WAIT` and
`WAITAOF` close that gap for whoever calls them on the connection that wrote. They undo nothing: a submit no replica
has confirmed may stand, so it is answered as a retryable error and the same call finds its job.
"""

from typing import Any, Final

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.store import store_keys
from planner_mcp.settings import Settings

REPLICAS: Final = 1
OWN_DISK: Final = 1


class Replication:
    """How a step is confirmed.

    Args:
        settings: `replication` and `replication_wait_s`.
    """

    def __init__(self, settings: Settings) -> None:
        wait_ms = int(settings.replication_wait_s * 1000)
        self._words: tuple[str | int, ...] = {
            "none": (),
            "wait": ("WAIT", REPLICAS, wait_ms),
            "waitaof": ("WAITAOF", OWN_DISK, REPLICAS, wait_ms),
        }[settings.replication]

    @property
    def is_wanted(self) -> bool:
        """Whether anything is to be waited for."""
        return bool(self._words)

    async def confirm(self, client: Any, shard: int, *command: Any) -> list[Any]:
        """Run a command and return its reply once a replica has everything up to it.

        The small write behind it makes the connection wait even where the command only found what an earlier,
        unconfirmed call had written.

        Raises:
            StoreUnavailableError: No replica confirmed in time.
        """
        async with client.pipeline(transaction=False) as pipe:
            pipe.execute_command(*command)
            pipe.execute_command("SET", store_keys.key(shard, "ping"), 1, "EX", store_keys.PING_S)
            pipe.execute_command(*self._words)
            replies = await pipe.execute(raise_on_error=False)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        reply, _ok, reached = replies
        if not _is_enough(reached):
            raise StoreUnavailableError("No replica confirmed the write in time; the same call again finds its job.")
        return list(reply)


def _is_enough(reached: int | list[int]) -> bool:
    """Return whether WAIT's count, or WAITAOF's counts of own and other disks, are all there."""
    return min(reached) >= 1 if isinstance(reached, list) else reached >= REPLICAS
