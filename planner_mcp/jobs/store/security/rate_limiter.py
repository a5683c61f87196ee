"""How often a principal may call: a token bucket in Redis, so that all replicas count together."""

from planner_mcp.errors import RateLimitedError, StoreUnavailableError
from planner_mcp.jobs.principal_limits import value_text
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.settings import Settings


class RateLimiter:
    """Counts the requests of principals.

    Args:
        script_client: Runs steps and commands.
        settings: Rate and burst.
    """

    def __init__(self, script_client: ScriptClient, settings: Settings) -> None:
        self._script_client = script_client
        self._rate = settings.rate_per_s
        self._burst = settings.rate_burst

    async def take(self, principal: str) -> None:
        """Count one request. A store that takes no writes counts nothing, and reads go on.

        Raises:
            RateLimitedError: The bucket is empty; with the time until it is not.
        """
        args = {"principal": principal, "rate": self._rate, "burst": self._burst}
        try:
            _ok, wait_ms = await self._script_client.step("take_token", store_keys.UNSHARDED, args)
        except StoreUnavailableError:
            return
        if int(wait_ms) > 0:
            rate, burst = value_text("rate_per_s", self._rate), value_text("rate_burst", self._burst)
            raise RateLimitedError.reached(
                RateLimitedError.summary, f"{rate}, {burst}", "Wait retry_after_s.", retry_after_s=int(wait_ms) / 1000
            )
