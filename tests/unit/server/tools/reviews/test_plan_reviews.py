"""People review plans by tools: who may, what they are told, and what of a plan leaves the planner (SPEC A5)."""

import csv
import io
import json
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import numpy as np
import pytest

import manifest
from manifest import resource_schemas
from planner_mcp.formats.stop_tables import DRAFT_MARK
from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.plan_review import PlanReview, ReviewState
from planner_mcp.jobs.principals import APPROVE, READ, SCOPES, WRITE, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.resources.resource_catalogue import TEMPLATES, read_contents
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.jobs import list_jobs
from planner_mcp.server.tools.plans import compare_plans
from planner_mcp.server.tools.scenarios import list_scenarios
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolContext
from planner_mcp.server.tools.tool_registry import shown_tools
from planner_mcp.settings import Settings
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import Call, created, finish, revised, solved
from tests.unit.server.tools.discovery.test_read_resource import reading
from tests.unit.server.tools.test_masked_scenarios import DAY

pytestmark = pytest.mark.anyio
ANN = Principal("ann", SCOPES - {APPROVE}, group="acme")
BEN = Principal("ben", SCOPES, group="acme")
EVE = Principal("eve", frozenset({READ, WRITE, APPROVE}), group="acme")
"""She approves, and sees days masked."""
REASON = "Frau Ada Krüger fährt heute nicht"


@pytest.fixture
def here(ctx: ToolContext, store: RedisStore, feed: EventFeed, settings: Settings) -> ToolContext:
    """The context of a call by ann where another principal must approve."""
    strict = settings.model_copy(update={"approval": "four_eyes"})
    return reading(replace(ctx, settings=strict, job_service=JobService(store, feed, settings=strict)), ANN)


def of(here: ToolContext, principal: Principal) -> ToolContext:
    """Return the context of a call by somebody else."""
    return reading(here, principal)


async def test_the_tools_are_offered_where_plans_are_reviewed(settings: Settings, call: Call) -> None:
    """SPEC A5: off by default, one setting; a job then says nothing of reviews."""
    names = {"propose_plan", "review_plan", "publish_plan"}
    assert not names & {tool.name for tool in shown_tools(settings, "all")}
    for mode in ("on", "four_eyes"):
        shown = shown_tools(settings.model_copy(update={"approval": mode}), "all")
        assert names <= {tool.name for tool in shown}
    refused = await call("propose_plan", {"job_id": "job-0-" + "a" * 26})
    assert refused.structured["type"] == "JobRefused"


async def test_a_plan_is_proposed_approved_and_published(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A5: four eyes; each state is told by the job too."""
    as_ann = partial(call, context=here)
    job_id = await solved(as_ann, store, await created(as_ann), ["a", "b"], ["c"])
    assert (await as_ann("query_vrp_status", {"job_id": job_id})).structured["review"] == {"state": "draft"}
    proposed = await as_ann("propose_plan", {"job_id": plan_of(job_id)})
    assert proposed.structured["review"]["state"] == "proposed"
    refused = await call("review_plan", {"job_id": job_id, "decision": "approve"}, here)
    assert refused.structured["type"] == "InsufficientScope"
    both = of(here, replace(ANN, scopes=SCOPES))
    refused = await call("review_plan", {"job_id": job_id, "decision": "approve"}, both)
    assert refused.structured["type"] == "FourEyes"
    early = await as_ann("publish_plan", {"job_id": job_id})
    assert (early.structured["type"], early.structured["errors"][0]["accepted"]) == (
        "IllegalTransition",
        "propose_plan or review_plan decision=approve or review_plan decision=reject",
    )
    approved = await call("review_plan", {"job_id": job_id, "decision": "approve"}, of(here, BEN))
    assert approved.structured["review"]["state"] == "approved"
    published = await as_ann("publish_plan", {"job_id": job_id})
    assert published.structured["review"]["state"] == "published"
    seen = await as_ann("query_vrp_status", {"job_id": job_id})
    assert seen.structured["review"] == published.structured["review"]
    assert "review: published" in seen.text


async def test_a_rejection_needs_a_reason(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A5, T7: it is told to whoever looks at the job."""
    as_ann = partial(call, context=here)
    job_id = await solved(as_ann, store, await created(as_ann), ["a", "b"], ["c"])
    await as_ann("propose_plan", {"job_id": job_id})
    for given in ({}, {"reason": " "}):
        refused = await call("review_plan", {"job_id": job_id, "decision": "reject", **given}, of(here, BEN))
        assert [fault["path"] for fault in refused.structured["errors"]] == ["/reason"]
    await call("review_plan", {"job_id": job_id, "decision": "reject", "reason": REASON}, of(here, BEN))
    assert REASON in (await as_ann("query_vrp_status", {"job_id": job_id})).text


async def test_a_reviewer_sees_what_was_proposed_and_no_more(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A2, R3: unknown before, read only after, masked without the scope for names; never by another group."""
    as_ann, eve = partial(call, context=here), of(here, EVE)
    scenario_id = await created(as_ann, DAY)
    job_id = await solved(as_ann, store, scenario_id, ["t-1"])
    reads: list[tuple[str, dict[str, Any]]] = [
        ("query_vrp_status", {"job_id": job_id}),
        ("read_plan", {"job_id": job_id, "view": "visits"}),
        ("read_resource", {"uri": f"scenario://{scenario_id}"}),
        ("read_resource", {"uri": f"plan://{plan_of(job_id)}/sheets.html"}),
    ]
    for tool, args in reads:
        assert (await call(tool, args, eve)).structured["type"] == "NotFound"
    await as_ann("propose_plan", {"job_id": job_id})
    for tool, args in reads:
        seen = await call(tool, args, eve)
        assert not isinstance(seen, ErrorResult), seen.text
        assert "Ada" not in json.dumps(seen.structured) + seen.text
        stranger = of(here, replace(BEN, id="zed", group="other"))
        assert (await call(tool, args, stranger)).structured["type"] == "NotFound"
        reader = of(here, replace(EVE, scopes=frozenset({READ, WRITE})))
        assert (await call(tool, args, reader)).structured["type"] == "NotFound"
    assert eve.reading is not None
    assert "Ada" not in str((await read_contents(eve.reading, f"plan://{plan_of(job_id)}/sheets.html")).text)
    for tool, changing in (
        ("cancel_vrp_job", {"job_id": job_id}),
        ("publish_plan", {"job_id": job_id}),
        ("propose_plan", {"job_id": job_id}),
        ("solve_vrp", {"scenario_id": scenario_id}),
    ):
        assert (await call(tool, changing, eve)).structured["type"] == "NotFound", tool
    await call("review_plan", {"job_id": job_id, "decision": "reject", "reason": REASON}, of(here, BEN))
    assert "Krüger" not in (await call("query_vrp_status", {"job_id": job_id}, eve)).text
    events = await here.job_service.history(EVE, job_id)
    assert events[-1].data.review == PlanReview(ReviewState.REJECTED)


async def test_each_reader_sees_the_steps_that_it_may_take(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A5: of four eyes the owner's decide nothing, and a reviewer neither proposes nor publishes."""
    as_ann = partial(call, context=here)
    job_id = await solved(as_ann, store, await created(as_ann), ["a", "b"], ["c"])
    owner = replace(ANN, scopes=SCOPES)

    async def reported(principal: Principal) -> tuple[list[str], bool]:
        context = of(here, principal)
        assert context.reading is not None
        body = json.loads(str((await read_contents(context.reading, f"job://{job_id}")).text))
        shown = (await call("read_view", {"job_id": job_id, "parts": []}, context)).structured["job"]
        assert (shown["review"], shown["is_own"]) == (body["review"], body["is_own"])
        return body["review"]["steps"], body["is_own"]

    assert await reported(owner) == (["propose"], True)
    await as_ann("propose_plan", {"job_id": job_id})
    assert await reported(owner) == (["propose"], True)
    assert await reported(BEN) == (["approve", "reject"], False)
    await call("review_plan", {"job_id": job_id, "decision": "approve"}, of(here, BEN))
    assert (await reported(owner), await reported(BEN)) == ((["publish"], True), ([], False))
    assert await reported(replace(owner, scopes=frozenset({READ}))) == ([], True)


async def with_approved_plan(call: Call, here: ToolContext, store: RedisStore) -> tuple[str, str]:
    """Return a scenario of Ann and a job whose plan of it Ben has approved."""
    as_ann = partial(call, context=here)
    scenario_id = await created(as_ann)
    first = await solved(as_ann, store, scenario_id, ["a", "b"], ["c"])
    await as_ann("propose_plan", {"job_id": first})
    await call("review_plan", {"job_id": first, "decision": "approve"}, of(here, BEN))
    return scenario_id, first


async def test_a_plan_that_follows_an_approved_one_starts_from_it(
    call: Call, here: ToolContext, store: RedisStore
) -> None:
    """SPEC A5: re-solving starts from the approved plan, and the difference is told before the new one may hold."""
    as_ann = partial(call, context=here)
    scenario_id, first = await with_approved_plan(call, here, store)
    draft = await solved(as_ann, store, scenario_id, ["b", "c"])
    again = await as_ann("resolve_vrp", {"warm_from": draft, "patch": {"tickets": {"a": None}}})
    assert any(plan_of(first) in note and plan_of(draft) in note for note in again.structured["notes"])
    claim = await finish(store, ["b"], ["c"])
    assert claim.job.request.warm_plan_id == plan_of(first)
    proposed = await as_ann("propose_plan", {"job_id": claim.job.id})
    assert proposed.structured["review"]["differs_from"] == plan_of(first)
    assert proposed.structured["differences"]
    seen = await call("review_plan", {"job_id": claim.job.id, "decision": "approve"}, of(here, BEN))
    assert seen.structured["differences"] == proposed.structured["differences"]


async def test_a_draft_names_the_plan_that_its_changes_would_start_from(
    call: Call, here: ToolContext, store: RedisStore
) -> None:
    """SPEC A5: before a change is asked for, as the page shows it; the approved plan itself names none."""
    scenario_id, first = await with_approved_plan(call, here, store)
    draft = await solved(partial(call, context=here), store, scenario_id, ["b", "c"])
    assert here.reading is not None
    bodies = [json.loads(str((await read_contents(here.reading, f"job://{job_id}")).text)) for job_id in (draft, first)]
    assert [body.get("approved_plan") for body in bodies] == [plan_of(first), None]


async def test_a_draft_of_the_day_before_a_change_says_that_the_change_is_not_planned(
    call: Call, here: ToolContext, store: RedisStore
) -> None:
    """SPEC A5: the start is the approved plan, the day that of the draft, without what was changed for the approval."""
    as_ann = partial(call, context=here)
    scenario_id = await created(as_ann)
    draft = await solved(as_ann, store, scenario_id, ["a", "b", "c"])
    later = await revised(as_ann, store, draft, {"tickets": {"c": {"time_windows": [[3, 8]]}}}, ["a", "b"], ["c"])
    changed_id = (await here.job_service.job(here.principal, later)).request.scenario_id
    await as_ann("propose_plan", {"job_id": later})
    await call("review_plan", {"job_id": later, "decision": "approve"}, of(here, BEN))
    sentence = f"The day is {scenario_id}, without the changes of {changed_id}, whose plan is approved."
    again = await as_ann("resolve_vrp", {"warm_from": draft})
    assert sentence in again.structured["notes"]
    named = await as_ann("resolve_vrp", {"warm_from": draft, "scenario_id": changed_id})
    assert "without the changes" not in named.text


async def test_a_reviewer_sees_costs_by_the_matrices_of_the_owner(
    call: Call, here: ToolContext, store: RedisStore
) -> None:
    """SPEC A5, S1: what a plan saves and how good it can get, as its owner is told; the tables are the owner's."""
    as_ann, ben = partial(call, context=here), of(here, BEN)
    seconds = TravelMatrices(tuple("DAB"), durations=np.array([[0, 60, 90], [60, 0, 30], [90, 30, 0]], dtype=float))
    name = await here.job_service.matrices.keep(ANN.id, seconds)
    places = [{"id": place} for place in "DAB"]
    day = body([agent("v")], [ticket("a"), ticket("b", "B")], locations=places, travel={"matrix": name})
    scenario_id = await created(as_ann, day)
    first = (await as_ann("solve_vrp", {"scenario_id": scenario_id})).structured["job_id"]
    await finish(store, ["a", "b"], travel_matrices=seconds)
    await as_ann("propose_plan", {"job_id": first})
    await call("review_plan", {"job_id": first, "decision": "approve"}, ben)
    changed = {"warm_from": first, "patch": {"tickets": {"b": {"demand": 2}}}}
    second = (await as_ann("resolve_vrp", changed)).structured["job_id"]
    await finish(store, ["b", "a"], travel_matrices=seconds)
    await as_ann("propose_plan", {"job_id": second})
    for tool, asked, figure in (
        ("compare_plans", {"plan_a": first, "plan_b": second}, "cost_delta"),
        ("read_progress", {"job_id": second}, "lower_bound"),
        ("validate_scenario", {"scenario_id": scenario_id}, "lower_bound"),
    ):
        seen = (await call(tool, asked, ben)).structured
        assert seen[figure] is not None
        assert seen == (await as_ann(tool, asked)).structured


async def test_a_step_is_answered_though_the_day_of_the_approved_plan_has_expired(
    call: Call, here: ToolContext, store: RedisStore
) -> None:
    """SPEC A5, J9: what was decided is told, without the difference that nobody can work out any more."""
    as_ann = partial(call, context=here)
    scenario_id, first = await with_approved_plan(call, here, store)
    again = await as_ann("resolve_vrp", {"warm_from": first, "patch": {"tickets": {"a": None}}})
    await finish(store, ["b"], ["c"])
    second = {"job_id": again.structured["job_id"]}
    assert (await as_ann("propose_plan", second)).structured["differences"]
    (key,) = [name async for name in store.redis.scan_iter(f"*:{scenario_id}")]
    await store.redis.delete(key)
    approved = (await call("review_plan", {**second, "decision": "approve"}, of(here, BEN))).structured
    assert (approved["review"]["state"], "differences" in approved) == ("approved", False)


async def test_exports_carry_the_approved_plan(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A5: by the day the approved plan; a draft by its own name alone, and marked in every form."""
    as_ann = partial(call, context=here)
    scenario_id = await created(as_ann, DAY)
    job_id = await solved(as_ann, store, scenario_id, ["t-1"])

    async def text(uri: str) -> str:
        assert here.reading is not None
        return str((await read_contents(here.reading, uri)).text)

    plan = f"plan://{plan_of(job_id)}"
    table = list(csv.DictReader(io.StringIO(await text(f"{plan}/stops.csv"))))
    assert table and all(row["note"] == DRAFT_MARK for row in table)
    assert json.loads(await text(f"{plan}/routes.geojson"))["review"] == "draft"
    for name in ("sheets.html", "report.html", "map.svg", "routes.gpx"):
        assert DRAFT_MARK in await text(f"{plan}/{name}"), name
    refused = await as_ann("read_resource", {"uri": f"scenario://{scenario_id}/plan/sheets.html"})
    assert refused.structured["type"] == "NotFound"
    await as_ann("propose_plan", {"job_id": job_id})
    await call("review_plan", {"job_id": job_id, "decision": "approve"}, of(here, BEN))
    newer = await solved(as_ann, store, scenario_id, [])
    for name in ("stops.csv", "routes.geojson", "sheets.html", "report.html", "map.svg", "routes.gpx"):
        approved = await text(f"scenario://{scenario_id}/plan/{name}")
        assert approved == await text(f"{plan}/{name}")
        assert DRAFT_MARK not in approved
        assert "draft" not in approved
    assert DRAFT_MARK in await text(f"plan://{plan_of(newer)}/sheets.html")
    absent = await as_ann("read_resource", {"uri": f"scenario://{scenario_id}/plan/secrets.html"})
    assert absent.structured["type"] == "NotFound"


async def test_a_day_without_reviews_exports_its_newest_plan(call: Call, store: RedisStore) -> None:
    """SPEC A5: nothing is marked where reviews are off."""
    scenario_id = await created(call, DAY)
    await solved(call, store, scenario_id, ["t-1"])
    shown = await call("read_resource", {"uri": f"scenario://{scenario_id}/plan/stops.csv"})
    assert "t-1" in shown.structured["text"]
    assert DRAFT_MARK not in shown.structured["text"]


async def test_the_user_of_a_client_decides(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A5, T7: the model suggests, a person who sees the figures decides, and without an answer nobody does."""
    as_ann = partial(call, context=here)
    job_id = await solved(as_ann, store, await created(as_ann), ["a", "b"], ["c"])
    questions: list[tuple[str, dict[str, Any]]] = []
    answer: dict[str, Any] = {}

    async def ask(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        questions.append((message, schema))
        return answer

    asking = replace(of(here, BEN), ask_user=ask)
    approve = {"job_id": job_id, "decision": "approve"}
    assert (await call("review_plan", approve, asking)).structured["type"] == "NotFound"
    await as_ann("propose_plan", {"job_id": job_id})
    assert (await call("review_plan", approve, asking)).structured["type"] == "MissingParameter"
    (message, schema), *_ = questions
    assert plan_of(job_id) in message
    assert "tickets_served 3" in message
    assert schema["properties"]["decision"]["default"] == "approve"
    answer |= {"decision": "reject", "reason": REASON}
    rejected = await call("review_plan", approve, asking)
    assert rejected.structured["review"]["state"] == "rejected"
    assert (await call("review_plan", approve, asking)).structured["type"] == "IllegalTransition"
    assert len(questions) == 2, "nobody is asked where nothing can be decided"


async def test_the_two_plans_are_compared_once_for_a_question_and_its_answer(
    call: Call, here: ToolContext, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: what a person was told is what the answer tells."""
    as_ann = partial(call, context=here)
    scenario_id = await created(as_ann)
    for tours in ((["a", "b"], ["c"]), (["b", "c"],)):
        job_id = await solved(as_ann, store, scenario_id, *tours)
        await as_ann("propose_plan", {"job_id": job_id})
        if len(tours) == 2:
            await call("review_plan", {"job_id": job_id, "decision": "approve"}, of(here, BEN))
    compared: list[dict[str, Any]] = []
    run = compare_plans.run

    async def counted(ctx: ToolContext, args: dict[str, Any]) -> Any:
        compared.append(args)
        return await run(ctx, args)

    async def ask(message: str, _schema: dict[str, Any]) -> dict[str, Any]:
        return {"decision": "approve", "reason": message[:500]}

    monkeypatch.setattr(compare_plans, "run", counted)
    approved = await call("review_plan", {"job_id": job_id}, replace(of(here, BEN), ask_user=ask))
    assert approved.structured["differences"]
    assert len(compared) == 1


async def test_the_schema_of_a_resource_has_every_field_of_it(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC M1, O5: clients made from the document read what a reviewer is told; a list has the same fields by REST."""
    as_ann, ben = partial(call, context=here), of(here, BEN)
    scenario_id = await created(as_ann)
    job_id = await solved(as_ann, store, scenario_id, ["a", "b"], ["c"])
    await as_ann("propose_plan", {"job_id": job_id})
    assert ben.reading is not None
    known = {template.metadata.name: template.metadata for template in TEMPLATES}
    for name, uri in (
        ("scenario", f"scenario://{scenario_id}"),
        ("job", f"job://{job_id}"),
        ("jobs", "jobs://vrp/status/PROPOSED?page=1&size=20"),
    ):
        answer = json.loads(str((await read_contents(ben.reading, uri)).text))
        schema = resource_schemas.described(known[name])["schema"]
        assert answer.keys() <= fields_of(schema), name
    assert answer["jobs"][0].keys() <= fields_of(schema["properties"]["jobs"]["items"])
    document = manifest.read(manifest.OPENAPI_PATH)["components"]["schemas"]
    for tool, listed in ((list_jobs, "JobList"), (list_scenarios, "ScenarioList")):
        assert set(tool.COLUMNS) == document[listed]["properties"]["items"]["items"]["properties"].keys()


def fields_of(schema: dict[str, Any]) -> set[str]:
    """Return the fields that a schema names, of jobs those of every answer about one."""
    parts = [JobOutput.model_json_schema() if "$ref" in part else part for part in schema.get("allOf", [schema])]
    return {name for part in parts for name in part["properties"]}


async def test_what_waits_for_review_is_listed_to_who_decides(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A2, A5: to reviewers of the group and to its owner; not to others, and not after the decision."""
    as_ann, ben, eve = partial(call, context=here), of(here, BEN), of(here, EVE)
    job_ids = []
    for _ in range(3):
        scenario_id = await created(as_ann, DAY)
        job_ids.append(await solved(as_ann, store, scenario_id, ["t-1"]))
        await as_ann("propose_plan", {"job_id": job_ids[-1]})

    async def listed(context: ToolContext) -> list[str]:
        found = (await call("list_jobs", {"status": "PROPOSED"}, context)).structured
        assert context.reading is not None
        read_too = json.loads(
            str((await read_contents(context.reading, "jobs://vrp/status/PROPOSED?page=1&size=20")).text)
        )
        assert [job["job_id"] for job in read_too["jobs"]] == [row[0] for row in found["rows"]]
        assert read_too["total"] == found["total"]
        return [row[0] for row in found["rows"]]

    newest_first = list(reversed(job_ids))
    for context in (here, ben, eve):
        assert await listed(context) == newest_first
    for stranger in (replace(BEN, id="zed", group="other"), replace(EVE, id="kim", scopes=frozenset({READ, WRITE}))):
        assert await listed(of(here, stranger)) == []
    await call("review_plan", {"job_id": job_ids[0], "decision": "approve"}, ben)
    await call("review_plan", {"job_id": job_ids[1], "decision": "reject", "reason": "late"}, ben)
    for context in (here, ben):
        assert await listed(context) == newest_first[:1]
    await as_ann("propose_plan", {"job_id": job_ids[1]})
    assert await listed(ben) == newest_first[:2]


async def test_steps_of_a_review_are_sent_live(call: Call, here: ToolContext, store: RedisStore) -> None:
    """SPEC A5, J2: to the owner and to reviewers of the group, masked as ever, to nobody else; a channel goes on."""
    as_ann = partial(call, context=here)
    job_id = await solved(as_ann, store, await created(as_ann, DAY), ["t-1"])
    jobs, zed = here.job_service, replace(BEN, id="zed", group="other")
    with anyio.fail_after(10):
        async with (
            aclosing(jobs.follow_all(ANN)) as own,
            aclosing(jobs.follow_all(EVE)) as eves,
            aclosing(jobs.follow_all(zed)) as zeds,
            aclosing(jobs.follow_all(BEN)) as bens,
        ):
            streams = (own, eves, zeds, bens)
            for stream in streams:
                assert (await anext(stream)).is_start
            await as_ann("propose_plan", {"job_id": job_id})
            reject = {"job_id": job_id, "decision": "reject", "reason": REASON}
            await call("review_plan", reject, of(here, BEN))
            for stream in (own, eves, bens):
                events = [step.event for step in [await anext(stream), await anext(stream)]]
                assert [event and event.kind for event in events] == ["plan.proposed", "plan.rejected"]
                assert events[1] is not None
                assert (REASON in str(events[1].data)) == (stream is not eves)
            zed_ctx = of(here, zed)
            other = await solved(partial(call, context=zed_ctx), store, await created(partial(call, context=zed_ctx)))
            assert (await anext(zeds)).event.job_id == other  # type: ignore[union-attr]
        async with aclosing(jobs.follow(ANN, job_id, with_reviews=True)) as channel:
            kinds = [(await anext(channel)).kind.value for _ in range(5)]
            assert kinds[-2:] == ["plan.proposed", "plan.rejected"]
            await as_ann("propose_plan", {"job_id": job_id})
            await call("review_plan", {"job_id": job_id, "decision": "approve"}, of(here, BEN))
            await as_ann("publish_plan", {"job_id": job_id})
            rest = [event.kind.value async for event in channel]
        assert rest == ["plan.proposed", "plan.approved", "plan.published"], "it ends with the publication"
        assert "plan.published" in [event.kind async for event in jobs.follow(ANN, job_id)]
