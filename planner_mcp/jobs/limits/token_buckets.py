"""Token buckets in memory, by name: how often an address may send wrong credentials, how many refusals are recorded,
and what reading inputs may cost.

Owns the counting on this replica; limits of a principal over all replicas are counted in the store. The least
recently used names are forgotten first, so many addresses cannot fill the memory.
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_NAMES: Final = 10_000
"""Names remembered."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    refused: int = 0


class TokenBuckets:
    """One bucket a name.

    Args:
        rate_per_s: Tokens that flow into each.
        burst: Tokens that fit.
        clock: Monotonic seconds.
    """

    def __init__(self, *, rate_per_s: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate_per_s
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait_s(self, name: str) -> float:
        """Return how long until there is a token, 0 when there is one."""
        return max(0.0, (1 - self._filled(name).tokens) / self._rate)

    def take(self, name: str) -> float:
        """Take a token and return 0; without one, count the refusal and return how long until there is one."""
        bucket = self._filled(name)
        if bucket.tokens < 1:
            bucket.refused += 1
            return (1 - bucket.tokens) / self._rate
        bucket.tokens -= 1
        return 0.0

    def spend(self, name: str, tokens: float) -> None:
        """Take tokens that were used already; the bucket may then have a debt."""
        self._filled(name).tokens -= tokens

    def debt_s(self, name: str) -> float:
        """Return how long until the debt is paid, 0 without one."""
        return max(0.0, -self._filled(name).tokens / self._rate)

    def refused(self, name: str) -> int:
        """Return how often `take` found nothing since this was asked last."""
        bucket = self._filled(name)
        counted, bucket.refused = bucket.refused, 0
        return counted

    def _filled(self, name: str) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.setdefault(name, _Bucket(self._burst, now))
        self._buckets.move_to_end(name)
        if len(self._buckets) > MAX_NAMES:
            self._buckets.popitem(last=False)
        bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.at) * self._rate)
        bucket.at = now
        return bucket


def client_address(scope: Mapping[str, Any]) -> str:
    """Return the name strangers are counted under: their address, of IPv6 the /64 one customer has."""
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    return str(address) if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))
