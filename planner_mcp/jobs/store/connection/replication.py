"""Waits until a replica has what was written, where a deployment asks for it (SPEC J7).

A primary acknowledges before its replicas know; when it dies then, acknowledged jobs are lost with it. `WAIT` and
`WAITAOF` close that gap when they are called on the connection that wrote. They undo nothing: a submit that no
replica confirmed may stand. It is answered with a retryable error, and the same call finds its job.
"""

from typing import Any, Final

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.shard_cluster import ShardCluster
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
        self._wait: tuple[str | int, ...] = {
            "none": (),
            "wait": ("WAIT", REPLICAS, wait_ms),
            "waitaof": ("WAITAOF", OWN_DISK, REPLICAS, wait_ms),
        }[settings.replication]

    @property
    def is_wanted(self) -> bool:
        """Whether the settings ask for a replica."""
        return bool(self._wait)

    async def confirm(self, client: Any, shard: int, *command: Any) -> list[Any]:
        """Run a command and return its reply once a replica has everything up to it.

        The small write after the command makes the connection wait even when the command only found what an earlier,
        unconfirmed call had written.

        Raises:
            StoreUnavailableError: No replica confirmed in time.
        """
        ping = ("SET", store_keys.key(shard, "ping"), 1, "EX", store_keys.PING_S)
        replies = await _run_together(client, ping[1], (command, ping, self._wait))
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        reply, _ok, confirmed = replies
        if not _is_enough(confirmed):
            raise StoreUnavailableError("No replica confirmed the write in time; the same call again finds its job.")
        return list(reply)


async def _run_together(client: Any, key: str, commands: tuple[tuple[Any, ...], ...]) -> list[Any]:
    """Run commands on one connection to the server that holds a key; return their answers and errors in order."""
    if isinstance(client, ShardCluster):
        return await client.run_together(key, commands)
    async with client.pipeline(transaction=False) as pipe:
        for command in commands:
            pipe.execute_command(*command)
        return list(await pipe.execute(raise_on_error=False))


def _is_enough(confirmed: int | list[int]) -> bool:
    """Return whether WAIT's count, or each of WAITAOF's counts of own and other disks, is large enough."""
    return min(confirmed) >= 1 if isinstance(confirmed, list) else confirmed >= REPLICAS
