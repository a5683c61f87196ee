"""Reviews over HTTP with API keys: four eyes, two replicas, the audit log, the job channel and webhooks (SPEC A5)."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import httpx2 as httpx
import pytest

from planner_mcp.jobs.principals import APPROVE, READ, SENSITIVE, WRITE, group_id
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.auth.api_key_auth import new_key, principal_of_key
from tests.integration.server.auth.conftest import Key, Served
from tests.integration.server.auth.test_dashboard_routes import DAY
from tests.shared.scenarios.stored_plans import finish
from workers.webhook_dispatcher import delivery_of

pytestmark = pytest.mark.anyio
FOUR_EYES = {"approval": "four_eyes", "public_url": None}


async def call(http: httpx.AsyncClient, key: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool as the page does; return its structured content, that of a refusal too."""
    answer = await http.post("/ui/call", json={"tool": tool, "arguments": arguments}, headers={"authorization": key})
    return dict(answer.json()["structured"])


async def planned(
    http: httpx.AsyncClient, store: RedisStore, key: str, day: dict[str, Any] | None = None, **solve: Any
) -> str:
    """Have a completed job of a key's subject."""
    scenario_id = (await call(http, key, "create_scenario", **(day or DAY)))["scenario_id"]
    job_id = (await call(http, key, "solve_vrp", scenario_id=scenario_id, fresh=True, **solve))["job_id"]
    await finish(store, ["t1"])
    return str(job_id)


async def test_two_reviewers_race_on_two_replicas(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A5: ten times, one approves here while the other rejects there; one decision holds and is told alike."""
    async with served(**FOUR_EYES) as here, served(**FOUR_EYES) as there:
        ann, bob, eve = await key("ann"), await key("bob", READ, APPROVE), await key("eve", READ, APPROVE)
        for _number in range(10):
            job_id = await planned(here, store, ann)
            assert (await call(here, ann, "propose_plan", job_id=job_id))["review"]["state"] == "proposed"
            answers = await asyncio.gather(
                call(here, bob, "review_plan", job_id=job_id, decision="approve"),
                call(there, eve, "review_plan", job_id=job_id, decision="reject", reason="too late"),
            )
            (held,) = [answer["review"]["state"] for answer in answers if "review" in answer]
            (refused,) = [answer for answer in answers if "review" not in answer]
            assert refused["type"] == "IllegalTransition"
            assert refused["errors"][0]["accepted"] == {"approved": "publish_plan", "rejected": "propose_plan"}[held]
            for http in (here, there):
                assert (await call(http, ann, "query_vrp_status", job_id=job_id))["review"]["state"] == held


async def test_the_proposer_never_approves_and_strangers_know_nothing(
    served: Served, key: Key, store: RedisStore, audited: Callable[[], Awaitable[list[AuditEntry]]]
) -> None:
    """SPEC A2, A3, A5: four eyes; to another tenant's reviewer the job is unknown; each step is audited."""
    async with served(**FOUR_EYES) as http:
        ann = await key("ann", READ, WRITE, APPROVE, SENSITIVE)
        bob, eve = await key("bob", READ, APPROVE), await key("eve", READ, APPROVE, tenant="other")
        job_id = await planned(http, store, ann)
        await call(http, ann, "propose_plan", job_id=job_id)
        own = await call(http, ann, "review_plan", job_id=job_id, decision="approve")
        assert (own["type"], own["code"]) == ("FourEyes", 4024)
        path, decision = f"/v1/jobs/{job_id}/plan/review", {"decision": "approve"}
        answer = await http.post(path, json=decision, headers={"authorization": ann})
        assert (answer.status_code, answer.json()["code"]) == (403, 4024)
        refusals = [
            await call(http, eve, "review_plan", job_id=name, decision="approve")
            for name in (job_id, "job-0-" + "a" * 26)
        ]
        assert {**refusals[0], "traceId": ""} == {**refusals[1], "traceId": ""}
        page = await http.get(f"/jobs/{job_id}/events", headers={"authorization": eve})
        assert page.status_code == 404
        assert (await call(http, bob, "review_plan", job_id=job_id, decision="approve"))["review"]
        lines = [(line.subject, line.what, line.target, line.outcome) for line in await audited()]
        assert ("ann", "plan.proposed", job_id, "ok") in lines
        assert ("ann", "review_plan", job_id, "4024") in lines
        assert ("bob", "plan.approved", job_id, "ok") in lines


async def test_a_reviewer_reads_the_day_as_that_of_somebody_else(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A2, A5, O2: the page offered a reviewer to solve the day, which is refused."""
    async with served(**FOUR_EYES) as http:
        ann, bob = await key("ann"), await key("bob", READ, WRITE, APPROVE)
        job_id = await planned(http, store, ann)
        await call(http, ann, "propose_plan", job_id=job_id)

        async def read(who: str, uri: str) -> dict[str, Any]:
            return dict((await http.get("/ui/read", params={"uri": uri}, headers={"authorization": who})).json())

        scenario_id = (await read(bob, f"job://{job_id}"))["scenario_id"]
        shown = [await read(who, f"scenario://{scenario_id}") for who in (ann, bob)]
        assert [day.get("is_own") for day in shown] == [None, False]
        assert (await call(http, bob, "solve_vrp", scenario_id=scenario_id))["type"] == "NotFound"


async def test_steps_reach_the_channel_and_the_webhook(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A5, J4, W2, R3: after the end of the job, for whoever reads on; the reason is masked like a note."""
    async with served(approval="on", public_url=None) as http:
        ann = await key("ann", READ, WRITE, SENSITIVE, APPROVE)
        job_id = await planned(http, store, ann, callback_url="https://planner.example/hook")
        before = await _events(http, ann, job_id)
        await call(http, ann, "propose_plan", job_id=job_id)
        await call(http, ann, "review_plan", job_id=job_id, decision="reject", reason="Ada is ill")
        new = await _events(http, ann, job_id, after=before[-1][0])
        assert [message["params"]["event"] for _id, message in new] == ["plan.proposed", "plan.rejected"]
        assert {message["method"] for _id, message in new} == {"notifications/review"}
        assert new[-1][1]["params"]["review"] == {"state": "rejected", "reason": "Ada is ill"}
        assert [one for one, _message in await _events(http, ann, job_id)][-2:] == [one for one, _message in new]
        masked = await _events(http, await key("ann", READ), job_id, after=before[-1][0])
        assert masked[-1][1]["params"]["review"] == {"state": "rejected"}
        deliveries = [delivery_of(entry) for entry in await store.redis.xrange("{p0}:outbox")]
        assert [delivery.kind for delivery in deliveries] == ["completed", "plan.proposed", "plan.rejected"]
        assert json.loads(deliveries[-1].body) == new[-1][1]
        await call(http, ann, "propose_plan", job_id=job_id)
        await call(http, ann, "review_plan", job_id=job_id, decision="approve")
        await call(http, ann, "publish_plan", job_id=job_id)
        sent = [delivery_of(entry) for entry in await store.redis.xrange("{p0}:outbox")][len(deliveries) :]
        assert [delivery.kind for delivery in sent] == ["plan.proposed", "plan.approved", "plan.published"]
        assert json.loads(sent[-1].body)["params"]["review"]["state"] == "published"


async def test_a_reviewer_opens_the_download_of_what_was_proposed(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A5, T5: the link works where its maker may read; one of somebody else stays unknown."""
    async with served(approval="on", public_url=None) as http:
        ann, bob = await key("ann", READ, WRITE, SENSITIVE), await key("bob", READ, APPROVE)
        job_id = await planned(http, store, ann)
        sheet = {"uri": f"plan://{job_id.replace('job', 'plan', 1)}/sheets.html"}
        assert (await call(http, bob, "read_resource", **sheet))["type"] == "NotFound"
        await call(http, ann, "propose_plan", job_id=job_id)
        link = (await call(http, bob, "read_resource", **sheet))["download"]
        opened = await http.get(link.removeprefix("http://localhost:8080"))
        assert opened.status_code == 200, opened.text
        assert "<html" in opened.text
        stranger = await key("eve", READ, APPROVE, tenant="other")
        assert (await call(http, stranger, "read_resource", **sheet))["type"] == "NotFound"


async def test_a_channel_with_reviews_ends_with_the_publication(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A5, J4: who asks for reviews hears all of them, and 204 when nothing can follow."""
    async with served(approval="on", public_url=None) as http:
        ann = await key("ann", READ, WRITE, APPROVE)
        job_id = await planned(http, store, ann)
        for tool, further in (("propose_plan", {}), ("review_plan", {"decision": "approve"}), ("publish_plan", {})):
            await call(http, ann, tool, job_id=job_id, **further)
        path, headers = f"/jobs/{job_id}/events?reviews=true", {"authorization": ann}
        channel = (await http.get(path, headers=headers)).text
        assert channel.count("notifications/review") == 3
        last = [line for line in channel.splitlines() if line.startswith("id:")][-1].removeprefix("id:").strip()
        assert (await http.get(path, headers={**headers, "last-event-id": last})).status_code == 204


def test_keys_and_tokens_review_each_other_where_the_operator_says_so() -> None:
    """SPEC A5: a key made with `--reviews-with` joins the group of that issuer's tenant; its principal stays."""
    issuer, now = "https://login.example", datetime.now(UTC)
    _secret, plain = new_key("robot", "acme", [READ], now=now)
    _secret, joined = new_key("robot", "acme", [READ], now=now, reviews_with=issuer)
    assert principal_of_key(joined).group == group_id(issuer, "acme") != principal_of_key(plain).group
    assert principal_of_key(joined).id == principal_of_key(plain).id


async def _events(http: httpx.AsyncClient, key: str, job_id: str, after: str = "0") -> list[tuple[str, dict[str, Any]]]:
    """Return id and message of the events of a job after a position."""
    headers = {"authorization": key, "last-event-id": after}
    text = (await http.get(f"/jobs/{job_id}/events", headers=headers)).text
    parts = text.replace("\r", "").split("\n\n")
    fields = [dict(line.split(": ", 1) for line in part.splitlines() if ": " in line) for part in parts]
    return [(each["id"], json.loads(each["data"])) for each in fields if "data" in each]
