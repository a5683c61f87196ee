"""What belongs to one principal is to any other as if it were not there (SPEC A2)."""

import json
import re
import statistics
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from planner_mcp.jobs.ids import plan_of, random_id
from planner_mcp.jobs.store.webhooks.webhook_store import RedisWebhookStore
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.settings import Settings
from tests.shared.http.mcp_caller import TASKS, Caller, recent_dates
from tests.shared.scenarios.client_scenarios import SMALLEST, use, wait_for
from tests.shared.tools.id_parameters import Ids, arguments, id_parameters, kind_of, unknown
from tests.system.auth.conftest import Fort

pytestmark = pytest.mark.anyio
PERSON = "Wang Xiaoming"


@pytest.fixture(scope="module")
async def anns(keyed: Fort) -> Ids:
    """One of everything, made by ann."""
    return await everything(keyed, "ann")


@pytest.fixture(scope="module")
async def bens(keyed: Fort) -> Ids:
    """The same, made by ben."""
    return await everything(keyed, "ben")


async def everything(fort: Fort, name: str) -> Ids:
    """Return the ids of a scenario, a finished job, its plan and a webhook delivery of a principal."""
    async with fort.client(name) as client:
        day = SMALLEST | {"tickets": [{**SMALLEST["tickets"][0], "name": PERSON}]}
        scenario_id = (await use(client, "create_scenario", **day))["scenario_id"]
        job_id = (await use(client, "solve_vrp", scenario_id=scenario_id, solve_time="PT1S"))["job_id"]
        with anyio.fail_after(60):
            await wait_for(client, job_id, "COMPLETED")
    async with fort.store() as store:
        owner = (await store.redis.hget(f"{{p0}}:job:{job_id}", "principal")) or ""
        delivery = await RedisWebhookStore(store.script_client, Settings()).send_test(
            owner, "https://planner.invalid/hook"
        )
    return {"scenario": scenario_id, "job": job_id, "plan": plan_of(job_id), "delivery": delivery.id}


def said(answer: httpx.Response, name: str) -> tuple[int, list[tuple[str, str]], str]:
    """Return an answer without what differs by nature: the trace id, the date, the id that was asked for."""
    headers = sorted((key, value) for key, value in answer.headers.items() if key not in ("date", "mcp-session-id"))
    body = re.sub(r'\\?"traceId\\?":\s*\\?"[0-9a-f]{32}\\?"', "", answer.text)
    return answer.status_code, headers, body.replace(name, "ID")


@pytest.fixture(params=[True, False], ids=["2025-11-25", "2026-07-28"])
async def thief(keyed: Fort, request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    """Ben, in either era of MCP."""
    async with keyed.caller("ben", is_old=request.param) as caller:
        caller.extensions = (TASKS,)
        yield caller


@pytest.mark.parametrize(
    "thief",
    [pytest.param(True, id="2025-11-25", marks=pytest.mark.slow), pytest.param(False, id="2026-07-28")],
    indirect=True,
)
async def test_every_tool_answers_a_foreign_id_as_an_unknown_one(thief: Caller, anns: Ids, bens: Ids) -> None:
    """SPEC A2: byte for byte, for every parameter that takes an id; and it is a refusal."""
    seen = 0
    for tool, parameter in id_parameters():
        kind = kind_of(parameter) or ""
        other = unknown(kind, anns)
        calls = zip(arguments(tool, parameter, anns[kind], bens), arguments(tool, parameter, other, bens), strict=True)
        for foreign, absent in calls:
            answers = [await thief.call(tool.name, **each) for each in (foreign, absent, foreign)]
            # twice, as what is ben's own, such as an attempt at his delivery, may change between two calls
            shown = [said(answer, anns[kind]) for answer in answers[::2]]
            assert said(answers[1], other) in shown, (tool.name, parameter)
            assert PERSON not in answers[0].text
            seen += '"NotFound"' in answers[0].text or '\\"NotFound\\"' in answers[0].text
    assert seen >= 5, "most of these calls reach the store"


async def test_every_uri_and_handle_is_answered_alike(thief: Caller, anns: Ids) -> None:
    """SPEC A2: resources, subscriptions, listen filters, completion, tasks, the job's page and channel."""
    seen = 0
    for kind, name in anns.items():
        other = unknown(kind, anns)
        for asked in requests_of(kind):
            answers = []
            for each in (name, other):
                method, params = asked(each)
                answers.append(said(await thief.request(method, **params), each))
            assert answers[0] == answers[1], (kind, method)
            assert PERSON not in answers[0][2]
            seen += "NotFound" in answers[0][2]
    assert seen >= 6, "most of these reach the store"
    for path in ("/jobs/{}", "/jobs/{}/events"):
        names = [anns["job"], unknown("job", anns)]
        answers = [said(await thief.get(path.format(each)), each) for each in names]
        assert answers[0] == answers[1]
        assert answers[0][0] == 404


def requests_of(kind: str) -> list[Any]:
    """Return the methods of MCP that take a handle, as functions of it; those not served are answered alike too."""
    uris = {"scenario": ["scenario://{}", "scenario://{}/result"], "job": ["job://{}"], "plan": ["plan://{}"]}
    asked: list[Any] = []
    for uri in uris.get(kind, []):
        asked += [
            lambda name, uri=uri, method=method: (method, {"uri": uri.format(name)})
            for method in ("resources/read", "resources/subscribe", "resources/unsubscribe")
        ]
        asked.append(
            lambda name, uri=uri: (
                "completion/complete",
                {
                    "ref": {"type": "ref/resource", "uri": uri.format("{" + kind + "_id}")},
                    "argument": {"name": f"{kind}_id", "value": name},
                },
            )
        )
    if kind == "job":
        asked += [
            lambda name, method=method: (method, {"taskId": name})
            for method in ("tasks/get", "tasks/result", "tasks/cancel", "tasks/update")
        ]
    return asked


async def test_no_list_shows_anything_of_another(thief: Caller, anns: Ids, bens: Ids) -> None:
    """SPEC A2: whatever can be listed."""
    methods = ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list")
    texts = [(await thief.request(method)).text for method in methods]
    for tool in REGISTRY:
        if not any(kind_of(name) for name in tool.input_schema.get("required", ())):
            texts.append((await thief.call(tool.name)).text)
    assert bens["delivery"] in "".join(texts)
    for text in texts:
        assert not [name for name in (*anns.values(), PERSON) if name in text]


async def test_a_listen_filter_leaves_out_what_is_not_ones_own(keyed: Fort, anns: Ids, bens: Ids) -> None:
    """SPEC A2: revision 2026-07-28: foreign ids are left out of the acknowledgement exactly as unknown ones are."""
    async with keyed.caller("ben") as ben:
        ben.extensions = (TASKS,)
        answers = [await acknowledged(ben, each) for each in (anns, {kind: unknown(kind, anns) for kind in anns})]
        assert answers[0] == answers[1]
        assert (await acknowledged(ben, bens)).count(bens["job"]) == 3, "by URI, as a job, as a task"


async def acknowledged(caller: Caller, ids: Ids) -> str:
    """Return the first message of a stream that asks for a job in each way there is, its own id left out."""
    uris = [f"job://{ids['job']}", f"scenario://{ids['scenario']}", f"plan://{ids['plan']}"]
    asked = {"resourceSubscriptions": uris, "planner-mcp/jobs": [ids["job"]], "taskIds": [ids["job"]]}
    params = {"notifications": asked, "_meta": caller.meta}
    body = {"jsonrpc": "2.0", "id": "listen", "method": "subscriptions/listen", "params": params}
    headers = caller.headers | {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    with anyio.fail_after(60):
        async with caller.http.stream("POST", "/mcp", json=body, headers=headers) as stream:
            assert stream.status_code == 200
            async for line in stream.aiter_lines():
                if line.startswith("data:") and "{" in line:
                    return line
    return ""


async def test_the_audit_log_is_for_the_admin_scope_alone(keyed: Fort, anns: Ids) -> None:
    """SPEC A3, R1: logs://vrp/{date} names who did what; without the scope the answer is 403 and names it."""
    uris = [f"logs://vrp/{day}" for day in recent_dates()]
    async with keyed.caller("root") as root, keyed.caller("ben") as ben:
        pages: list[str] = []
        for uri in uris:
            at = uri
            while at:
                pages.append((await root.request("resources/read", uri=at)).json()["result"]["contents"][0]["text"])
                at = json.loads(pages[-1]).get("next", "")
        refused = await ben.request("resources/read", uri=uris[-1])
    assert anns["scenario"] in "".join(pages)
    assert refused.status_code == 403
    assert "planner:admin" in refused.headers["www-authenticate"]


async def test_equal_calls_of_two_principals_are_two_jobs(keyed: Fort, anns: Ids, bens: Ids) -> None:
    """SPEC A2, T2: the cache of equal calls, and idempotency keys, are a principal's own."""
    found = set()
    for name, own in (("ann", anns), ("ben", bens)):
        async with keyed.client(name) as client:
            call = {"scenario_id": own["scenario"], "solve_time": "PT1S", "idempotency_key": "same"}
            found |= {(await use(client, "solve_vrp", **call))["job_id"] for _ in range(2)}
    assert len(found) == 2


async def test_what_was_tried_changed_nothing(keyed: Fort, anns: Ids) -> None:
    """SPEC A2: after all of it ann still reads her plan."""
    async with keyed.client("ann") as client:
        assert (await use(client, "query_vrp_status", job_id=anns["job"]))["status"] == "COMPLETED"
        assert (await use(client, "read_plan", plan_id=anns["plan"]))["plan_id"] == anns["plan"]


async def test_an_audit_line_stands_for_every_refused_try(keyed: Fort, anns: Ids) -> None:
    """SPEC A3: the tries of the others can be found afterwards, by the id they tried."""
    async with keyed.caller("eve") as caller:
        answer = await caller.call("query_vrp_status", job_id=anns["job"])
    trace = answer.json()["result"]["structuredContent"]["traceId"]
    lines = [json.loads(line) for line in keyed.log().splitlines()]
    found = [line for line in lines if line["message"] == "audit" and line["trace_id"] == trace]
    assert [(line["what"], line["outcome"], line["target"]) for line in found] == [
        ("query_vrp_status", "4004", anns["job"])
    ]


async def test_tasks_of_another_are_unknown_in_both_forms(thief: Caller, anns: Ids, bens: Ids) -> None:
    """SPEC A2: asked for, waited for, cancelled and listed; one's own are there by the same calls."""
    is_old = thief.session is not None
    methods = ["tasks/get", "tasks/cancel", *(["tasks/result"] if is_old else ["tasks/update"])]
    other = random_id("job", 0)
    for method in methods:
        answers = [said(await thief.request(method, taskId=each), each) for each in (anns["job"], other)]
        assert answers[0] == answers[1], method
        assert '"NotFound"' in answers[0][2], method
    assert (await thief.request("tasks/get", taskId=bens["job"])).json()["result"]["status"] == "completed"
    if is_old:
        text = (await thief.request("tasks/list")).text
        assert bens["job"] in text and anns["job"] not in text


async def test_tables_of_travel_are_their_owners(keyed: Fort, anns: Ids) -> None:
    """SPEC A2: uploaded matrices can be read, taken away and planned with by their owner alone."""
    tables = {"locations": ["LOC_A"], "durations": [[0]]}
    async with keyed.http("ann") as ann, keyed.http("ben") as ben, keyed.caller("ben") as caller:
        name = (await ann.put("/matrices", json=tables)).json()["matrix"]
        other = re.sub(r"[a-z2-7]{26}", anns["job"][-26:], name)
        day = {each: SMALLEST | {"travel": {"matrix": each}} for each in (name, other)}
        tries = [
            [said(await caller.call("create_scenario", **day[each]), each) for each in day],
            [said(await ben.get(f"/matrices/{each}"), each) for each in day],
            [said(await ben.delete(f"/matrices/{each}"), each) for each in day],
        ]
        for foreign, absent in tries:
            assert foreign == absent
        assert [answers[0][0] for answers in tries] == [200, 404, 404]
        assert '"isError":true' in tries[0][0][2]
        assert (await ann.get(f"/matrices/{name}")).status_code == 200


async def test_completion_suggests_ones_own_alone(thief: Caller, anns: Ids, bens: Ids) -> None:
    """SPEC A2: whatever is typed, nothing included."""
    for kind in ("scenario", "job", "plan"):
        ref = {"type": "ref/resource", "uri": f"{kind}://{{{kind}_id}}"}
        for typed in ("", anns[kind][:8], anns[kind]):
            argument = {"name": f"{kind}_id", "value": typed}
            values = (await thief.request("completion/complete", ref=ref, argument=argument)).json()["result"]
            found = values["completion"]["values"]
            assert anns[kind] not in found
            assert typed or bens[kind] in found


async def test_cursors_of_another_are_no_cursors(keyed: Fort, anns: Ids, bens: Ids) -> None:
    """SPEC A2: a cursor that somebody else was given is answered as one that nobody was."""
    async with keyed.caller("ann") as ann, keyed.caller("ben") as ben:
        for number in range(60):
            await ann.call("create_scenario", **SMALLEST | {"name": f"day {number}"})
        cursor = (await ann.request("resources/list")).json()["result"]["nextCursor"]
        assert (await ann.request("resources/list", cursor=cursor)).status_code == 200
        answers = [said(await ben.request("resources/list", cursor=each), each) for each in (cursor, cursor[::-1])]
    assert answers[0] == answers[1]
    assert answers[0][0] == 400


async def test_a_session_of_the_old_transport_is_its_owners(keyed: Fort, anns: Ids, bens: Ids) -> None:
    """SPEC A2, X3: HTTP+SSE: who knows the address of another's session can neither speak in it nor make it speak."""
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    async with keyed.http("ann") as ann, keyed.http("ben") as ben, ann.stream("GET", "/sse") as stream:
        lines = stream.aiter_lines()
        with anyio.fail_after(60):
            endpoint = await heard(lines)
            unknown_one = re.sub(r"=.*", "=" + "A" * len(endpoint.partition("=")[2]), endpoint)
            answers = [await ben.post(each, json=ping) for each in (endpoint, unknown_one)]
            assert said(answers[0], endpoint) == said(answers[1], unknown_one)
            assert answers[0].status_code == 404
            assert (await ann.post(endpoint, json=ping | {"id": 8})).status_code == 202
            assert json.loads(await heard(lines))["id"] == 8, "the first thing the owner hears is her own answer"


async def heard(lines: AsyncIterator[str]) -> str:
    """Return the data of the next event of a stream."""
    async for line in lines:
        if line.startswith("data:"):
            return line.removeprefix("data:").strip()
    return ""


async def test_events_of_another_session_are_not_replayed(keyed: Fort) -> None:
    """SPEC A2, J4: an event id is looked up in the session of the request alone, and that is its owner's."""
    async with keyed.caller("ann", is_old=True) as ann, keyed.caller("ben", is_old=True) as ben:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_jobs", "arguments": {}}}
        body["params"]["_meta"] = {"progressToken": "p"}
        await ann.http.post("/mcp", json=body, headers=ann.headers)
        for event_id in ("g.0-0", "p0123456789abcdef.1-0"):
            stolen = {"mcp-session-id": ann.session or "", "last-event-id": event_id}
            assert (await ben.http.get("/mcp", headers=ben.headers | stolen)).status_code == 404


LARGE = 4000
"""Tickets of a day whose body takes some milliseconds to read."""


@pytest.mark.slow
async def test_foreign_and_unknown_take_alike_long(keyed: Fort, anns: Ids) -> None:
    """SPEC A2: also where there is much to read. Tries take turns and the fastest count, whatever the load."""
    note = "x" * 400
    tickets = [{"id": f"t-{each}", "location": "LOC_A", "demand": 1, "notes": note} for each in range(LARGE)]
    async with keyed.caller("ann") as ann:
        made = await ann.call("create_scenario", **SMALLEST | {"tickets": tickets, "agents": SMALLEST["agents"]})
        large = made.json()["result"]["structuredContent"]["scenario_id"]
    pairs = {
        "query_vrp_status": ("job_id", anns["job"], random_id("job", 0)),
        "revise_scenario": ("scenario_id", large, random_id("scn", 0)),
    }
    async with keyed.caller("ben") as caller:
        for tool, (parameter, foreign, absent) in pairs.items():
            spent: dict[str, list[float]] = {foreign: [], absent: []}
            for _ in range(60):
                for name, times in spent.items():
                    began = time.perf_counter()
                    answer = await caller.call(tool, **{parameter: name, **({"patch": {}} if "rev" in tool else {})})
                    times.append((time.perf_counter() - began) * 1000)
                    assert "NotFound" in answer.text
            foreign_ms, absent_ms = (statistics.mean(sorted(each)[:15]) for each in spent.values())
            print(f"{tool}: foreign {foreign_ms:.2f} ms, unknown {absent_ms:.2f} ms")  # noqa: T201
            assert abs(foreign_ms - absent_ms) < 1.0 + 0.25 * min(foreign_ms, absent_ms), tool
