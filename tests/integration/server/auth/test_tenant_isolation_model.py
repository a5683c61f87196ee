"""Three principals in any order of doing things: nobody ever sees, or learns of, what is another's (SPEC A2).

The quick test runs ten histories, the slow one a thousand. Choices go by age, so a history repeats exactly.
"""

import asyncio
import json
import re
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from planner_mcp.errors import UnknownSessionError
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import SCOPES, Principal
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.server.mcp.mcp_sessions import Sessions
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolResult
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, REGISTRY, dispatch
from planner_mcp.settings import Settings
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.tools.id_parameters import Ids, arguments, id_parameters, kind_of, unknown
from tests.shared.tools.tool_contexts import tool_context

T = TypeVar("T")
PRINCIPALS = {name: Principal(name, SCOPES) for name in ("ann", "ben", "cleo")}
PLAN = {
    **dict.fromkeys(("cost", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total", "seed"), 0),
    "status": "feasible",
    "engine": "x",
    "assumptions": [],
    "routes": [],
    "unassigned": [],
}
STEPS = 15
JOB_ID = r"job-\d+-[a-z2-7]{26}"
TOOLS = {tool.name: tool for tool in (*REGISTRY, *APP_REGISTRY)}
ID_PARAMETERS = list(id_parameters())
who = st.sampled_from(sorted(PRINCIPALS))


class Tenants(RuleBasedStateMachine):
    """What each principal made, and everything they may try with it."""

    loop: ClassVar[asyncio.AbstractEventLoop]
    store: ClassVar[RedisStore]
    feed: ClassVar[EventFeed]
    config: ClassVar[Settings]
    tried: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.run(self.store.redis.flushdb())
        self.job_service = JobService(self.store, self.feed, settings=self.config)
        self.webhooks = RedisWebhookStore(self.store.script_client, self.config)
        self.sessions = Sessions(SessionStore(self.store.redis))
        self.made: list[tuple[str, str, str]] = []
        """Owner, kind, id."""
        self.run(self.store.register("w", 64))

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(step)

    def call(self, name: str, tool: str, args: dict[str, Any]) -> ToolResult | ErrorResult:
        """Call a tool as a principal; nothing of another's may be in the answer, whatever it is."""

        context = tool_context(self.store, self.job_service, self.config, PRINCIPALS[name])
        result = self.run(dispatch(TOOLS[tool], context, args))
        answered = json.dumps(result.structured) + result.text + "".join(link.uri for link in result.links)
        assert not [one for owner, _kind, one in self.made if owner != name and one[-26:] in answered], (name, tool)
        if not result.is_error:
            jobs = {(name, "job", one) for one in re.findall(JOB_ID, json.dumps(result.structured))}
            self.made.extend(sorted(jobs - set(self.made)))
        return result

    def own(self, name: str) -> Ids:
        """Return the newest of each kind that a principal made, or something unknown."""
        found = {kind: unknown(kind, {"delivery": "dlv-0-" + "a" * 26}) for kind in ("scenario", "job", "plan")}
        found["delivery"] = unknown("delivery", {"delivery": "dlv-0-" + "a" * 26})
        return found | {kind: one for owner, kind, one in self.made if owner == name and kind in found}

    # ---- what principals do

    @rule(name=who)
    def create(self, name: str) -> None:
        created = self.call(name, "create_scenario", SMALLEST)
        self.made.append((name, "scenario", created.structured["scenario_id"]))

    @rule(name=who, key=st.sampled_from([None, "same"]))
    def solve(self, name: str, key: str | None) -> None:
        args = {"scenario_id": self.own(name)["scenario"], "solve_time": "PT1S"}
        self.call(name, "solve_vrp", args | ({"idempotency_key": key} if key else {}))

    @rule()
    def work(self) -> None:
        """A worker finishes the next job."""
        claim = self.run(self.store.claim("w", 0))
        if claim is not None:
            assert claim.job.principal == claim.scenario.principal
            self.run(self.store.complete(claim, Progress(), PLAN))
            self.made.append((claim.job.principal, "plan", plan_of(claim.job.id)))

    @rule(name=who)
    def hook(self, name: str) -> None:
        delivery = self.run(self.webhooks.send_test(name, "https://planner.invalid/hook"))
        self.made.append((name, "delivery", delivery.id))

    @rule(name=who)
    def open_session(self, name: str) -> None:
        session = self.run(self.sessions.open(name, "2025-11-25", {}))
        self.made.append((name, "session", session.id))

    # ---- what they try

    @precondition(lambda self: self.made)
    @rule(name=who, data=st.data())
    def try_somebodys(self, name: str, data: st.DataObject) -> None:
        """Whatever is given to whatever parameter: one's own is served, another's is as unknown as nothing."""
        owner, kind, one = data.draw(st.sampled_from(self.made))
        if kind == "session":
            self.try_session(name, owner, one)
            return
        fitting = [(tool, parameter) for tool, parameter in ID_PARAMETERS if kind_of(parameter) == kind]
        tool, parameter = data.draw(st.sampled_from(fitting))
        other = unknown(kind, {"delivery": one})
        calls = zip(
            arguments(tool, parameter, one, self.own(name)),
            arguments(tool, parameter, other, self.own(name)),
            strict=True,
        )
        for given, absent in calls:
            if owner == name:
                self.call(name, tool.name, given)
                continue
            type(self).tried += 1
            answers = [self.call(name, tool.name, each) for each in (given, absent)]
            assert answers[0].structured == answers[1].structured, (tool.name, parameter)
            assert answers[0].text == answers[1].text

    def try_session(self, name: str, owner: str, session_id: str) -> None:
        try:
            found = self.run(self.sessions.find(session_id, name))
        except UnknownSessionError:
            assert owner != name
        else:
            assert owner == name == found.principal

    @rule(name=who)
    def look_around(self, name: str) -> None:
        """Lists and events hold what is one's own, and all of it."""
        jobs, total = self.run(self.job_service.jobs(PRINCIPALS[name], count=100))
        mine = {one for owner, kind, one in self.made if owner == name and kind == "job"}
        assert ({job.id for job in jobs}, total) == (mine, len(mine))
        assert all(job.principal == name for job in jobs)
        for tool in REGISTRY:
            if not re.search("_id", str(tool.input_schema.get("required", ()))) and tool.name != "create_scenario":
                self.call(name, tool.name, {})


def histories(count: int, url: str) -> None:
    """Play so many histories."""

    async def opened() -> tuple[Any, RedisStore, EventFeed]:
        context = connect(Tenants.config)
        store = await context.__aenter__()
        return context, store, EventFeed(store)

    Tenants.loop, Tenants.config, Tenants.tried = asyncio.new_event_loop(), Settings(redis_url=url), 0
    context, Tenants.store, Tenants.feed = Tenants.loop.run_until_complete(opened())
    profile = settings(max_examples=count, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck))
    try:
        run_state_machine_as_test(Tenants, settings=profile)
    finally:
        Tenants.loop.run_until_complete(Tenants.store.redis.flushdb())
        Tenants.loop.run_until_complete(Tenants.feed.aclose())
        Tenants.loop.run_until_complete(context.__aexit__(None, None, None))
        Tenants.loop.close()
    print(f"{count} histories, {Tenants.tried} tries at another's")  # noqa: T201


def test_ten_histories_leak_nothing(database_url: str) -> None:
    """SPEC A2: the quick version."""
    histories(10, database_url)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_thousand_histories_leak_nothing(database_url: str) -> None:
    """SPEC A2: 1,000 random histories of three principals, 0 leaks."""
    histories(1000, database_url)
