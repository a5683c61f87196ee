"""What parts of the store work with."""

from planner_mcp.jobs.ids import IdKind
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.settings import Settings


class StorePart:
    """One part; `RedisStore` has those of the job engine.

    Args:
        script_client: Runs steps and commands.
        settings: As the steps were loaded with.
    """

    def __init__(self, script_client: ScriptClient, settings: Settings) -> None:
        self._script_client = script_client
        self._settings = settings

    async def _touch(self, kind: IdKind, name: str, principal: str) -> str:
        """Keep a scenario or a matrix for another scenario TTL; return the newest job of a scenario, empty for none."""
        args = {"kind": kind, "id": name, "principal": principal, "ttl_s": self._settings.scenario_ttl_s}
        _ok, job_id = await self._script_client.step("touch", self._script_client.shard_of(kind, name), args)
        return str(job_id)
