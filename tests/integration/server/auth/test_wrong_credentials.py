"""Wrong credentials, again and again: the address is held back, nobody who shares it is locked out (SPEC A3)."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.http_app import open_app
from planner_mcp.jobs.principals import READ
from planner_mcp.server.auth import token_introspection
from planner_mcp.settings import Settings
from tests.shared.http.app_clients import app_client

pytestmark = pytest.mark.anyio
WRONG = {"authorization": "Bearer pmk_000000000000_" + "a" * 43}
RESOURCE, ISSUER = "https://planner.example/mcp", "https://as.example"
At = Callable[[str], httpx.AsyncClient]


@asynccontextmanager
async def entry_points(settings: Settings, **further: Any) -> AsyncIterator[At]:
    """Serve the app; yields what makes a client at an address."""
    given = settings.model_dump(exclude_unset=True) | {"auth_api_keys": True} | further
    async with open_app(Settings(**given), drain=anyio.Event()) as app:
        yield partial(app_client, app)


async def statuses(http: httpx.AsyncClient, times: int, headers: dict[str, str]) -> list[int]:
    """Return what some equal requests are answered with."""
    return [(await http.get("/jobs/x", headers=headers)).status_code for _ in range(times)]


async def test_an_address_that_guesses_credentials_must_wait(
    settings: Settings, key: Callable[..., Awaitable[str]]
) -> None:
    """SPEC A3: 429 with Retry-After; right credentials, first requests without any, and other addresses pass."""
    good = {"authorization": await key()}
    async with entry_points(settings, auth_failures_burst=3, auth_failures_per_s=0.1) as at:
        here, there = at("192.0.2.1"), at("192.0.2.2")
        assert await statuses(here, 5, WRONG) == [401, 401, 401, 429, 429]
        refused = await here.get("/jobs/x", headers=WRONG)
        assert refused.json()["type"] == "RateLimited" and 1 <= int(refused.headers["retry-after"]) <= 10
        assert await statuses(here, 3, good) == [404, 404, 404]
        assert await statuses(here, 30, {}) == [401] * 30
        assert (await here.get("/jobs/x")).headers["www-authenticate"].startswith("Bearer ")
        assert await statuses(there, 3, WRONG) == [401, 401, 401]


async def test_guesses_do_not_reach_the_issuer(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A3: an opaque token that is not known is not looked up for such an address; a known one passes."""
    asked: list[str] = []

    async def ask(_url: str, _client_id: str, _client_secret: str, token: str) -> dict[str, Any]:
        asked.append(token)
        return {"active": token.startswith("good"), "sub": "ann", "aud": RESOURCE, "scope": READ}

    monkeypatch.setattr(token_introspection, "ask_endpoint", ask)
    lookup = {"auth_introspection_url": f"{ISSUER}/introspect", "auth_introspection_issuer": ISSUER}
    async with entry_points(
        settings, auth_failures_burst=3, auth_failures_per_s=0.01, auth_audience=RESOURCE, **lookup
    ) as at:
        here, there = at("192.0.2.1"), at("192.0.2.2")
        assert await statuses(here, 1, {"authorization": "Bearer good"}) == [404]
        for number in range(50):
            await here.get("/jobs/x", headers={"authorization": f"Bearer guess-{number}"})
        assert len(asked) == 4
        assert await statuses(here, 1, {"authorization": "Bearer good"}) == [404]
        assert await statuses(here, 1, {"authorization": "Bearer good-too"}) == [429]
        assert await statuses(there, 1, {"authorization": "Bearer good-too"}) == [404]
