"""One tool function, many faces: MCP, REST and the page find the same answers, codes, masking and audit."""

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
import httpx2 as httpx
import pytest
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.jobs.principals import ADMIN, APPROVE, READ, SENSITIVE, WRITE
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.http.rest.rest_operations import OPERATIONS, RestOperation
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, REGISTRY
from planner_mcp.settings import Settings
from planner_mcp.text import Json
from tests.integration.server.auth.conftest import Key, Served
from tests.integration.server.auth.test_masked_endpoints import DAY, SECRETS
from tests.integration.server.mcp.app_replicas import replica
from tests.shared.http.http_clients import http_client
from tests.shared.http.mcp_caller import Caller
from tests.shared.scenarios.stored_plans import finish

pytestmark = pytest.mark.anyio
EntryPoint = Callable[[httpx.AsyncClient, str, str, Json], Awaitable[Json]]
"""`(client, credential, tool, arguments) → its result, or of a refusal code and places`."""
BY_NAME = {operation.tool.name: operation for operation in OPERATIONS}
TOOLS = [tool.name for tool in (*REGISTRY, *APP_REGISTRY) if tool.name != "enable_toolset"]
TABLE = {"content": "id,lat,lon,demand\nA,52.5213,13.4131,1\n", "format": "csv"}


async def by_mcp(http: httpx.AsyncClient, key: str, tool: str, arguments: Json) -> Json:
    """Call by `tools/call` of revision 2026-07-28."""
    caller = Caller(http, key)
    answer = (await caller.http.post("/mcp?toolsets=all", **_request(caller, tool, arguments))).json()
    if "result" not in answer:
        return comparable(answer)
    found = answer["result"]
    return comparable(found["structuredContent"]) if found["isError"] else found["structuredContent"]


def _request(caller: Caller, tool: str, arguments: Json) -> Json:
    params = {"name": tool, "arguments": arguments, "_meta": caller.meta}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return {"json": body, "headers": caller.headers | headers}


async def by_page(http: httpx.AsyncClient, key: str, tool: str, arguments: Json) -> Json:
    """Call by the function of the dashboard's page."""
    body = {"tool": tool, "arguments": arguments}
    answer = (await http.post("/ui/call", json=body, headers={"authorization": key})).json()
    return comparable(answer["structured"]) if answer["is_error"] else answer["structured"]


async def by_rest(http: httpx.AsyncClient, key: str, tool: str, arguments: Json) -> Json:
    """Call by the operation of a tool."""
    operation = BY_NAME[tool]
    named, rest = _named(operation, arguments)
    path = operation.path.format(**{name: named.pop(name) for name in operation.path_parameters})
    given: Json = {"params": rest} if operation.method == "GET" else {"json": rest}
    answer = await http.request(operation.method, path, headers={"authorization": key, **named}, **given)
    if answer.status_code >= 400:
        return comparable(answer.json(), dict(operation.renamed))
    body: Json = answer.json()
    if not operation.is_list:
        return body
    columns = list(body["items"][0]) if body["items"] else []
    return {"columns": columns, "rows": [list(item.values()) for item in body["items"]], "total": body["total"]}


def _named(operation: RestOperation, arguments: Json) -> tuple[Json, Any]:
    """Return what stands in path and headers, and what in query or body."""
    names = {argument: here for here, argument in {**operation.renamed, **operation.filled}.items()}
    here = {names.get(name, name): value for name, value in arguments.items()}
    outside = {name: here.pop(name) for name in operation.filled if name in here}
    if operation.body_argument:
        return outside, here.pop(operation.body_argument) | here
    return outside, here


def comparable(refusal: Json, renamed: Json | None = None) -> Json:
    """Return what a refusal says that every entry point says."""
    body = refusal.get("error", {}).get("data", refusal)
    names = {f"/{here}": f"/{there}" for here, there in (renamed or {}).items()}
    return {"code": body["code"], "places": sorted(names.get(f["path"], f["path"]) for f in body.get("errors", ()))}


LISTED = "|".join(
    (
        r"'columns': \[[^\]]*\], 'rows': \[\]",
        r"'total': \d+",
        r", 'page': 1",
        r", 'next_page': \d+",
        r", 'next_cursor': '\w+'",
        r"'queue_position': \d+",
    )
)
"""What depends on the calls before, or is told by the form of a list."""
ENTRY_POINTS: dict[str, EntryPoint] = {"mcp": by_mcp, "page": by_page, "rest": by_rest}


def plain(value: Any) -> str:
    """Return a result without ids, times and tokens, which differ from call to call."""
    text = re.sub(r"\b(scn|job|plan)-0-[a-z2-7]{26}", r"\1", repr(value))
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "time", text)
    text = re.sub(r"/(downloads|shared)/[\w.-]+", r"/\1/token", text)
    return re.sub(rf"whsec_[\w+/=]+|'position': '[^']+'|'elapsed_s': [\d.]+|{LISTED}", "", text)


async def calls(http: httpx.AsyncClient, key: str, store: RedisStore) -> dict[str, Json]:
    """Return a call of every tool that works, on a day and two jobs of its own."""
    scenario_id = (await by_page(http, key, "create_scenario", DAY))["scenario_id"]
    jobs = list[str]()
    for _ in range(2):
        jobs.append((await by_page(http, key, "solve_vrp", {"scenario_id": scenario_id, "fresh": True}))["job_id"])
        while (await finish(store, ["t1"])).job.id != jobs[-1]:
            pass  # what the calls before have queued
    job_id, other = jobs
    plans = [job.replace("job", "plan", 1) for job in jobs]
    found: dict[str, Json] = {
        "create_scenario": DAY,
        "solve_vrp": {"scenario_id": scenario_id},
        "query_vrp_status": {"job_id": job_id},
        "cancel_vrp_job": {"job_id": job_id},
        "read_plan": {"job_id": job_id, "view": "visits"},
        "plan_day": {"scenario_id": scenario_id, "wait_s": 0},
        "validate_scenario": {"scenario_id": scenario_id},
        "revise_scenario": {"scenario_id": scenario_id, "patch": {"tickets": {"t1": {"demand": 2}}}},
        "resolve_vrp": {"warm_from": job_id},
        "solve_alternatives": {"plan": job_id, "k": 1},
        "prove_plan": {"plan": job_id},
        "weigh_plans": {"plans": plans},
        "what_if": {
            "plan": job_id,
            "cases": {"t1 doubled": {"patch": {"tickets": {"t1": {"demand": 2}}}}},
            "wait_s": 0,
        },
        "compare_plans": {"plan_a": plans[0], "plan_b": plans[1]},
        "read_progress": {"job_id": job_id},
        "finish_vrp_job": {"job_id": job_id},
        "explain_unassigned": {"plan": job_id},
        "suggest_fixes": {"plan": job_id},
        "propose_plan": {"job_id": job_id},
        "review_plan": {"job_id": job_id, "decision": "approve"},
        "publish_plan": {"job_id": job_id},
        "share_plan": {"job_id": other},
        "list_jobs": {"size": 1},
        "list_scenarios": {"size": 1},
        "import_scenario": {**TABLE, "planning_date": "2026-11-23", "agents": [{"id": "v", "capacity": 9}]},
        "read_resource": {"uri": f"plan://{plans[0]}/stops.csv"},
        "webhook_secret": {},
        "webhook_deliveries": {},
        "read_view": {"job_id": job_id},
    }
    assert set(found) == set(TOOLS)
    return found


async def test_every_tool_answers_alike_at_every_endpoint(
    served: Served, key: Key, store: RedisStore, audited: Callable[[], Awaitable[list[AuditEntry]]]
) -> None:
    """SPEC O5, T7, R3, A2, A3: results, codes with their places, masking, and one line of audit a call."""
    seen: dict[str, dict[str, list[str]]] = {}
    lines: dict[str, Counter[tuple[str, str]]] = {}
    async with served(approval="on") as http:
        owner, reader = await key("ann", READ, WRITE, SENSITIVE, APPROVE), await key("ann", READ, WRITE, APPROVE)
        bob, guest = await key("bob", READ, WRITE, SENSITIVE), await key("eve", ADMIN)
        for who in (owner, bob):
            await by_page(http, who, "webhook_secret", {})  # which shows it the first time alone
        for name, call_tool in ENTRY_POINTS.items():
            tools = TOOLS if call_tool is not by_page else [each for each in TOOLS if each != "read_view"]
            good, masked = await calls(http, owner, store), await calls(http, owner, store)
            foreign = {tool: given for tool, given in good.items() if tool != "review_plan"}  # an approver's alone
            surplus = {tool: {**given, "surplus": "x"} for tool, given in good.items()}
            before = _lines(await audited())
            asked = [
                {tool: await call_tool(http, who, tool, given[tool]) for tool in tools if tool in given}
                for who, given in ((owner, good), (reader, masked), (bob, foreign), (owner, surplus))
            ]
            lines[name] = _lines(await audited()) - before
            assert [secret for secret in SECRETS if secret in repr(asked[1])] == [], name
            assert {answers["query_vrp_status"]["code"] for answers in asked[2:]} == {4003, 4004}, name
            refused = [await call_tool(http, guest, tool, good[tool]) for tool in tools]
            assert {answer["code"] for answer in refused} == {4012}, name
            seen[name] = {tool: [plain(answers.get(tool)) for answers in asked] for tool in tools}
    for name in ("page", "rest"):
        assert {tool: found for tool, found in seen[name].items() if found != seen["mcp"][tool]} == {}, name
        assert lines[name] == Counter({what: count for what, count in lines["mcp"].items() if what[0] in seen[name]})
    assert set(seen["rest"]) == set(seen["mcp"]) == set(TOOLS)  # the page of the App calls read_view by MCP


def _lines(entries: list[AuditEntry]) -> Counter[tuple[str, str]]:
    return Counter((entry.what, entry.outcome) for entry in entries if entry.what in TOOLS)


OF_NOBODY = {"create_scenario", "import_scenario", "webhook_secret", "webhook_deliveries", "confirm_address"}
"""Writing tools whose arguments name nothing that is stored."""


async def test_no_writing_tool_knows_what_a_reviewer_may_read(served: Served, key: Key, store: RedisStore) -> None:
    """SPEC A2, A5 (ADR 0041): each is refused as not found at every endpoint, and nothing is made or changed."""
    async with served(approval="on") as http:
        owner, approver = await key("ann", READ, WRITE, SENSITIVE), await key("eve", READ, WRITE, SENSITIVE, APPROVE)
        good = await calls(http, owner, store)
        job_id, scenario_id = good["share_plan"]["job_id"], good["solve_vrp"]["scenario_id"]
        first = good["query_vrp_status"]["job_id"]
        for each in (job_id, first):
            await by_mcp(http, owner, "propose_plan", {"job_id": each})
        assert (await by_mcp(http, approver, "read_plan", {"job_id": job_id, "view": "visits"}))["rows"]
        before = await _state(http, owner, approver, job_id)
        writing = [tool.name for tool in REGISTRY if tool.scope == WRITE and tool.name not in OF_NOBODY]
        assert scenario_id and {*writing} <= {*good}
        for name, call_tool in ENTRY_POINTS.items():
            found = {tool: await call_tool(http, approver, tool, good[tool]) for tool in writing}
            known = {tool: answer for tool, answer in found.items() if answer.get("code") not in (4003, 4004)}
            assert known == {}, name
        assert await _state(http, owner, approver, job_id) == before


async def _state(http: httpx.AsyncClient, owner: str, approver: str, job_id: str) -> list[Json]:
    """Return the owner's job, and how many scenarios and jobs each of two has."""
    lists = [await by_mcp(http, who, tool, {}) for who in (owner, approver) for tool in ("list_scenarios", "list_jobs")]
    return [await by_mcp(http, owner, "query_vrp_status", {"job_id": job_id}), *lists]


JOB_COMMANDS = {
    "query_vrp_status": ("status",),
    "list_jobs": ("list",),
    "cancel_vrp_job": ("cancel",),
    "finish_vrp_job": ("finish",),
}
"""Tools that `planner-mcp jobs --url` has a command for."""
FIELDS = ("job_id", "status", "progress", "result", "cancelled_at")
"""Of the views of a job; those of a list have the first three."""


async def by_command(url: str, key: str, *command: str) -> Json:
    """Run `planner-mcp jobs`; return what it prints, or of a refusal the code."""
    given = ["jobs", *command, "--url", url, "--json"]
    environment = {"PLANNER_API_KEY": key.removeprefix("Bearer ")}
    done = await anyio.to_thread.run_sync(lambda: CliRunner(env=environment).invoke(app, given))
    if done.exit_code == 0:
        return {"lines": [json.loads(line) for line in done.stdout.splitlines()]}
    refused = re.match(r"error (\d+) \w+: ", done.stderr)
    assert (done.exit_code, done.stdout, refused is not None) == (1, "", True), done.output
    return {"code": int(refused[1])} if refused else {}


async def test_commands_for_jobs_answer_as_the_tools_do(
    store: RedisStore, key: Key, settings: Settings, audited: Callable[[], Awaitable[list[AuditEntry]]]
) -> None:
    """SPEC O5, T7, A2, A3, R3: the same job, the same codes for strangers and missing scopes, masked alike, audited."""
    owner, reader = await key("ann", READ, WRITE, SENSITIVE), await key("ann", READ, WRITE)
    bob, guest = await key("bob", READ, WRITE), await key("eve", ADMIN)
    async with (
        replica(settings.redis_url or "", settings.data_dir, auth_api_keys=True) as on,
        http_client(base_url=on.url) as http,
    ):
        given = await calls(http, owner, store)
        job_id = given["query_vrp_status"]["job_id"]
        for tool, command in JOB_COMMANDS.items():
            asked = command if tool == "list_jobs" else (*command, job_id)
            for who in (owner, reader):
                shown = await by_command(on.url, who, *asked)
                own = await by_mcp(http, who, "query_vrp_status", {"job_id": job_id})
                (view,) = [each for each in shown["lines"] if each["job_id"] == job_id]
                fields = FIELDS[:3] if tool == "list_jobs" else FIELDS
                assert {name: view.get(name) for name in fields} == {name: own.get(name) for name in fields}, tool
                assert [secret for secret in SECRETS if secret in repr(shown)] == []
            refusals = [await by_command(on.url, who, *asked) for who in (bob, guest)]
            if tool == "list_jobs":
                assert refusals == [{"lines": []}, {"code": 4012}]
                continue
            for who, refused in zip((bob, guest), refusals, strict=True):
                assert refused == {"code": (await by_mcp(http, who, tool, {"job_id": job_id}))["code"]}, tool
    lines = Counter(entry.what for entry in await audited() if entry.outcome == "ok")
    assert lines["cancel_vrp_job"] == lines["finish_vrp_job"] == 2
