"""Signing in on the page, in a real browser, on a server with API keys."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from examples.planner_server import PlannerServer, running_server
from planner_mcp.jobs.principals import READ, SENSITIVE, WRITE
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.jobs.store.security.page_session_store import PageSessionStore
from planner_mcp.server.auth.api_key_auth import new_key, principal_of_key
from planner_mcp.server.auth.page_sessions import PageSessions
from planner_mcp.settings import Settings
from tests.shared.http.http_clients import http_client
from tests.shared.scenarios.client_scenarios import ring

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Guarded:
    """A server that asks for a credential."""

    server: PlannerServer
    key: str
    """Of ann, with every scope for data."""
    masked_key: str
    """Of ann, to read alone."""
    ticket: str


@pytest.fixture(scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    async with running_server(folder, workers=0, settings={"PLANNER_AUTH_API_KEYS": "true"}) as server:
        settings = Settings(data_dir=folder)
        async with connect(settings) as store:
            ring_of_keys = ApiKeyStore(store.script_client)
            key, record = new_key("ann", "", (READ, WRITE, SENSITIVE), now=datetime.now(UTC))
            masked_key, masked = new_key("ann", "", (READ,), now=datetime.now(UTC))
            for each in (record, masked):
                await ring_of_keys.add(each)
            sessions = PageSessions(PageSessionStore(store.script_client), ring_of_keys, open_cipher(settings))
            ticket = await sessions.ticket(principal_of_key(record))
        yield Guarded(server, key, masked_key, ticket)


async def _sign_in(page: Any, key: str) -> None:
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Jobs").wait_for()


async def test_a_key_signs_in_until_the_sign_out(guarded: Guarded, browser: Any) -> None:
    """SPEC O2, A1: the key is kept nowhere, the cookie is out of reach of scripts, a reload stays signed in."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{guarded.server.url}/ui")
    await _sign_in(page, guarded.key)
    assert await page.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})") == "{}"
    assert [cookie["httpOnly"] for cookie in await context.cookies()] == [True]
    await page.reload()
    await page.get_by_role("heading", name="Jobs").wait_for()
    await page.wait_for_function("() => document.title.startsWith('Jobs')")
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_role("heading", name="Sign in").wait_for()
    assert (await context.cookies(), "Jobs" in await page.title()) == ([], False)
    await context.close()


@pytest.mark.slow
async def test_nobody_is_asked_for_a_key_before_it_is_known_who_they_are(guarded: Guarded, browser: Any) -> None:
    """SPEC O2: the form was drawn twice, and what a browser or a fast reader had filled in meanwhile was lost."""
    context = await browser.new_context()
    page = await context.new_page()
    is_asked, is_answered = asyncio.Event(), asyncio.Event()

    async def answer(route: Any) -> None:
        is_asked.set()
        await is_answered.wait()
        await route.continue_()

    await page.route("**/ui/session", answer)
    await page.goto(f"{guarded.server.url}/ui")
    await is_asked.wait()
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert await page.get_by_label("API key").count() == 0
    is_answered.set()
    await page.get_by_label("API key").wait_for()
    assert page.url.endswith("#/jobs")
    await context.close()


@pytest.mark.slow
async def test_a_failed_sign_out_is_reported(guarded: Guarded, browser: Any) -> None:
    """SPEC O2, A1: one is signed in still; the page said nothing and was live no more."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{guarded.server.url}/ui")
    await _sign_in(page, guarded.key)

    async def unless_out(route: Any) -> None:
        is_out = route.request.method == "DELETE"
        await (route.fulfill(status=503, json={"message": "not now"}) if is_out else route.continue_())

    await page.route("**/ui/session", unless_out)
    async with page.expect_request(f"{guarded.server.url}/events"):
        await page.get_by_role("button", name="Sign out").click()
    await page.get_by_role("alert").get_by_text("not now").wait_for()
    await page.get_by_role("heading", name="Jobs").wait_for()
    await context.close()


@pytest.mark.slow
async def test_a_ticket_in_the_fragment_signs_in_once(guarded: Guarded, browser: Any) -> None:
    """SPEC O2: as `planner-mcp dashboard` opens the page; the ticket leaves the address at once."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{guarded.server.url}/ui#ticket={guarded.ticket}")
    await page.get_by_role("heading", name="Jobs").wait_for()
    assert "ticket" not in page.url
    await context.clear_cookies()
    await page.goto("about:blank")
    await page.goto(f"{guarded.server.url}/ui#ticket={guarded.ticket}")
    await page.get_by_role("alert").get_by_text("used already").wait_for()
    await context.close()


@pytest.mark.slow
async def test_who_may_only_read_is_offered_nothing_else(guarded: Guarded, browser: Any) -> None:
    """SPEC O2, A1: import, solve, cancel and the like were offered and then refused."""
    async with http_client(base_url=guarded.server.url, headers={"authorization": f"Bearer {guarded.key}"}) as http:
        made = await http.post("/ui/call", json={"tool": "create_scenario", "arguments": ring(5)})
        scenario_id = made.json()["structured"]["scenario_id"]
        made = await http.post("/ui/call", json={"tool": "solve_vrp", "arguments": {"scenario_id": scenario_id}})
        job_id = made.json()["structured"]["job_id"]
    for key, offered in ((guarded.masked_key, 0), (guarded.key, 1)):
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{guarded.server.url}/ui")
        await _sign_in(page, key)
        assert await page.get_by_role("link", name="Import").count() == offered
        await page.goto(f"{guarded.server.url}/ui#/scenarios/{scenario_id}")
        await page.get_by_text("Raw JSON").wait_for()
        assert await page.get_by_role("button", name="Solve").count() == offered
        assert await page.locator("summary", has_text="Change the day").count() == offered
        await page.goto(f"{guarded.server.url}/ui#/jobs/{job_id}")
        await page.get_by_text("Raw JSON").wait_for()
        await page.get_by_text("Queued").first.wait_for()
        assert await page.get_by_role("button", name="Cancel").count() == offered
        assert await page.get_by_role("button", name="Finish now").count() == 0, "of a queued job there is nothing"
        await context.close()


@pytest.mark.slow
async def test_who_may_not_see_names_sees_none(guarded: Guarded, browser: Any) -> None:
    """SPEC R3: neither in the page nor in what it received."""
    day = ring(5)
    day["tickets"][0] |= {"name": "Ada Lovelace", "phone": "+44 20 7946 0958"}
    async with http_client(base_url=guarded.server.url) as http:
        asked = {"tool": "create_scenario", "arguments": day}
        made = await http.post("/ui/call", json=asked, headers={"authorization": f"Bearer {guarded.key}"})
        scenario_id = made.json()["structured"]["scenario_id"]
    context = await browser.new_context()
    page = await context.new_page()
    received: list[Any] = []
    page.on("response", lambda answer: "/ui/" in answer.url and received.append(answer))
    await page.goto(f"{guarded.server.url}/ui#/scenarios/{scenario_id}")
    await page.get_by_label("API key").fill(guarded.masked_key)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_text("Hidden fields").wait_for()
    await page.get_by_text("Raw JSON").click()
    await page.locator("pre", has_text="scenario_id").wait_for()
    texts = [await answer.text() for answer in received if "assets" not in answer.url]
    for secret in ("Lovelace", "7946"):
        assert secret not in await page.content()
        assert not any(secret in text for text in texts)
    await context.close()
