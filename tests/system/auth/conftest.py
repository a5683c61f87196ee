"""A planner behind authorization, once for all tests of it that do not break it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from examples.planner_server import PlannerServer, running_server
from planner_mcp.jobs.principals import READ, SENSITIVE, WRITE
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.server.auth.api_key_auth import new_key
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.settings import Settings
from tests.shared.http.free_ports import free_port
from tests.shared.http.http_clients import http_client
from tests.shared.http.mcp_caller import Caller
from tests.shared.node import node_packages
from tests.shared.node.authority import Authority, authority

ROBOTS = {
    "ann": f"{READ} {WRITE} {SENSITIVE} planner:approve",
    "ben": f"{READ} {WRITE}",
    "eve": READ,
    "root": f"{READ} {WRITE} planner:admin",
}
"""Clients of the authorization server and the most they may ask for."""


@dataclass
class Fort:
    """A planner behind authorization, and how to speak to it as somebody."""

    planner_server: PlannerServer
    data_dir: Path
    resource: str
    authority: Authority | None = None
    keys: dict[str, str] = field(default_factory=dict)

    async def credential(self, name: str) -> str:
        """Return a token, or the API key, of a principal with all scopes it may have."""
        if self.authority is None:
            return self.keys[name]
        return await self.authority.token(name, self.resource, ROBOTS[name])

    @asynccontextmanager
    async def http(self, name: str | None, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
        """Yield an HTTP client that sends a principal's credential; none for None."""
        known = {"authorization": f"Bearer {await self.credential(name)}"} if name else {}
        async with http_client(base_url=self.planner_server.url, headers=known | headers, timeout=60) as http:
            yield http

    @asynccontextmanager
    async def caller(self, name: str, *, is_old: bool = False) -> AsyncIterator[Caller]:
        """Yield a principal that writes its requests by hand, in one of the eras."""
        async with http_client(base_url=self.planner_server.url, timeout=60) as http:
            caller = Caller(http, f"Bearer {await self.credential(name)}")
            if is_old:
                await caller.initialize()
            yield caller

    @asynccontextmanager
    async def client(self, name: str, mode: Any = "auto") -> AsyncIterator[Client]:
        """Yield the official MCP client as a principal."""
        async with (
            self.http(name) as http,
            Client(streamable_http_client(self.planner_server.mcp, http_client=http), mode=mode) as client,
        ):
            yield client

    @asynccontextmanager
    async def store(self) -> AsyncIterator[RedisStore]:
        """Yield the planner's own store, to look behind the server."""
        async with connect(Settings(data_dir=self.data_dir)) as store:
            yield store

    def log(self) -> str:
        """Return everything logged so far."""
        return (self.data_dir / "serve.log").read_text(encoding="utf-8")


def configured(**settings: str) -> dict[str, str]:
    """Return settings as the variables a planner reads."""
    return {f"PLANNER_{name}": value for name, value in settings.items()}


@pytest.fixture(scope="session")
async def keyed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fort]:
    """A planner that takes API keys, one for each robot, and is patient with silent calls."""
    sets = ",".join(sorted({tool.toolset for tool in REGISTRY}))
    given = configured(AUTH_API_KEYS="true", TOOLSETS=sets, APPROVAL="on", RATE_PER_S="1000", RATE_BURST="1000")
    folder, module = tmp_path_factory.mktemp("keyed"), "tests.system.auth.server_without_streams"
    async with running_server(folder, workers=1, settings=given, module=module) as planner_server:
        fort = Fort(planner_server, folder, "")
        async with fort.store() as store:
            for name, scopes in ROBOTS.items():
                fort.keys[name], record = new_key(name, "", scopes.split(), now=datetime.now(UTC))
                await ApiKeyStore(store.script_client).add(record)
        yield fort


@pytest.fixture(scope="session")
async def fort(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Fort]:
    """A planner that takes tokens of an independent authorization server."""
    if not node_packages.IS_THERE:
        pytest.skip("needs node and npm")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    resource = f"{url}/mcp"
    async with authority({resource: "jwt", "https://other.example/mcp": "jwt"}, ROBOTS) as server:
        folder, settings = tmp_path_factory.mktemp("fort"), configured(PUBLIC_URL=url, AUTH_ISSUERS=issuers(server))
        async with running_server(
            folder, workers=1, options=("--port", str(port)), settings=settings
        ) as planner_server:
            yield Fort(planner_server, folder, resource, server)


def issuers(server: Authority) -> str:
    """Return the setting that accepts tokens of an authority, its keys to be discovered."""
    return json.dumps({server.issuer: None})
