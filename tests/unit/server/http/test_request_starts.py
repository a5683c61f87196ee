"""Requests that come at once begin one after another, and parts of bodies are taken at a bounded pace."""

import asyncio
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from starlette.types import Receive, Scope, Send

from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.bodies.body_pacing import PARTS_PER_S, paced_parts
from planner_mcp.server.http.middleware.authentication_middleware import AuthenticationMiddleware
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio
FLOOD = 50


class Authenticator:
    """Takes the credential for the name of the principal."""

    def needs_lookup(self, _headers: Any) -> bool:
        return False

    async def principal(self, headers: Any) -> Principal:
        return Principal(dict(headers)[b"authorization"].decode(), "")


class Limiter:
    """Lets everything in."""

    async def take(self, _principal: str) -> None:
        await asyncio.sleep(0)


async def test_a_request_behind_a_flood_begins_in_its_turn() -> None:
    """SPEC A4, J8: of fifty requests of one credential at most a few have begun before the one of another."""
    begun: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        begun.append(principal_of(scope).id)

    layer = AuthenticationMiddleware(
        app,
        settings=Settings(auth_api_keys=True),
        authenticator=Authenticator(),  # type: ignore[arg-type]
        limiter=Limiter(),
        revocations=SimpleNamespace(),  # type: ignore[arg-type]
        links={},
        sessions=SimpleNamespace(),  # type: ignore[arg-type]
    )

    async def ask(name: bytes) -> None:
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "client": ("127.0.0.1", 1),
            "headers": [(b"authorization", name)],
        }
        await layer(scope, _nothing, _nowhere)

    async with anyio.create_task_group() as tasks:
        for _ in range(FLOOD):
            tasks.start_soon(ask, b"mallory")
        tasks.start_soon(ask, b"alice")
    assert len(begun) == FLOOD + 1
    assert [name for name in begun[:6] if "alice" in name] != []


async def _nothing() -> dict[str, Any]:
    return {"type": "http.disconnect"}


async def _nowhere(_message: Any) -> None:
    pass


async def test_a_body_by_itself_is_not_held_up_and_many_share_a_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A4: the pause after a part grows with the bodies of the same group, and of no other."""
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(anyio, "sleep", note)
    with paced_parts("ann") as alone, paced_parts("bob"):
        await alone()
        with paced_parts("ann"), paced_parts("ann"):
            await alone()
        await alone()
    assert pauses == [0, 2 / PARTS_PER_S, 0]
