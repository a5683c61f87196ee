"""Signing in to the dashboard: what a cookie opens, and what ends it."""

from dataclasses import replace
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from typer.testing import CliRunner

from planner_mcp.app import AppServices
from planner_mcp.cli.command_line import app
from planner_mcp.errors import UnauthenticatedError
from planner_mcp.http_app import page_sessions
from planner_mcp.jobs.principals import ADMIN, READ, WRITE, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security import page_session_store
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.jobs.store.security.page_session_store import PageSessionStore
from planner_mcp.server.auth.page_sessions import PageSessions
from planner_mcp.settings import Settings
from tests.integration.server.auth.conftest import Key, Served
from tests.shared.http.app_clients import BASE

pytestmark = pytest.mark.anyio
PAGE = {"x-planner-ui": "1"}
JOBS = {"uri": "jobs://vrp/status/all"}


async def _sign_in(http: httpx.AsyncClient, credential: str) -> httpx.Response:
    return await http.post("/ui/session", headers={"authorization": credential, **PAGE})


def _with(cookie: str) -> dict[str, str]:
    return {**PAGE, "cookie": f"__Host-planner={cookie}"}


async def _cookie(http: httpx.AsyncClient, credential: str) -> str:
    """Sign in; return the cookie's value, and keep none in the client."""
    answer = await _sign_in(http, credential)
    assert answer.status_code == 200, answer.text
    http.cookies.clear()
    return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]


async def _status(http: httpx.AsyncClient, headers: dict[str, str], path: str = "/ui/read") -> int:
    return (await http.get(path, params=JOBS, headers=headers)).status_code


async def test_a_key_is_exchanged_for_a_cookie_that_no_script_reads(served: Served, key: Key) -> None:
    """SPEC A1: HttpOnly, Secure, SameSite=Strict, for this host alone, 8 hours; the page hears its scopes."""
    async with served() as http:
        assert (await http.get("/ui/session", headers=PAGE)).json()["needs_sign_in"] is True
        answer = await _sign_in(http, await key("ann", READ, ADMIN))
        name, *attributes = answer.headers["set-cookie"].lower().split("; ")
        assert name.startswith("__host-planner=")
        assert set(attributes) == {"httponly", "max-age=28800", "path=/", "samesite=strict", "secure"}
        http.cookies.clear()
        about = (await http.get("/ui/session", headers=_with(name.partition("=")[2]))).json()
        assert about["subject"] == "ann"
        assert about["scopes"] == [ADMIN, READ]
        assert about["needs_sign_in"] is False


async def test_a_cookie_counts_beside_the_header_of_the_page_and_on_its_paths_alone(served: Served, key: Key) -> None:
    """SPEC X1: another site can send the cookie at most, never the header; MCP takes no cookie."""
    async with served() as http:
        cookie = await _cookie(http, await key("ann"))
        assert await _status(http, _with(cookie)) == 200
        assert await _status(http, {"cookie": f"__Host-planner={cookie}"}) == 401
        call = {"json": {"tool": "list_jobs", "arguments": {}}}
        assert (await http.post("/ui/call", **call, headers=_with(cookie))).status_code == 200
        foreign = _with(cookie) | {"origin": "https://evil.example"}
        assert (await http.post("/ui/call", **call, headers=foreign)).status_code == 403
        bare = {"cookie": f"__Host-planner={cookie}"}
        assert (await http.post("/ui/call", **call, headers=bare)).status_code == 401
        assert (await http.post("/mcp", json={}, headers=_with(cookie))).status_code == 401
        asks = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        preflight = await http.options("/ui/call", headers={**asks, "access-control-request-headers": "x-planner-ui"})
        assert preflight.status_code >= 400
        for path in ("/ui", "/ui/assets/app.js"):
            assert "frame-ancestors 'none'" in (await http.get(path)).headers["content-security-policy"]


async def test_a_cookie_opens_what_its_principal_owns(served: Served, key: Key) -> None:
    """SPEC A1: that of another principal, an altered one, and one of another deployment open nothing of it."""
    async with served() as http:
        ann, bob = await _cookie(http, await key("ann")), await _cookie(http, await key("bob"))
        made = await http.post(
            "/ui/call", json={"tool": "create_scenario", "arguments": {"agents": [], "tickets": []}}, headers=_with(ann)
        )
        assert made.status_code == 200
        assert (await http.get("/ui/session", headers=_with(bob))).json()["subject"] == "bob"
        foreign = SecretCipher(b"another key").encrypt("x", "dashboard session")
        for wrong in (ann[:-2] + ("00" if ann[-2:] != "00" else "11"), ann[:40], foreign, "00" * 40, "x", "x" * 5000):
            answer = await http.get(
                "/ui/read", params=JOBS, headers={**PAGE, "cookie": f"__Host-planner={wrong}".encode()}
            )
            assert answer.status_code == 401, wrong


async def test_a_sign_out_ends_the_session_at_every_replica(served: Served, key: Key) -> None:
    """SPEC A1: a kept copy of the cookie opens nothing."""
    async with served() as http, served() as other:
        cookie = await _cookie(http, await key("ann"))
        assert await _status(other, _with(cookie)) == 200
        gone = await http.delete("/ui/session", headers=_with(cookie))
        assert gone.status_code == 204
        assert "max-age=0" in gone.headers["set-cookie"].lower()
        assert await _status(other, _with(cookie)) == 401


async def test_a_session_ends_with_its_key(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A1: at the next request, on streams within seconds, and it is gone from the store."""
    async with served() as http:
        credential = await key("ann")
        cookie = await _cookie(http, credential)
        assert await ApiKeyStore(store.script_client).revoke(credential.split("_")[1])
        assert await _status(http, _with(cookie)) == 401


async def test_a_session_is_over_after_its_time(served: Served, key: Key, apps_services: list[AppServices]) -> None:
    """SPEC A1: 8 hours, or earlier with the token it was opened with; it cannot be used to open a longer one."""
    async with served() as http:
        await _cookie(http, await key("ann"))
        sessions = page_sessions(apps_services[0])
        ring = ApiKeyStore(apps_services[0].store.script_client)
        record = (await ring.list())[0]
        principal = replace(Principal(record.principal_id), expires_at=sessions._clock() + 5)
        cookie, life_s = await sessions.open(principal)
        assert life_s <= 5
        assert await _status(http, _with(cookie)) != 401
        again, further_s = await sessions.open(await sessions.principal(cookie))
        assert further_s <= 5
        later = PageSessions(
            PageSessionStore(apps_services[0].store.script_client),
            ring,
            sessions._cipher,
            clock=lambda: sessions._clock() + 6,
        )
        with pytest.raises(UnauthenticatedError):
            await later.principal(again)


async def test_a_ticket_opens_one_session_and_nothing_else(served: Served, key: Key, settings: Settings) -> None:
    """SPEC O2, A1: `planner-mcp dashboard` prints it; a replay is refused, and so is any other path."""
    async with served() as http:
        await key("ann", READ)
        words = ["dashboard", "--no-browser", "--url", BASE, "--redis-url", settings.redis_url]
        ended = await _command([*map(str, words), "--data-dir", str(settings.data_dir)])
        address, _, ticket = ended.partition("#ticket=")
        assert address == f"{BASE}/ui"
        bearer = f"Bearer {ticket.strip()}"
        assert (await http.get("/ui/read", params=JOBS, headers={"authorization": bearer})).status_code == 401
        cookie = await _cookie(http, bearer)
        assert (await http.get("/ui/session", headers=_with(cookie))).json()["scopes"] == [READ]
        assert (await _sign_in(http, bearer)).status_code == 401


async def _command(words: list[str]) -> str:
    def run() -> str:
        ended = CliRunner(env={"PLANNER_AUTH_API_KEYS": "true"}).invoke(app, words)
        assert ended.exit_code == 0, ended.output
        return ended.output.strip().splitlines()[-1]

    return await anyio.to_thread.run_sync(run)


async def test_a_principal_has_so_many_sessions(served: Served, key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: a further one ends the oldest, so that nobody fills the store by signing in."""
    monkeypatch.setattr(page_session_store, "MAX_SESSIONS", 2)
    async with served() as http:
        credential = await key("ann", READ, WRITE)
        cookies = [await _cookie(http, credential) for _ in range(3)]
        assert [await _status(http, _with(cookie)) for cookie in cookies] == [401, 200, 200]


async def test_without_authorization_nobody_signs_in(served: Served) -> None:
    """SPEC O2: on loopback the page works at once."""
    async with served(auth_api_keys=False) as http:
        about: dict[str, Any] = (await http.get("/ui/session", headers=PAGE)).json()
        assert (about["has_sign_in"], about["needs_sign_in"]) == (False, False)
        assert "set-cookie" not in (await http.post("/ui/session", headers=PAGE)).headers
