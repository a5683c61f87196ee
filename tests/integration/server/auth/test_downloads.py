"""Download URLs on a deployment with API keys: no credential but the URL, and no more than its principal sees."""

from collections.abc import Awaitable, Callable

import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import READ, SENSITIVE, WRITE
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.settings import Settings
from tests.integration.server.auth.conftest import Key, Served
from tests.integration.server.auth.test_dashboard_routes import DAY
from tests.shared.scenarios.stored_plans import finish

pytestmark = pytest.mark.anyio


async def _used(http: httpx.AsyncClient, key: str, tool: str, **arguments: object) -> dict[str, str]:
    answer = await http.post("/ui/call", json={"tool": tool, "arguments": arguments}, headers={"authorization": key})
    body: dict[str, dict[str, str]] = answer.json()
    assert body["is_error"] is False, body
    return body["structured"]


async def _sheets(http: httpx.AsyncClient, store: RedisStore, writer: str, reader: str) -> str:
    """Return the URL that a reader gets of the sheets of a day that a writer planned."""
    scenario = await _used(http, writer, "create_scenario", **DAY)
    job = await _used(http, writer, "solve_vrp", scenario_id=scenario["scenario_id"])
    await finish(store, ["t1"])
    uri = f"plan://{job['job_id'].replace('job', 'plan', 1)}/sheets.html"
    return (await _used(http, reader, "read_resource", uri=uri))["download"]


async def test_a_url_needs_no_key_and_shows_what_its_principal_sees(
    served: Served, key: Key, store: RedisStore, audited: Callable[[], Awaitable[list[AuditEntry]]]
) -> None:
    """SPEC T5, R3: the name of the driver is masked in the URL of one who may not see it; each use is audited."""
    async with served(public_url=None) as http:
        ann = await key("ann", READ, WRITE, SENSITIVE)
        seen = await http.get(await _sheets(http, store, ann, ann))
        assert (seen.status_code, "Ada Lovelace" in seen.text) == (200, True)
        assert "script" not in seen.headers["content-security-policy"]
        assert seen.headers["cache-control"] == "no-store"
        masked = await http.get(await _sheets(http, store, ann, await key("ann", READ)))
        assert (masked.status_code, "Lovelace" in masked.text) == (200, False)
        assert [line.what for line in await audited()].count("GET /downloads") == 2


async def test_an_altered_or_expired_url_is_refused_with_what_is_wrong(
    served: Served, key: Key, store: RedisStore, settings: Settings
) -> None:
    """SPEC A1, A2: 404 for what was not made here, 410 for what is over, and the rest of the server stays closed."""
    async with served() as http:
        ann = await key("ann", READ, WRITE)
        url = await _sheets(http, store, ann, ann)
        before, name = url.rsplit("/", 1)
        altered = await http.get(f"{before[:-9]}AAAA{before[-5:]}/{name}")
        assert (altered.status_code, altered.json()["type"]) == (404, "NotFound")
        long_ago = AccessLinks(open_cipher(settings), "download", clock=lambda: 1e9)
        token, _ = long_ago.make(_principal_of(settings, url), "limits://vrp", 60)
        expired = await http.get(f"/downloads/{token}/x")
        assert (expired.status_code, expired.json()["code"]) == (410, 4023)
        assert (await http.post(url)).status_code == 405
        assert (await http.get("/downloads/")).status_code in (401, 404)


def _principal_of(settings: Settings, url: str):  # type: ignore[no-untyped-def]
    return AccessLinks(open_cipher(settings), "download").open(url.split("/")[-2]).principal
