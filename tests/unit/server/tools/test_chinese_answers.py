"""A whole day in Chinese: no answer of a tool, no resource and no prompt has an English sentence (SPEC T11)."""

import csv
import io
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from planner_mcp.errors import EngineCrashedError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.routing.analysis.cost_bound import LowerBound
from planner_mcp.routing.analysis.pareto_front import FrontPoint
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.resources.resource_catalogue import read_contents
from planner_mcp.server.tools.answers.pareto_table import pareto_lines, pareto_table
from planner_mcp.server.tools.answers.plan_pages import VIEWS
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolContext, ToolResult
from planner_mcp.server.tools.tool_registry import ADDRESS_REGISTRY, dispatch
from planner_mcp.settings import Settings
from planner_mcp.translation import translated_line, use_language
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import Call, finish
from tests.unit.server.tools.conftest import TOOLS
from tests.unit.server.tools.discovery.test_read_resource import reading

pytestmark = pytest.mark.anyio
SENTENCE = re.compile(r"(?<![\w./:-])[A-Za-z][a-z']*(?:,? [A-Za-z]?[a-z']+){2,}(?![\w/:-])")
"""Three or more words in a row that are no id, code, field name or unit."""
DAY = body(
    [agent("v", shift_end=20), agent("w", shift_end=20)],
    [ticket("a"), ticket("b", "B"), ticket("c", "C", time_windows=[[3, 9]])],
)
WHY = EngineCrashedError().as_json("t")
"""Why a job failed, as a worker writes it."""
UNKNOWN = "job-0-" + "a" * 26
WRONG: tuple[Any, ...] = (5, "x" * 5000, None, [], {})
"""Values that no argument takes, or few."""


def _names(value: Any) -> Iterator[str]:
    """Yield the names of fields and the values of enums in a JSON Schema."""
    if isinstance(value, dict):
        yield from value.get("properties", {})
        yield from (each for each in value.get("enum", ()) if isinstance(each, str))
    for each in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from _names(each)


COLUMNS = {column for view in VIEWS.values() for column in view.columns} | {"longest_h", "difference", "saves", "gap"}
NAMES = COLUMNS.union(
    _names(Scenario.model_json_schema()),
    *(
        _names(schema)
        for tool in (*TOOLS.values(), *ADDRESS_REGISTRY)
        for schema in (tool.input_schema, tool.output_schema)
    ),
)
LISTED = re.compile(rf"(?<!\w)(?:(?:{'|'.join(sorted(map(re.escape, NAMES), key=len, reverse=True))})(?:,? |$)){{2,}}")
"""Names of fields, columns and choices one after the other."""


@pytest.fixture(autouse=True)
async def _chinese() -> AsyncIterator[None]:
    """Choose the language where the tests run: the task of their event loop, which may be older than this module."""
    use_language("zh")
    yield
    use_language("en")


@cache
def is_english(text: str) -> bool:
    """Return whether a text has a sentence in English."""
    return SENTENCE.search(LISTED.sub("", text)) is not None


def english_in(answer: ToolResult | ErrorResult) -> set[str]:
    """Return the sentences of an answer that are English: of its text, its notes, and of a refusal its words."""
    if isinstance(answer, ErrorResult):
        faults = [
            fault.get(name) or "" for fault in answer.structured["errors"] for name in ("problem", "accepted", "hint")
        ]
        texts = [answer.structured["message"], *faults]
    else:
        texts = answer.text.split("\n")
    return {text for text in texts if is_english(text)}


class Day:
    """Calls tools and keeps what is English in their answers.

    Args:
        call: Calls a tool.
        ctx: Of the call.
    """

    def __init__(self, call: Call, ctx: ToolContext) -> None:
        self._call, self.ctx = call, ctx
        self.called, self.english = set[str](), dict[str, set[str]]()

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        """Return the structured content of an answer."""
        answer = await self._call(tool, arguments, self.ctx)
        self.called.add(tool)
        if found := english_in(answer):
            self.english.setdefault(tool, set()).update(found)
        return answer.structured


async def test_counts_of_a_day_and_the_reasons_of_an_export_are_chinese(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T11: phrases too short for a sentence, and the notes of a table of stops."""
    made = await call("create_scenario", DAY)
    scenario_id = made.structured["scenario_id"]
    assert f"{scenario_id}：2 辆车，3 个工单" in made.text
    job_id = (await call("solve_vrp", {"scenario_id": scenario_id})).structured["job_id"]
    await finish(store, ["a", "b"])
    again = await call("resolve_vrp", {"warm_from": job_id, "keep_agents": True})
    new = again.structured
    head = f"{new['job_id']} QUEUED：方案 {new['scenario_id']}，起点 {plan_of(job_id)}, 保持不变的工单：2"
    assert again.text.startswith(head)
    table = str((await read_contents(ctx.reading, f"plan://{plan_of(job_id)}/stops.csv")).text)
    (left,) = (row for row in csv.DictReader(io.StringIO(table)) if row["kind"] == "unassigned")
    assert re.search("[\u4e00-\u9fff]", left["note"]) and not is_english(left["note"])


async def test_the_depot_of_an_import_has_a_chinese_name(call: Call, ctx: ToolContext) -> None:
    """SPEC T11: an import that knows its position alone makes up its id, which pages would show instead."""
    rows = {"content": "id,lat,lon\nA,39.95,116.41\n", "format": "csv", "planning_date": "2026-11-23"}
    asked = rows | {"agents": [{"id": "v", "capacity": 9}], "depot": "39.9,116.4"}
    scenario_id = (await call("import_scenario", asked, ctx)).structured["scenario_id"]
    stored = await ctx.job_service.scenario(ctx.principal, scenario_id)
    depot, place = stored.body["locations"]
    assert depot == {"id": "depot", "lat": 39.9, "lon": 116.4, "name": "车场"}
    assert "name" not in place


async def test_no_answer_of_a_day_has_an_english_sentence(
    call: Call, ctx: ToolContext, store: RedisStore, settings: Settings
) -> None:
    """SPEC T11: status lines, headings, failed jobs, notes and refusals of every tool."""
    reviewing = settings.model_copy(update={"approval": "on"})
    jobs = JobService(store, ctx.job_service._feed, settings=reviewing)
    day = Day(call, reading(replace(ctx, settings=reviewing, job_service=jobs)))
    await day("validate_scenario", scenario=DAY)
    scenario_id = (await day("create_scenario", **DAY))["scenario_id"]
    await day("validate_scenario", scenario_id=scenario_id)
    queued = (await day("solve_vrp", scenario_id=scenario_id))["job_id"]
    await day("query_vrp_status", job_id=queued)
    await day("query_vrp_status", job_id=queued, wait_s=0.1)
    await day("read_plan", job_id=queued)
    await day("read_progress", job_id=queued)
    under_way = await finish(store, ["a"], ["b"], is_end=False)
    await day("query_vrp_status", job_id=queued)
    await day("finish_vrp_job", job_id=queued)
    await day("cancel_vrp_job", job_id=queued)
    await store.settle_cancel(under_way)
    await day("cancel_vrp_job", job_id=queued)
    await day("query_vrp_status", job_id=queued)
    solved = list[str]()
    for routes in ((["a", "b"], ["c"]), (["a"],), (["c", "a", "b"],)):
        job_id = (await day("solve_vrp", scenario_id=scenario_id, fresh=True))["job_id"]
        while (await finish(store, *routes, bound=0.9)).job.id != job_id:
            pass
        solved.append(job_id)
    job_id, _partial, third = solved
    plans = [plan_of(each) for each in solved]
    for each in solved:
        await day("query_vrp_status", job_id=each)
        for view in ("summary", "routes", "visits", "unassigned"):
            await day("read_plan", job_id=each, view=view)
        await day("read_progress", job_id=each)
        await day("explain_unassigned", plan=each)
        await day("explain_unassigned", plan=each, ticket_ids=["b"])
        await day("suggest_fixes", plan=each)
        await day("read_view", job_id=each)
    await day("read_plan", job_id=job_id, view="routes", agent_ids=["w", "nobody"], fields=["nothing"])
    failed = (await day("solve_vrp", scenario_id=scenario_id, fresh=True, seed=5))["job_id"]
    while (claim := await store.claim("w1", 1.0)) is not None:
        await store.fail(claim, WHY)
        if claim.job.id == failed:
            break
    shown = (await day("query_vrp_status", job_id=failed))["error"]
    assert shown == {**WHY, "message": "求解进程已崩溃。"}
    await day("read_plan", job_id=failed)
    await day("read_progress", job_id=failed)
    await day("revise_scenario", scenario_id=scenario_id, patch={"tickets": {"a": None, "b": {"demand": 2}}})
    await day("revise_scenario", scenario_id=scenario_id, patch={})
    await day("revise_scenario", scenario_id=scenario_id, patch={"agents": {"V": {"shift_end": 9}}})
    await day("revise_scenario", scenario_id=scenario_id, patch={"agents": {"V": {"capacity": 9}}})
    await day("resolve_vrp", warm_from=job_id, patch={"tickets": {"a": None}})
    await day("resolve_vrp", warm_from=job_id, absent=["v"])
    await day("solve_alternatives", plan=job_id, k=3)
    await day("solve_alternatives", plan=job_id, front="agents")
    await day("prove_plan", plan=job_id)
    await day("weigh_plans", plans=plans)
    await day("compare_plans", plan_a=plans[0], plan_b=plans[1])
    await day("compare_plans", plan_a=plans[0], plan_b=plans[0])
    await day("what_if", plan=job_id, cases={"x": {"patch": {"tickets": {"a": {"demand": 2}}}}}, wait_s=0)
    await day("plan_day", scenario_id=scenario_id, wait_s=0)
    await day("plan_day", scenario=DAY, wait_s=0)
    await day("import_scenario", content="id,lat,lon,demand\nA,52.5,13.4,1\n", format="csv", planning_date="2026-11-23")
    await day("import_scenario", content="id;wo\nA;x\n", format="csv")
    for tool in ("propose_plan", "review_plan", "publish_plan"):
        await day("publish_plan", job_id=job_id)
        await day(tool, job_id=job_id, **({"decision": "approve"} if tool == "review_plan" else {}))
        await day("query_vrp_status", job_id=job_id)
    await day("propose_plan", job_id=third)
    await day("review_plan", job_id=third, decision="reject")
    await day("review_plan", job_id=third, decision="reject", reason="x")
    await day("share_plan", job_id=job_id)
    await day("share_plan", job_id=job_id, revoke=True)
    for status in (None, "QUEUED", "PROPOSED", "FAILED"):
        await day("list_jobs", **({"status": status} if status else {}))
    await day("list_scenarios")
    await day("read_resource", uri=f"plan://{plans[0]}/stops.csv")
    await day("read_resource", uri=f"scenario://{scenario_id}", offset=10)
    await day("read_resource", uri="limits://vrp")
    await day("read_resource", uri="nowhere://x")
    await day("webhook_secret")
    await day("webhook_secret")  # shown before
    await day("webhook_deliveries")
    await day("enable_toolset", toolset="planning")
    for tool, known in TOOLS.items():
        properties = known.input_schema["properties"]
        names = [name for name in ("job_id", "plan", "warm_from", "scenario_id", "plan_a") if name in properties]
        await day(tool, **dict.fromkeys(names[:1], UNKNOWN))
        await day(tool)
        await day(tool, surplus=1)
        for wrong in WRONG:
            await day(tool, **dict.fromkeys(properties, wrong))
    assert day.called == set(TOOLS)
    assert day.english == {}


async def test_the_lines_of_a_front_are_chinese() -> None:
    """SPEC T11, T5: what is on it, beaten, not compared and proved."""
    points = [FrontPoint("base", 9, 2), FrontPoint("agents 1", 9, 3), FrontPoint("agents 10", 1, 1, penalty=5)]
    front = pareto_table("agents", points, {"base": UNKNOWN}, bound=LowerBound(5.5, 1), least=1)
    lines = [translated_line(line) for line in pareto_lines(front)]
    assert "agents 10 不参与比较：它未安排的工单更多" in lines
    assert [line for line in lines if is_english(line) or not re.search(r"[\u4e00-\u9fff]", line)] == [
        f"base {UNKNOWN} 9 2 {front.rows[0][4]}"
    ]


async def test_no_resource_and_no_prompt_has_an_english_sentence(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T11, R1: what is said of a job and a plan, and the texts of prompts."""
    day = Day(call, ctx)
    scenario_id = (await day("create_scenario", **DAY))["scenario_id"]
    job_id = (await day("solve_vrp", scenario_id=scenario_id))["job_id"]
    await finish(store, ["a"])
    assert day.ctx.reading is not None
    english = dict[str, set[str]]()
    for uri in (f"plan://{plan_of(job_id)}", f"job://{job_id}", f"scenario://{scenario_id}", "limits://vrp"):
        content = json.loads(str((await read_contents(day.ctx.reading, uri)).text))
        if found := {text for text in _texts(content) if is_english(text)}:
            english[uri.partition(":")[0]] = found
    for prompt in PROMPTS:
        given = {argument.name: "x" for argument in prompt.arguments}
        if found := {line for line in prompt.text(given, "zh").split("\n") if is_english(line)}:
            english[prompt.name] = found
    assert english == {}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from _texts(each)


async def test_no_answer_about_addresses_has_an_english_sentence(ctx: ToolContext, store: RedisStore) -> None:
    """SPEC T11, O4: tables, open addresses, confirmations, positions, and refusals."""
    tools = {tool.name: tool for tool in ADDRESS_REGISTRY}

    async def call_address(name: str, args: Any, context: ToolContext) -> ToolResult | ErrorResult:
        return await dispatch(tools[name], context, args)

    day = Day(call_address, ctx)
    await day(
        "resolve_addresses",
        addresses=["鼓楼区中山路1号", "朝阳区建国路88号", "nowhere at all", "Marienplatz 1, 80331 München"],
    )
    for count in (30, 101):
        await day("resolve_addresses", addresses=["朝阳区建国路88号"] * count)
    await day("resolve_addresses", addresses=["x" * 301, ""])
    await day("confirm_address", address="朝阳区建国路88号", choice=3)
    await day("confirm_address", address="朝阳区建国路88号", lat=39.9, lon=116.4)
    await day("confirm_address", address="nowhere at all")
    await day("confirm_address", address="x", lat=1)
    await day("reverse_address", lat=39.9, lon=116.4)
    await day("reverse_address", lat=0.0, lon=0.0)
    for tool in tools:
        await day(tool)
        await day(tool, surplus=1)
    assert day.called >= {"resolve_addresses", "confirm_address", "reverse_address"}
    assert day.english == {}
