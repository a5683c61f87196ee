"""A real browser for pages: Playwright with the system's Chromium (`make setup-browser`)."""

import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest

from examples.planner_server import PlannerServer
from tests.browser.chat_host import FOLDER, ChatHost
from tests.shared.http.http_clients import http_client
from tests.shared.node import node_packages

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Any]:
    """One browser for all tests."""
    api = pytest.importorskip("playwright.async_api", reason="make setup-browser installs Playwright and Chromium")
    if CHROMIUM is None:
        pytest.skip("make setup-browser installs Playwright and Chromium")
    async with api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest.fixture
async def page(browser: Any, server: PlannerServer) -> AsyncIterator[Any]:
    """A page that fails the test on an error in the console, a policy violation or a request to another origin."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page = await context.new_page()
    wrong: list[str] = []
    base = server.mcp.removesuffix("/mcp")
    page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: _is_foreign(request.url, base) and wrong.append(request.url))
    yield page
    await context.close()
    assert wrong == []


async def call(server: PlannerServer, tool: str, **arguments: Any) -> dict[str, Any]:
    """Run a tool as the page does; return its structured output."""
    async with http_client(base_url=server.url, timeout=60) as http:
        answer = (await http.post("/ui/call", json={"tool": tool, "arguments": arguments})).json()
    assert answer["is_error"] is False, answer
    return dict(answer["structured"])


async def submitted(server: PlannerServer, day: dict[str, Any], solve_time: str = "PT1S") -> tuple[str, str]:
    """Keep a day and have it solved; return the ids of scenario and job."""
    scenario_id = (await call(server, "create_scenario", **day))["scenario_id"]
    job = await call(server, "solve_vrp", scenario_id=scenario_id, solve_time=solve_time, fresh=True)
    return scenario_id, job["job_id"]


async def solved(server: PlannerServer, day: dict[str, Any]) -> tuple[str, str]:
    """Keep a day and return when it is solved; return the ids of scenario and job."""
    scenario_id, job_id = await submitted(server, day)
    await call(server, "query_vrp_status", job_id=job_id, wait_s=45)
    return scenario_id, job_id


@pytest.fixture
async def chat(browser: Any, server: PlannerServer) -> AsyncIterator[ChatHost]:
    """A host of MCP Apps that fails the test on an error, a policy violation or a request to another origin."""
    if not node_packages.IS_THERE:
        pytest.skip("needs node and npm")
    node_packages.install(FOLDER)
    context = await browser.new_context(viewport={"width": 800, "height": 900}, locale="en-GB")
    chat = ChatHost(await context.new_page(), server)
    yield chat
    await context.close()
    assert chat.wrong == []


def _is_foreign(url: str, base: str) -> bool:
    return url.startswith(("http", "ws")) and not url.startswith(base)
