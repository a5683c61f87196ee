"""How often a principal may call: a token bucket in Redis, so that all replicas count together."""

from planner_mcp.errors import RateLimitedError, StoreUnavailableError
from planner_mcp.jobs.limits.principal_limits import value_text
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.store_part import StorePart


class RateLimiter(StorePart):
    """Counts the requests of principals."""

    async def take(self, principal: str) -> None:
        """Count one request. A store that takes no writes counts nothing, and reads go on.

        Raises:
            RateLimitedError: The bucket is empty; with the time until it is not.
        """
        rate_per_s, burst = self._settings.rate_per_s, self._settings.rate_burst
        args = {"principal": principal, "rate": rate_per_s, "burst": burst}
        try:
            _ok, wait_ms = await self._script_client.step("take_token", store_keys.UNSHARDED, args)
        except StoreUnavailableError:
            return
        if int(wait_ms) > 0:
            allowed = f"{value_text('rate_per_s', rate_per_s)}, {value_text('rate_burst', burst)}"
            raise RateLimitedError.reached(
                RateLimitedError.summary, allowed, "Wait retry_after_s.", retry_after_s=int(wait_ms) / 1000
            )
