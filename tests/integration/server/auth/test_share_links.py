"""Share links on a deployment with API keys: one plan, masked and read only, until it expires or is revoked."""

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import APPROVE, READ, SENSITIVE, WRITE, Principal
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.settings import Settings
from tests.integration.server.auth.conftest import Key, Served
from tests.integration.server.auth.test_dashboard_routes import DAY
from tests.integration.server.auth.test_plan_reviews import call, planned

pytestmark = pytest.mark.anyio


async def _shared(http: httpx.AsyncClient, key: str, job_id: str, **further: Any) -> str:
    """Return the path of a new link."""
    shared = await call(http, key, "share_plan", job_id=job_id, **further)
    return urlsplit(shared["url"]).path


async def test_a_link_shows_its_plan_masked_and_nothing_else(
    served: Served, key: Key, store: RedisStore, audited: Callable[[], Awaitable[list[AuditEntry]]]
) -> None:
    """SPEC O2, R3, A2: no credential, no name, no exact place, no reviewer's words; it opens nothing else."""
    async with served(public_url=None, approval="on") as http:
        ann = await key("ann", READ, WRITE, SENSITIVE, APPROVE)
        job_id, other = await planned(http, store, ann), await planned(http, store, ann)
        await call(http, ann, "propose_plan", job_id=job_id)
        await call(http, ann, "review_plan", job_id=job_id, decision="reject", reason="Ada Lovelace is ill")
        path = await _shared(http, ann, job_id)
        page = await http.get(path)
        assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
        assert page.headers["referrer-policy"] == "no-referrer"
        assert "unsafe" not in page.headers["content-security-policy"]
        seen = await http.get(f"{path}/plan")
        shown = seen.json()
        assert (shown["review"], shown["plan"]["plan_id"]) == ("rejected", job_id.replace("job", "plan", 1))
        assert shown["scenario"]["planning_date"] == DAY["planning_date"]
        assert not [word for word in ("Lovelace", "52.5213") if word in seen.text + page.text]
        token = path.rpartition("/")[2]
        for closed in (f"/downloads/{token}/x", f"/jobs/{other}", f"/jobs/{other}/events", "/ui/read?uri=limits://vrp"):
            assert (await http.get(closed)).status_code in (401, 404), closed
            assert (await http.get(closed, headers={"authorization": f"Bearer {token}"})).status_code in (401, 404)
        assert (await http.post(f"{path}/plan", json={})).status_code == 405
        assert [line.what for line in await audited()].count("GET /shared") >= 2


async def test_a_guest_sees_no_exact_figures_whoever_wrote_the_day(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC R3: of a day written without `planner:sensitive` its owner has times and costs, a guest has neither."""
    async with served(public_url=None) as http:
        ann = await key("ann", READ, WRITE)
        job_id = await planned(http, store, ann)
        plan_id = job_id.replace("job", "plan", 1)
        own = await http.get("/ui/read", params={"uri": f"plan://{plan_id}"}, headers={"authorization": ann})
        shown = (await http.get(f"{await _shared(http, ann, job_id)}/plan")).json()
        exact, seen = own.json(), shown["plan"]
        stops = [
            [visit["ticket_id"] for route in plan["routes"] for visit in route["visits"]] for plan in (exact, seen)
        ]
        assert stops[0] == stops[1]
        assert exact["distance_m"] != seen["distance_m"]
        assert any("rounded positions" in text for text in seen["assumptions"])
        assert "cost" in exact and not seen.get("cost")
        assert "cost" not in shown["job"]
        assert not [word for word in ("Lovelace", "52.5213") if word in json.dumps(shown)]


async def test_a_link_ends_when_it_is_revoked_expired_or_altered(
    served: Served, key: Key, store: RedisStore, settings: Settings
) -> None:
    """SPEC O2: at every replica; the links of another plan go on."""
    async with served(public_url=None) as http, served(public_url=None) as there:
        ann = await key("ann", READ, WRITE, SENSITIVE)
        job_id, other = await planned(http, store, ann), await planned(http, store, ann)
        paths = [await _shared(http, ann, job_id), await _shared(http, ann, job_id, hours=1)]
        kept = await _shared(http, ann, other)
        foreign = await call(http, await key("bob"), "share_plan", job_id=job_id, revoke=True)
        assert foreign["type"] == "NotFound"
        assert [(await there.get(f"{path}/plan")).status_code for path in (*paths, kept)] == [200] * 3
        assert (await call(http, ann, "share_plan", job_id=job_id, revoke=True))["revoked"] is True
        for path in paths:
            refused = await there.get(f"{path}/plan")
            assert (refused.status_code, refused.json()["type"]) == (410, "LinkExpired")
            assert (await there.get(path)).status_code == 410
        assert (await there.get(f"{kept}/plan")).json()["plan"]["plan_id"] == other.replace("job", "plan", 1)
        assert (await there.get(f"{await _shared(there, ann, job_id)}/plan")).status_code == 200
        altered = kept[:-6] + ("AAAA" if kept[-6:-2] != "AAAA" else "BBBB") + kept[-2:]
        assert (await http.get(f"{altered}/plan")).status_code == 404
        cipher, owner = open_cipher(settings), Principal("u-x", frozenset({READ}))
        expired, _at = AccessLinks(cipher, "share").make(owner, f"{other} 0", -1)
        assert (await http.get(f"/shared/{expired}/plan")).json()["code"] == 4023
        download, _at = AccessLinks(cipher, "download").make(owner, f"{other} 0", 60)
        stolen, _at = AccessLinks(cipher, "share").make(owner, f"{other} 0", 60)
        for token in (download, stolen, "x", "%00"):
            assert (await http.get(f"/shared/{token}/plan")).status_code == 404, token


async def test_who_only_reads_makes_no_links(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A3: a link lets others in, so it needs the scope to write; of a job without a plan there is none."""
    async with served(public_url="https://planner.example/base") as http:
        ann = await key("ann")
        job_id = await planned(http, store, ann)
        refused = await call(http, await key("ann", READ), "share_plan", job_id=job_id)
        assert refused["type"] == "InsufficientScope"
        shared = await call(http, ann, "share_plan", job_id=job_id)
        assert shared["url"].startswith("https://planner.example/base/shared/")
        scenario_id = (await call(http, ann, "create_scenario", **DAY))["scenario_id"]
        queued = (await call(http, ann, "solve_vrp", scenario_id=scenario_id))["job_id"]
        assert (await call(http, ann, "share_plan", job_id=queued))["type"] == "PlanNotReady"
        await call(http, ann, "cancel_vrp_job", job_id=queued)
        ended = await call(http, ann, "share_plan", job_id=queued)
        assert (ended["type"], ended["message"]) == ("NotFound", "This job ended without a plan.")  # no wait helps
        assert "Lovelace" not in json.dumps(shared)
