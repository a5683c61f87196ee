"""Clients of a server within the process of the test, without a socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2 as httpx
from starlette.types import ASGIApp

from planner_mcp.http_app import open_app
from planner_mcp.settings import Settings

BASE = "http://localhost:8080"


def app_client(app: ASGIApp, address: str = "127.0.0.1") -> httpx.AsyncClient:
    """Return a client of an app, at an address."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app, client=(address, 1)), base_url=BASE)


@asynccontextmanager
async def client_of(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Serve with some settings; yield a client."""
    async with open_app(settings, drain=anyio.Event()) as app, app_client(app) as http:
        yield http
