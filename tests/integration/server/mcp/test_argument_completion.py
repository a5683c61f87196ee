"""Prompts, and completion of template variables and prompt arguments (SPEC R2, R4)."""

from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.server.mcp.methods import argument_completion
from planner_mcp.server.prompts.prompt_definition import MAX_ARGUMENT
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker
from tests.integration.server.mcp.test_resource_methods import caller, solved

pytestmark = pytest.mark.anyio
__all__ = ["caller"]


def template(uri: str) -> dict[str, str]:
    return {"type": "ref/resource", "uri": uri}


def prompt(name: str) -> dict[str, str]:
    return {"type": "ref/prompt", "name": name}


async def suggested(caller: Caller, on: Replica, ref: dict[str, str], name: str, value: str = "") -> dict[str, Any]:
    """Return what is suggested for an argument."""
    asked = {"ref": ref, "argument": {"name": name, "value": value}}
    return dict((await caller.result(on, "completion/complete", **asked))["completion"])


async def test_names_are_completed(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC R2: scenario, job and plan ids, newest first, by beginning or by their random part."""
    job_id = await solved(caller, app_replicas[0], worker)
    queued = (await caller.solve(app_replicas[0]))["structuredContent"]["job_id"]
    found = await suggested(caller, app_replicas[1], template("job://{job_id}"), "job_id", "job-")
    assert (found["values"], found["total"], found["hasMore"]) == ([queued, job_id], 2, False)
    short = await suggested(
        caller, app_replicas[1], template("job://{job_id}"), "job_id", job_id.rpartition("-")[2][:6]
    )
    assert short["values"] == [job_id]
    plans = await suggested(caller, app_replicas[1], template("plan://{plan_id}/map.svg"), "plan_id")
    assert plans["values"] == [job_id.replace("job-", "plan-", 1)], "only jobs with a plan"
    assert (
        len((await suggested(caller, app_replicas[1], template("scenario://{scenario_id}"), "scenario_id"))["values"])
        == 2
    )
    assert (await suggested(caller, app_replicas[0], prompt("explain_unassigned"), "job_id"))["values"] == [
        queued,
        job_id,
    ]


async def test_words_and_dates_are_completed(app_replicas: Two, caller: Caller) -> None:
    """SPEC R2: status, date."""
    uri = "jobs://vrp/status/{status}?page={page}&size={size}"
    assert (await suggested(caller, app_replicas[0], template(uri), "status", "C"))["values"] == [
        "completed",
        "cancelled",
    ]
    days = (await suggested(caller, app_replicas[0], template("logs://vrp/{date}"), "date"))["values"]
    assert len(days) == 30
    assert days == sorted(days, reverse=True)
    assert (await suggested(caller, app_replicas[0], prompt("plan_a_day"), "goal", "c"))["values"] == []


async def test_suggestions_are_bounded(app_replicas: Two, caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec, completion: 100 values at most, and whether there are more."""
    monkeypatch.setattr(argument_completion, "MAX_VALUES", 2)
    for _ in range(3):
        await caller.solve(app_replicas[0])
    found = await suggested(caller, app_replicas[0], template("job://{job_id}"), "job_id")
    assert (len(found["values"]), found["total"], found["hasMore"]) == (2, 3, True)
    monkeypatch.setattr(argument_completion, "SEARCH_LIMIT", 2)
    found = await suggested(caller, app_replicas[0], template("job://{job_id}"), "job_id")
    assert ("total" in found, found["hasMore"]) == (False, True)


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        (template("job://{id}"), "id"),
        (template("job://{job_id}"), "plan_id"),
        (prompt("no_such_prompt"), "x"),
        (prompt("plan_a_day"), "x"),
        ({"type": "ref/other"}, "x"),
    ],
)
async def test_what_is_unknown_is_not_completed(
    app_replicas: Two, caller: Caller, ref: dict[str, str], name: str
) -> None:
    """Spec, completion: −32602."""
    asked = {"ref": ref, "argument": {"name": name, "value": ""}}
    assert (await caller.error(app_replicas[0], "completion/complete", **asked))["code"] == -32602


async def test_prompts_are_listed_and_filled_in(app_replicas: Two, caller: Caller) -> None:
    """SPEC R4: five prompts, their arguments put in once and left out with their lead."""
    listed = (await caller.result(app_replicas[0], "prompts/list"))["prompts"]
    assert [each["name"] for each in listed] == [each.name for each in PROMPTS]
    assert all(each["title"] and each["description"] and each["arguments"] for each in listed)
    given = {"job_id": "job-0-x", "change": "veh-2 broke down; $job_id is no variable here"}
    asked = {"name": "replan_after_change", "arguments": given}
    (message,) = (await caller.result(app_replicas[1], "prompts/get", "replan_after_change", **asked))["messages"]
    assert message["role"] == "user"
    assert "$job_id is no variable here" in message["content"]["text"]
    assert "job_id=job-0-x" in message["content"]["text"]


@pytest.mark.parametrize("each", PROMPTS, ids=lambda each: each.name)
def test_a_prompt_reads_with_and_without_its_arguments(each: Any) -> None:
    """SPEC R4: no hole in the words, and the tools it names exist."""
    required = {argument.name: "X" for argument in each.arguments if argument.is_required}
    whole = {argument.name: "X" for argument in each.arguments}
    for given in (required, whole):
        words = each.text(given)
        assert "$" not in words
        assert "  " not in words
    assert words.count("X") >= len(whole)


def test_an_argument_too_long_for_a_prompt_is_refused_and_never_cut() -> None:
    """SPEC R4, T7: half a table would be planned as if it were the whole; the way for the whole is named."""
    table = next(each for each in PROMPTS if each.name == "map_business_table")
    rows = "t-1,LOC_A,20,09:00\n" * 1053
    assert rows[:MAX_ARGUMENT].strip() in table.text({"table": rows[:MAX_ARGUMENT]})
    with pytest.raises(InputError) as refused:
        table.text({"table": rows[: MAX_ARGUMENT + 1], "hints": "x" * 20_001})
    first, second = refused.value.errors
    assert (first.path, first.accepted) == ("/arguments/table", "up to 20000 characters")
    assert "import_scenario" in first.hint
    assert (second.path, second.hint) == ("/arguments/hints", "")


async def test_a_prompt_without_its_argument_names_it(app_replicas: Two, caller: Caller) -> None:
    """SPEC T7: −32602, all mistakes at once."""
    error = await caller.error(
        app_replicas[0], "prompts/get", "compare_plans", name="compare_plans", arguments={"plan_c": "x"}
    )
    assert error["code"] == -32602
    assert [fault["path"] for fault in error["data"]["errors"]] == [
        "/arguments/plan_a",
        "/arguments/plan_b",
        "/arguments/plan_c",
    ]
