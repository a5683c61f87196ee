"""What the HTTP server hands to uvicorn."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from planner_mcp.cli.processes.http_server import uvicorn_config
from planner_mcp.settings import Settings


@pytest.mark.parametrize(("trusted", "client"), [(None, "127.0.0.1"), ("127.0.0.1", "203.0.113.7")])
def test_x_forwarded_for_is_believed_from_nobody_unless_configured(
    monkeypatch: pytest.MonkeyPatch, trusted: str | None, client: str
) -> None:
    """SPEC A3: loopback included, from where any local user could make guesses under the names of others."""
    seen: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(_message: Message) -> None:
        """Take nothing."""

    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    if trusted is not None:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    config = uvicorn_config(Starlette(), Settings())
    config.app = app
    config.load()
    headers = [(b"x-forwarded-for", b"203.0.113.7"), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "scheme": "http", "client": ("127.0.0.1", 1), "headers": headers}
    asyncio.run(config.loaded_app(scope, receive, send))
    assert seen[0]["client"][0] == client
    assert seen[0]["scheme"] == ("http" if trusted is None else "https")
