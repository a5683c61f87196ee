"""Requests with an idempotency key that are under way (SPEC O5)."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import Response

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.principals import LOCAL
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security import repeated_request_store
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.repeated_request_store import RepeatedRequestStore
from planner_mcp.server.http.rest import keyed_requests
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


async def test_a_request_is_under_way_as_long_as_its_server_makes_it(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O5: one that takes long stays so; one whose server was killed may be made again within a minute."""
    assert repeated_request_store.UNDER_WAY_S <= 60
    monkeypatch.setattr(keyed_requests, "RENEW_S", 0.01)
    renewed = anyio.Event()

    class Requests(RepeatedRequestStore):
        async def renew(self, request: Any) -> None:
            await store.script_client.command("EXPIRE", repeated_request_store._key(request), 5)
            await super().renew(request)
            assert await store.script_client.command("TTL", repeated_request_store._key(request)) > 5
            renewed.set()

    async def made() -> Response:
        with anyio.fail_after(5):
            await renewed.wait()
        return Response("made")

    requests = Requests(store.script_client, open_cipher(settings), settings)
    assert await _asked_twice(requests, made) == (b"made", "true")


async def test_a_request_is_made_once_though_the_store_fails_as_its_answer_is_kept(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O5, J7: the client was told to try again, and a minute later the work was done a second time."""
    monkeypatch.setattr(keyed_requests, "KEEP_AGAIN_S", 0.001)
    failures = iter([StoreUnavailableError, StoreUnavailableError])

    class Requests(RepeatedRequestStore):
        async def keep(self, request: Any, answer: Any) -> None:
            for failure in failures:
                raise failure
            await super().keep(request, answer)

    requests = Requests(store.script_client, open_cipher(settings), settings)
    assert await _asked_twice(requests, _made) == (b"made", "true")


async def test_who_asks_gets_an_answer_that_could_not_be_kept(
    store: RedisStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J7: what was made is told, however long the store is away."""
    monkeypatch.setattr(keyed_requests, "KEEP_S", 0.0)

    class Requests(RepeatedRequestStore):
        async def keep(self, request: Any, answer: Any) -> None:
            raise StoreUnavailableError

    requests = Requests(store.script_client, open_cipher(settings), settings)
    assert (await keyed_requests.answered_once(requests, LOCAL, _request(), _made)).body == b"made"


async def _made() -> Response:
    return Response("made")


async def _asked_twice(requests: RepeatedRequestStore, make: Callable[[], Awaitable[Response]]) -> tuple[bytes, str]:
    """Return the body of a first answer, and whether that to the same request again was replayed."""
    first, again = [await keyed_requests.answered_once(requests, LOCAL, _request(), make) for _ in range(2)]
    return bytes(first.body), again.headers["idempotency-replayed"]


def _request() -> Request:
    """Return a request with a key."""
    headers = [(b"idempotency-key", b"monday")]
    scope = {"type": "http", "method": "POST", "path": "/v1/x", "query_string": b"", "headers": headers}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    return Request(scope, receive)
