"""The task is the job, in both forms, through any replica (SPEC X2)."""

from typing import Any

import anyio
import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.redis_store import RedisStore
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker
from tests.shared.http.mcp_caller import TASKS

pytestmark = pytest.mark.anyio


RELATED = "io.modelcontextprotocol/related-task"
IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"


async def core_task(caller: Caller, on: Replica) -> dict[str, Any]:
    """Return a new task of revision 2025-11-25."""
    await caller.initialize(on)
    return dict((await caller.solve(on, task={"ttl": 60000}))["task"])


async def test_tasks_are_declared_where_the_revision_has_them(
    app_replicas: Two, legacy: Caller, modern: Caller
) -> None:
    """SPEC X2: capability and `execution.taskSupport` in 2025-11-25, an extension in 2026-07-28, nothing before."""
    assert (await modern.result(app_replicas[0], "server/discover"))["capabilities"]["extensions"].keys() >= {TASKS}
    assert not any("execution" in tool for tool in (await modern.result(app_replicas[0], "tools/list"))["tools"])
    declared = (await legacy.initialize(app_replicas[0]))["capabilities"]["tasks"]
    tools = (await legacy.result(app_replicas[1], "tools/list"))["tools"]
    assert declared == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    assert [tool["name"] for tool in tools if "execution" in tool] == ["solve_vrp"]
    legacy.version = "2025-06-18"
    assert "tasks" not in (await legacy.initialize(app_replicas[0]))["capabilities"]
    assert (await legacy.error(app_replicas[0], "tasks/get", taskId="job-0-x"))["code"] == -32601


async def test_core_task_runs_to_its_result(app_replicas: Two, legacy: Caller, worker: Worker) -> None:
    """SPEC X2: made on one replica, seen on the other; the result is the finished summary with a link to the plan."""
    task = await core_task(legacy, app_replicas[0])
    assert (task["status"], task["pollInterval"]) == ("working", 2000)
    assert task["ttl"] >= 60000
    claim = await worker.take()
    assert claim.job.id == task["taskId"]
    await worker.improve(claim, 40)
    seen = await legacy.result(app_replicas[1], "tasks/get", taskId=task["taskId"])
    assert "SOLVING 40%" in seen["statusMessage"]
    await worker.complete(claim)
    done = await legacy.result(app_replicas[1], "tasks/get", taskId=task["taskId"])
    assert done["status"] == "completed"
    assert "result" not in done
    result = await legacy.result(app_replicas[0], "tasks/result", taskId=task["taskId"])
    plan = task["taskId"].replace("job-", "plan-", 1)
    assert result["_meta"] == {RELATED: {"taskId": task["taskId"]}}
    assert result["structuredContent"]["status"] == "COMPLETED"
    assert result["structuredContent"]["plan_id"] == plan
    assert {link["uri"] for link in result["content"] if link["type"] == "resource_link"} >= {f"plan://{plan}"}
    assert "resultType" not in result


async def test_core_result_blocks_until_the_job_ends(app_replicas: Two, legacy: Caller, worker: Worker) -> None:
    """Spec 2025-11-25, tasks: asked of the other replica, while a worker still solves."""
    task = await core_task(legacy, app_replicas[0])
    claim = await worker.take()
    answers: list[dict[str, Any]] = []

    async def ask() -> None:
        answers.append(await legacy.result(app_replicas[1], "tasks/result", taskId=task["taskId"]))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await worker.improve(claim, 20)
            await anyio.sleep(0.1)
            assert not answers
            await worker.complete(claim)
    assert answers[0]["structuredContent"]["progress"] == 100


async def test_cancel_of_a_core_task_is_the_cancel_of_its_job(
    app_replicas: Two, legacy: Caller, worker: Worker
) -> None:
    """SPEC X2: in one is seen in the other; a second cancel is refused (spec 2025-11-25)."""
    task = await core_task(legacy, app_replicas[0])
    claim = await worker.take()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(worker.obey, claim)
            assert (await legacy.result(app_replicas[1], "tasks/cancel", taskId=task["taskId"]))[
                "status"
            ] == "cancelled"
    status = await legacy.call(app_replicas[0], "query_vrp_status", {"job_id": task["taskId"]})
    assert status["structuredContent"]["status"] == "CANCELLED"
    assert (await legacy.error(app_replicas[0], "tasks/cancel", taskId=task["taskId"]))["code"] == -32602
    result = await legacy.result(app_replicas[0], "tasks/result", taskId=task["taskId"])
    assert (result["isError"], result["structuredContent"]["status"]) == (False, "CANCELLED")


async def test_a_task_is_cancelled_whatever_tools_the_url_asks_for(
    app_replicas: Two, legacy: Caller, modern: Caller
) -> None:
    """SPEC X2, T9: sets choose what is listed and called; a task that can be read can be cancelled."""
    data = app_replicas[1].with_sets("data")  # in which no tool cancels
    core_id = (await core_task(legacy, app_replicas[0]))["taskId"]
    assert (await legacy.result(data, "tasks/cancel", taskId=core_id))["status"] == "cancelled"
    task_id = (await modern.solve(app_replicas[0]))["taskId"]
    await modern.result(data, "tasks/cancel", task_id, taskId=task_id)
    assert (await modern.result(data, "tasks/get", task_id, taskId=task_id))["status"] == "cancelled"


async def test_cancel_of_a_job_is_seen_in_its_task(app_replicas: Two, legacy: Caller) -> None:
    """SPEC X2: the other way round, still queued."""
    task = await core_task(legacy, app_replicas[0])
    await legacy.call(app_replicas[1], "cancel_vrp_job", {"job_id": task["taskId"]})
    assert (await legacy.result(app_replicas[0], "tasks/get", taskId=task["taskId"]))["status"] == "cancelled"


async def test_failed_job_is_a_failed_core_task_with_the_tools_error(
    app_replicas: Two, legacy: Caller, worker: Worker
) -> None:
    """Spec 2025-11-25, task status: failed includes results with isError."""
    task = await core_task(legacy, app_replicas[0])
    await worker.fail(await worker.take())
    assert (await legacy.result(app_replicas[1], "tasks/get", taskId=task["taskId"]))["status"] == "failed"
    result = await legacy.result(app_replicas[1], "tasks/result", taskId=task["taskId"])
    assert (result["isError"], result["structuredContent"]["error"]["code"]) == (True, 5010)


async def test_core_tasks_are_listed_page_by_page(
    app_replicas: Two, legacy: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 2025-11-25: every task that can be got is listed; cursors are opaque and checked."""
    monkeypatch.setattr("planner_mcp.server.mcp.methods.core_tasks.PAGE", 2)
    made = [(await core_task(legacy, app_replicas[0]))["taskId"] for _ in range(3)]
    first = await legacy.result(app_replicas[0], "tasks/list")
    second = await legacy.result(app_replicas[1], "tasks/list", cursor=first["nextCursor"])
    assert [task["taskId"] for task in first["tasks"] + second["tasks"]] == made[::-1]
    assert "nextCursor" not in second
    for cursor in ("nonsense", "", "dGFza3M6LTE", "é"):
        assert (await legacy.error(app_replicas[0], "tasks/list", cursor=cursor))["code"] == -32602


async def test_tasks_that_begin_between_two_pages_bring_none_twice(
    app_replicas: Two, legacy: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC X2: they move the ones behind them; what was listed is left out, and nothing is lost."""
    monkeypatch.setattr("planner_mcp.server.mcp.methods.core_tasks.PAGE", 2)
    made = [(await core_task(legacy, app_replicas[0]))["taskId"] for _ in range(3)]
    page = await legacy.result(app_replicas[0], "tasks/list")
    listed = [task["taskId"] for task in page["tasks"]]
    for _ in range(3):
        await core_task(legacy, app_replicas[0])
    while cursor := page.get("nextCursor"):
        page = await legacy.result(app_replicas[1], "tasks/list", cursor=cursor)
        listed += [task["taskId"] for task in page["tasks"]]
    assert listed == made[::-1]


async def test_tasks_from_before_the_clock_of_the_store_went_back_are_listed(
    app_replicas: Two, legacy: Caller, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC X2: the two oldest look newer than what came after them."""
    monkeypatch.setattr("planner_mcp.server.mcp.methods.core_tasks.PAGE", 2)
    made = [(await core_task(legacy, app_replicas[0]))["taskId"] for _ in range(4)]
    for job_id in made[:2]:
        await store.redis.hincrby(store_keys.key(ids.shard_of("job", job_id), "job", job_id), "submitted_ms", 60_000)
    page = await legacy.result(app_replicas[0], "tasks/list")
    listed = [task["taskId"] for task in page["tasks"]]
    while cursor := page.get("nextCursor"):
        page = await legacy.result(app_replicas[1], "tasks/list", cursor=cursor)
        listed += [task["taskId"] for task in page["tasks"]]
    assert listed == made[::-1]


async def test_tool_that_is_quick_or_refuses_makes_no_core_task(app_replicas: Two, legacy: Caller) -> None:
    """Spec 2025-11-25, tool-level negotiation: −32601; a wrong call is an error, since a task has no room for it."""
    await legacy.initialize(app_replicas[0])
    quick = await legacy.error(app_replicas[0], "tools/call", name="create_scenario", arguments={}, task={})
    wrong = await legacy.error(app_replicas[0], "tools/call", name="solve_vrp", arguments={"scenario_id": "x"}, task={})
    assert (quick["code"], wrong["code"]) == (-32601, -32602)
    assert wrong["data"]["type"] == "NotFound"


async def test_task_is_never_sent_unasked(app_replicas: Two, legacy: Caller, modern: Caller) -> None:
    """SPEC X2: without `params.task` (null is none), or without the extension on the request: a call result."""
    await legacy.initialize(app_replicas[0])
    assert "job_id" in (await legacy.solve(app_replicas[0]))["structuredContent"]
    assert "job_id" in (await legacy.solve(app_replicas[0], task=None))["structuredContent"]
    modern.extensions = {}
    assert (await modern.solve(app_replicas[0]))["resultType"] == "complete"


async def test_extension_task_runs_to_its_result(app_replicas: Two, modern: Caller, worker: Worker) -> None:
    """SPEC X2: the server decides, `tasks/get` carries the result."""
    task = await modern.solve(app_replicas[0])
    assert (task["resultType"], task["status"]) == ("task", "working")
    claim = await worker.take()
    seen = await modern.result(app_replicas[1], "tasks/get", claim.job.id, taskId=task["taskId"])
    assert (seen["resultType"], seen["status"]) == ("complete", "working")
    await worker.complete(claim)
    done = await modern.result(app_replicas[1], "tasks/get", claim.job.id, taskId=task["taskId"])
    assert (done["status"], done["result"]["structuredContent"]["status"]) == ("completed", "COMPLETED")
    assert await modern.result(app_replicas[0], "tasks/cancel", claim.job.id, taskId=task["taskId"]) == {
        "resultType": "complete",
        "_meta": done["_meta"],
    }
    again = await modern.result(app_replicas[1], "tasks/get", claim.job.id, taskId=task["taskId"])
    assert again == done


async def test_a_new_extension_task_equals_what_tasks_get_answers(app_replicas: Two, modern: Caller) -> None:
    """SPEC X2: the answer to the call is made without a read of the job, and says the same as one."""
    own_keys = {"resultType", "_meta"}
    task = await modern.solve(app_replicas[0])
    read = await modern.result(app_replicas[1], "tasks/get", taskId=task["taskId"])
    assert {key: task[key] for key in task.keys() - own_keys} == {key: read[key] for key in read.keys() - own_keys}


async def test_extension_cancel_is_the_cancel_of_the_job(app_replicas: Two, modern: Caller) -> None:
    """SPEC X2: idempotent; `tasks/update` answers nothing, for no job asks."""
    task_id = (await modern.solve(app_replicas[0]))["taskId"]
    await modern.result(
        app_replicas[0], "tasks/update", task_id, taskId=task_id, inputResponses={"x": {"action": "accept"}}
    )
    for on in app_replicas:
        await modern.result(on, "tasks/cancel", task_id, taskId=task_id)
    assert (await modern.result(app_replicas[1], "tasks/get", task_id, taskId=task_id))["status"] == "cancelled"


async def test_failed_job_is_a_completed_extension_task_with_an_error_result(
    app_replicas: Two, modern: Caller, worker: Worker
) -> None:
    """Tasks extension: `failed` is for JSON-RPC errors alone."""
    task_id = (await modern.solve(app_replicas[0]))["taskId"]
    await worker.fail(await worker.take())
    done = await modern.result(app_replicas[1], "tasks/get", task_id, taskId=task_id)
    assert (done["status"], done["result"]["isError"]) == ("completed", True)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_a_client_that_did_not_declare_the_extension_is_refused(
    app_replicas: Two, modern: Caller, method: str
) -> None:
    """Tasks extension: −32021, naming what is required."""
    modern.extensions = {}
    refused = await modern.error(app_replicas[0], method, "job", taskId="job", inputResponses={})
    assert refused["code"] == -32021
    assert refused["data"]["requiredCapabilities"] == {"extensions": {TASKS: {}}}


async def test_header_never_names_another_task(app_replicas: Two, modern: Caller) -> None:
    """Tasks extension, routing headers: Mcp-Name is the task id, else −32020; clients in use leave it out."""
    task_id = (await modern.solve(app_replicas[0]))["taskId"]
    assert (await modern.error(app_replicas[0], "tasks/get", "another", taskId=task_id))["code"] == -32020
    assert (await modern.result(app_replicas[0], "tasks/get", taskId=task_id))["taskId"] == task_id


@pytest.mark.parametrize("task_id", ["job-0-" + "a" * 26, "", "../x", "plan-0-" + "a" * 26])
async def test_unknown_task_is_one_answer(app_replicas: Two, modern: Caller, legacy: Caller, task_id: str) -> None:
    """SPEC A2: unknown, malformed and foreign are not told apart."""
    await legacy.initialize(app_replicas[0])
    refused = [
        await modern.error(app_replicas[0], "tasks/get", task_id, taskId=task_id),
        await legacy.error(app_replicas[0], "tasks/get", taskId=task_id),
        await legacy.error(app_replicas[0], "tasks/result", taskId=task_id),
        await legacy.error(app_replicas[0], "tasks/cancel", taskId=task_id),
    ]
    assert {(each["code"], each["data"]["type"]) for each in refused} == {(-32602, "NotFound")}


@pytest.mark.parametrize("method", ["tasks/result", "tasks/list"])
async def test_methods_of_one_form_are_unknown_in_the_other(
    app_replicas: Two, modern: Caller, legacy: Caller, method: str
) -> None:
    """SPEC X1: each revision as its own text says."""
    assert (await modern.error(app_replicas[0], method, "x", taskId="x"))["code"] == -32601
    await legacy.initialize(app_replicas[0])
    assert (await legacy.error(app_replicas[0], "tasks/update", taskId="x"))["code"] == -32601
