"""What can be worked out about a masked day over HTTP: `/v1`, events, share links, a reviewer's reads (SPEC R3).

Two days that differ in masked values alone are asked about alike; the answers are the same, byte for byte. The tools
themselves are in `tests/unit/server/tools/test_masked_arithmetic.py`.
"""

import json
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.principals import APPROVE, READ, SENSITIVE, WRITE
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.text import Json
from tests.integration.server.auth.conftest import Key, Served
from tests.integration.server.auth.test_event_webhooks import ask
from tests.integration.server.auth.test_plan_reviews import call
from tests.shared.scenarios.masked_twins import KNOWN, SECRETS, TWINS, with_known_points, without_names
from tests.shared.scenarios.stored_plans import finish

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
FORMS = (
    *("application/json", "text/csv", "application/geo+json", "application/gpx+xml"),
    *("image/svg+xml", "image/png", "text/html"),
)
EVENTS = ("vrp.job.finished", "vrp.job.improved", "vrp.ticket.unassigned")


@dataclass
class Thief:
    """Owns everything, by a credential without the scope; notes every answer."""

    http: httpx.AsyncClient
    key: str
    found: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    """Of downloads, which work without a credential."""

    async def get(self, path: str, key: str | None = None, **headers: str) -> str:
        """Read a path; an empty key is a stranger."""
        known = {"authorization": self.key if key is None else key} if key != "" else {}
        return self._noted(await self.http.get(path, headers=known | headers))

    async def post(self, path: str, body: Json, method: str = "POST") -> Json:
        """Send a body; return the answer."""
        answer = await self.http.request(method, path, json=body, headers={"authorization": self.key})
        return dict(json.loads(self._noted(answer)))

    def _noted(self, answer: httpx.Response) -> str:
        text = answer.text if answer.headers["content-type"] != "image/png" else answer.content.hex()
        self.found.append(without_names(f"{answer.status_code} {text}"))
        self.links += re.findall(r"/downloads/[^\s\"\\]+", text)
        return text


async def read_job(thief: Thief, job_id: str) -> None:
    """Read a job and its plan in every form."""
    job = f"/v1/jobs/{job_id}"
    for part in ("", "/progress", "/view?parts=day&parts=plan&parts=events&parts=bound"):
        await thief.get(job + part)
    for view in ("summary", "routes", "visits", "unassigned"):
        await thief.get(f"{job}/plan/table?view={view}")
    for form in FORMS:
        await thief.get(f"{job}/plan", accept=form)
    for path in ("/plan/unassigned", "/plan/fixes"):
        await thief.get(job + path)
    await thief.get(f"/jobs/{job_id}/events")
    await thief.get(f"/jobs/{job_id}")


async def attack(thief: Thief, store: RedisStore, scenario_id: str, job_id: str) -> None:
    """Ask all that `/v1` offers, and have more solved."""
    job, patch = f"/v1/jobs/{job_id}", with_known_points()

    async def worked(answer: Json, *routes: list[str], bound: float | None = None) -> str:
        if "job_id" in answer:
            await finish(store, *routes, bound=bound)
        return str(answer.get("job_id", ""))

    await thief.get(f"/v1/scenarios/{scenario_id}")
    await thief.get("/v1/scenarios")
    await read_job(thief, job_id)
    for until in ("08:10", "08:40", "09:30"):
        bounded = {"scenario_id": scenario_id, "patch": with_known_points(until=until)}
        await thief.post("/v1/scenarios/validate", bounded)
    revised = await thief.post(f"/v1/scenarios/{scenario_id}", patch, "PATCH")
    await thief.get(f"/v1/scenarios/{revised['scenario_id']}")
    plans = []
    for key in KNOWN:
        answer = await thief.post(f"{job}/resolve", {"patch": patch, "fresh": True})
        plans.append(await worked(answer, [f"x-{key}"]))
        await read_job(thief, plans[-1])
    for hour in ("08:07", "08:14", "08:30"):
        late = {"keep_until": hour, "late_by": {"veh-1": 600}, "fresh": True}
        await worked(await thief.post(f"{job}/resolve", late), ["t-1", "t-2"])
    for a, b in ((job_id, plans[0]), (plans[0], plans[1])):
        await thief.get(f"/v1/plans/compare?plan_a={a}&plan_b={b}")
    await thief.get("/v1/plans/weigh?" + "&".join(f"plans={each}" for each in (job_id, *plans)))
    await thief.post(f"{job}/what-if", {"cases": {"open": {"patch": patch}}, "wait_s": 0})
    await thief.post(f"{job}/alternatives", {"k": 1, "wait_s": 0})
    while (claim := await store.claim("w1", 0)) is not None:
        await store.hand_back(claim)
        await thief.post(f"/v1/jobs/{claim.job.id}/cancel", {})
    proof = await worked(await thief.post(f"{job}/prove", {"fresh": True}), ["t-1", "t-2"], bound=0.93)
    await read_job(thief, proof)
    await thief.get(f"{job}/progress")
    uri = f"plan://{plan_of(job_id)}"
    for part in ("", "/map.svg", "/report.html", "/sheets.html", "/routes/1.ics"):
        await thief.get(f"/v1/resources?uri={uri}{part}")


async def listen(thief: Thief) -> None:
    """Read events of every type by poll, from the beginning."""
    for name in EVENTS:
        answer = await ask(thief.http, thief.key, "events/poll", name=name, arguments={}, cursor="0-0")
        thief.found.append(without_names(json.dumps([each["data"] for each in answer.get("events", [answer])])))


async def test_nothing_over_http_depends_on_what_is_masked(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC R3: REST in every form, events, what strangers see by a link, what a reviewer without the scope reads."""
    answers = []
    for number, twin in enumerate(TWINS):
        subject = f"owner-{number}"
        async with served(public_url=None, approval="on") as http:
            owner = await key(subject, READ, WRITE, SENSITIVE)
            reviewer = await key(f"reviewer-{number}", READ, APPROVE)
            thief = Thief(http, await key(subject, READ, WRITE))
            scenario_id = (await call(http, owner, "create_scenario", **twin))["scenario_id"]
            job_id = (await call(http, owner, "solve_vrp", scenario_id=scenario_id))["job_id"]
            await finish(store, ["t-1", "t-2"])
            await attack(thief, store, scenario_id, job_id)
            await listen(thief)
            await call(http, owner, "propose_plan", job_id=job_id)
            for path in ("", "/plan", "/plan/table?view=visits", "/progress"):
                await thief.get(f"/v1/jobs/{job_id}{path}", reviewer)
            for sharer in (thief.key, owner):
                link = urlsplit((await call(http, sharer, "share_plan", job_id=job_id))["url"]).path
                await thief.get(f"{link}/plan", "")
            for link in dict.fromkeys(thief.links):
                await thief.get(link, "")
            answers.append(thief.found)
    assert thief.links
    assert len(answers[0]) > 90
    statuses = [answer.partition(" ")[0] for answer in answers[0]]
    assert statuses.count("200") > 60, statuses
    assert [pair for pair in zip(*answers, strict=True) if pair[0] != pair[1]] == []
    shown = "\n".join(answers[0])
    assert [secret for secret in SECRETS if secret in shown] == []
