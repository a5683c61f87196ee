"""Which pools answer, and what that means for those that do.

The pools of a cluster lie on several nodes, of which one may be away while the others go on. Owns the two rules for
that. A question to all pools goes to them at once, and the answers that come are enough. A round from pool to pool
leaves out one that failed until all are asked again. Only when no pool answers does the store count as away.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from planner_mcp.errors import StoreUnavailableError

T = TypeVar("T")


async def ask_all(pools: Sequence[int], ask: Callable[[int], Awaitable[T]]) -> dict[int, T]:
    """Return the answers of the pools that are there, by pool.

    Raises:
        StoreUnavailableError: None is there.
    """
    answers = await asyncio.gather(*(ask(pool) for pool in pools), return_exceptions=True)
    there: dict[int, T] = {}
    for pool, answer in zip(pools, answers, strict=True):
        if not isinstance(answer, BaseException):
            there[pool] = answer
        elif not isinstance(answer, StoreUnavailableError):
            raise answer
    if pools and not there:
        raise StoreUnavailableError from next(answer for answer in answers if isinstance(answer, BaseException))
    return there


class Presence:
    """The pools as a worker found them.

    Args:
        pools: How many there are.
        lease_s: How long a worker may be silent.
        clock: Monotonic seconds.
    """

    def __init__(self, pools: int, lease_s: float, *, clock: Callable[[], float] = monotonic) -> None:
        self._all = range(pools)
        self._lease_s = lease_s
        self._clock = clock
        self._away: set[int] = set()
        self._spared_until: dict[int, float] = {}

    def there(self) -> Sequence[int]:
        """Return the pools worth asking: all of them when none answered."""
        return [pool for pool in self._all if pool not in self._away] or self._all

    def unspared(self) -> Sequence[int]:
        """Return the pools whose leases mean something.

        A lease says nothing about a worker that could not renew it: once a pool went away, and once it is back, each
        lease in it counts anew.
        """
        now = self._clock()
        return [pool for pool in self.there() if self._spared_until.get(pool, now) <= now]

    @contextmanager
    def asking(self, pool: int) -> Iterator[None]:
        """Note whether a pool answers inside the block; the error of one that does not passes when no other is left."""
        try:
            yield
        except StoreUnavailableError:
            self._note(pool, is_there=False)
            if len(self._away) == len(self._all):
                raise
        else:
            self._note(pool, is_there=True)

    async def ask_all(self, ask: Callable[[int], Awaitable[T]]) -> dict[int, T]:
        """Ask every pool, also those that were away, and note who answers; see the function of that name."""

        async def noted(pool: int) -> T:
            with self.asking(pool):
                return await ask(pool)
            raise StoreUnavailableError

        return await ask_all(self._all, noted)

    def _note(self, pool: int, *, is_there: bool) -> None:
        if is_there is (pool in self._away):
            self._away ^= {pool}
            self._spared_until[pool] = self._clock() + self._lease_s
