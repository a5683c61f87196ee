"""Malformed requests by the thousand: each is answered, properly and at once, and none leaves anything behind."""

import asyncio
import gc
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from starlette.applications import Starlette

from planner_mcp.http_app import open_app
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.fuzz.asgi_sender import Answer, ask, faults
from tests.fuzz.request_mutations import VERSIONS, Request, mutant

pytestmark = pytest.mark.anyio
SEED = int(os.environ.get("FUZZ_SEED", "20261121"))
CASES = int(os.environ.get("FUZZ_CASES", "100000"))
LANES = 64
SESSIONS = max(10_000, CASES)
"""More than so many mutants open."""
ASKED_AGAIN = 4
PAGE = os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
async def app(settings: Settings, store: RedisStore) -> AsyncIterator[Starlette]:
    """One replica of the whole product, asked in this process.

    Well-formed mutants open sessions, and none ends by itself within the run.
    """
    drain = anyio.Event()
    async with open_app(settings.model_copy(update={"max_sessions": SESSIONS}), drain=drain) as app:
        yield app
        drain.set()


async def answer_of(app: Starlette, request: Request, later: frozenset[int] = frozenset({503})) -> Answer:
    """Return the answer, asking again when those say that ask for it: the store of a busy machine was too slow."""
    for _ in range(ASKED_AGAIN):
        if (answer := await ask(app, request)).status not in later:
            break
        await anyio.sleep(float(answer.headers.get("retry-after", 0)))
    return answer


async def open_sessions(app: Starlette) -> dict[str, str]:
    """Return the id of a fresh session of each revision with a handshake, whatever the other lanes have open."""
    found = {}
    for version in VERSIONS:
        body = (
            b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"%s","capabilities":{},'
            b'"clientInfo":{"name":"f","version":"1"}}}' % version.encode()
        )
        headers = (("host", "127.0.0.1"), ("accept", "*/*"), ("content-type", "application/json"))
        answer = await answer_of(app, Request("POST", "/mcp", headers, body), frozenset({429, 503}))
        assert "mcp-session-id" in answer.headers, f"{version}: {answer.status} {answer.body[:500]!r}"
        found[version] = answer.headers["mcp-session-id"]
    return found


class Campaign:
    """Asks a range of mutants in some lanes and keeps what was wrong."""

    def __init__(self, app: Starlette, sessions: dict[str, str]) -> None:
        self.statuses: Counter[int] = Counter()
        self.bad: list[str] = []
        self._app = app
        self._sessions = sessions

    async def run(self, first: int, last: int) -> None:
        numbers = iter(range(first, last))
        async with anyio.create_task_group() as lanes:
            for _ in range(LANES):
                lanes.start_soon(self._lane, numbers)

    async def _lane(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            request = mutant(SEED, number, self._sessions)
            try:
                answer = await answer_of(self._app, request)
            except TimeoutError:
                self.bad.append(f"mutant({SEED}, {number}): hangs: {request.method} {request.path}")
                continue
            self.statuses[answer.status] += 1
            if answer.status == 404 and b"session" in answer.body.lower():
                self._sessions.update(await open_sessions(self._app))  # a DELETE was well-formed
            if found := faults(answer):
                self.bad.append(f"mutant({SEED}, {number}): {found}: {request} → {answer.body[:300]!r}")


def footprint(app: Starlette) -> tuple[int, int, int]:
    """Return resident bytes, open files and tasks of this process.

    Connections to the store are kept and have a bound of their own; how many depends on what came at the same moment.
    """
    gc.collect()
    pool = app.state.services.store.redis.connection_pool
    connections = len(pool._available_connections) + len(pool._in_use_connections)
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE
    return resident, len(list(Path("/proc/self/fd").iterdir())) - connections, len(asyncio.all_tasks())


async def fuzz(app: Starlette, cases: int, growth_bytes: int) -> Campaign:
    """Ask as many mutants, and compare the footprint after a fifth of them with that after all."""
    campaign = Campaign(app, await open_sessions(app))
    await campaign.run(0, cases // 5)
    before = footprint(app)
    await campaign.run(cases // 5, cases)
    with anyio.move_on_after(30):
        while len(asyncio.all_tasks()) > before[2] + 5:  # noqa: ASYNC110 the last streams are still being left
            await anyio.sleep(0.05)
    after = footprint(app)
    grown = (after[0] - before[0]) / 2**20
    print(f"\nfuzz: {cases} mutants of seed {SEED}: {dict(campaign.statuses.most_common())}, {grown:+.1f} MiB")  # noqa: T201
    assert campaign.bad == []
    assert campaign.statuses[503] <= cases // 1000  # only where the store was too slow each time
    assert after[0] - before[0] < growth_bytes
    assert after[1] <= before[1] + 4
    assert after[2] <= before[2] + 8
    return campaign


async def test_five_hundred_malformed_requests_are_each_answered_properly(app: Starlette) -> None:
    """SPEC X1, X3, T7, T8: no 5xx, no hang, no leak; a proper JSON-RPC or HTTP answer to each."""
    campaign = await fuzz(app, 500, 64 * 2**20)
    assert sum(campaign.statuses.values()) == 500
    assert {200, 202, 400, 404, 405, 406, 415} <= set(campaign.statuses)


@pytest.mark.long
@pytest.mark.timeout(7200)
async def test_a_hundred_thousand_malformed_requests_leave_nothing_behind(app: Starlette) -> None:
    """SPEC X1, X3, T7, T8: the same at length, and memory, files and tasks do not grow."""
    campaign = await fuzz(app, CASES, 24 * 2**20)
    assert sum(campaign.statuses.values()) == CASES
