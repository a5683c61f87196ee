"""A missing choice is asked for, in both forms, through any replica (SPEC T7, X2)."""

import json
import time
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ElicitResult

from planner_mcp.app import open_application
from planner_mcp.server.mcp import client_requests
from planner_mcp.settings import Settings
from tests.integration.server.mcp.app_replicas import DAY, MODERN, Caller, Replica, Two, messages
from tests.shared.scenarios.client_scenarios import CHOICES, OPEN

pytestmark = pytest.mark.anyio
FORM = {"elicitation": {"form": {}}}


class Person(Caller):
    """A client whose user can be asked."""

    capabilities: dict[str, Any] = FORM

    async def initialize(self, on: Replica) -> dict[str, Any]:
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": self.version, "capabilities": self.capabilities, "clientInfo": info}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = await self.http.post(on.mcp, json=body, headers={"accept": "application/json, text/event-stream"})
        self.session = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": self.version}
        return dict(answer.json()["result"])

    def request(self, method: str, name: str | None = None, /, **params: Any) -> tuple[dict[str, Any], dict[str, str]]:
        body, headers = super().request(method, name, **params)
        if self.version == MODERN:
            body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities
        return body, headers


@pytest.fixture
def asked(legacy: Caller) -> Person:
    """A client with a session whose user can be asked."""
    return Person(legacy.http, legacy.version)


@pytest.fixture
def modern_asked(modern: Caller) -> Person:
    """A client of 2026-07-28 whose user can be asked."""
    return Person(modern.http, modern.version)


async def made(caller: Caller, on: Replica, scenario_id: str) -> dict[str, Any]:
    """Return the scenario as kept."""
    uri = f"scenario://{scenario_id}"
    (contents,) = (await caller.result(on, "resources/read", uri, uri=uri))["contents"]
    return dict(json.loads(contents["text"])["scenario"])


async def converse(
    person: Person, app_replicas: Two, answer: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Create the open day on one replica, answer the question at the other; return question and result."""
    await person.initialize(app_replicas[0])
    question: dict[str, Any] = {}
    with anyio.fail_after(30):
        async with person.stream(
            app_replicas[0], "tools/call", "create_scenario", name="create_scenario", arguments=OPEN
        ) as s:
            async for message in messages(s):
                if message.get("method") == "elicitation/create":
                    question = message
                    if answer is not None:
                        reply = {"jsonrpc": "2.0", "id": message["id"], **answer}
                        headers = {"accept": "application/json, text/event-stream"} | person.session
                        posted = await person.http.post(app_replicas[1].mcp, json=reply, headers=headers)
                        assert posted.status_code == 202
                elif "result" in message:
                    return question, message["result"]
    raise AssertionError("no answer")


async def test_a_question_is_answered_at_another_replica(app_replicas: Two, asked: Person) -> None:
    """SPEC T7, X2: the request is written by one replica, its answer posted to the other."""
    accept = {"result": {"action": "accept", "content": CHOICES}}
    question, result = await converse(asked, app_replicas, accept)
    form = question["params"]["requestedSchema"]
    assert set(form["properties"]) == set(CHOICES)
    assert form["properties"]["depot"]["enum"] == ["depot", "shop"], "places without tickets come first"
    day = await made(asked, app_replicas[1], result["structuredContent"]["scenario_id"])
    assert day["depot"] == "depot"
    assert day["travel"]["speed_kmh"] == 30
    assert (day["agents"][0]["shift_start"], day["agents"][0]["shift_end"]) == ("08:00", "18:00")


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"action": "decline"}},
        {"result": {"action": "cancel"}},
        {"result": {"action": "accept", "content": {}}},
        {"error": {"code": -32603, "message": "no user here"}},
        {"result": {"nonsense": True}},
    ],
)
async def test_who_does_not_choose_gets_assumptions(app_replicas: Two, asked: Person, answer: dict[str, Any]) -> None:
    """SPEC T7: no answer stops a call."""
    question, result = await converse(asked, app_replicas, answer)
    assert question
    assert not result["isError"]
    assert "depot" not in await made(asked, app_replicas[0], result["structuredContent"]["scenario_id"])


async def test_silence_is_an_answer_too(app_replicas: Two, asked: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7: bounded waits."""
    monkeypatch.setattr(client_requests, "ANSWER_TIMEOUT_S", 0.2)
    question, result = await converse(asked, app_replicas, None)
    assert question
    assert result["structuredContent"]["scenario_id"]


async def test_silence_over_a_pipe_is_an_answer_too(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7, X1: the loop that serves stdio waits for a person no longer than HTTP does, and takes the form away."""
    monkeypatch.setattr(client_requests, "ANSWER_TIMEOUT_S", 0.2)
    taken_away = anyio.Event()

    async def silent(_context: Any, _params: Any) -> ElicitResult:
        try:
            await anyio.sleep_forever()
        finally:
            taken_away.set()
        raise AssertionError("nobody answers")

    with anyio.fail_after(30):
        async with (
            open_application(Settings(redis_url=f"{store_url}?db=15")) as services,
            Client(services.kernel._server, mode="legacy", elicitation_callback=silent) as client,
        ):
            result = await client.call_tool("create_scenario", OPEN)
            await taken_away.wait()
    assert result.structured_content is not None
    assert result.structured_content["assumptions"]


async def test_the_choice_is_asked_for_without_a_handshake(app_replicas: Two, modern_asked: Person) -> None:
    """Spec 2026-07-28, MRTR: `input_required`, then the same call with the answer and the sealed state."""
    call: dict[str, Any] = {"name": "create_scenario", "arguments": OPEN}
    first = await modern_asked.result(app_replicas[0], "tools/call", "create_scenario", **call)
    assert first["resultType"] == "input_required"
    ((key, asked),) = first["inputRequests"].items()
    assert asked["method"] == "elicitation/create"
    state = first["requestState"]
    assert state != "asked", "sealed"
    answer = {"inputResponses": {key: {"action": "accept", "content": CHOICES}}, "requestState": state}
    done = await modern_asked.result(app_replicas[1], "tools/call", "create_scenario", **call, **answer)
    assert done["resultType"] == "complete"
    day = await made(modern_asked, app_replicas[0], done["structuredContent"]["scenario_id"])
    assert (day["depot"], day["travel"]["speed_kmh"]) == ("depot", 30)


@pytest.mark.parametrize("responses", ["x", [1], 7])
async def test_answers_of_another_form_are_refused(app_replicas: Two, modern_asked: Person, responses: Any) -> None:
    """SPEC T7, T8: a mistake of the caller, not of the server."""
    call: dict[str, Any] = {"name": "create_scenario", "arguments": OPEN}
    state = (await modern_asked.result(app_replicas[0], "tools/call", "create_scenario", **call))["requestState"]
    call |= {"inputResponses": responses, "requestState": state}
    assert (await modern_asked.error(app_replicas[0], "tools/call", "create_scenario", **call))["code"] == -32602


@pytest.mark.parametrize("state", ["asked", "", "v1.AAAA", "x" * 3000])
async def test_a_forged_state_is_refused(app_replicas: Two, modern_asked: Person, state: str) -> None:
    """Spec 2026-07-28, MRTR: the state is the server's alone."""
    call: dict[str, Any] = {"name": "create_scenario", "arguments": OPEN, "inputResponses": {}, "requestState": state}
    assert (await modern_asked.error(app_replicas[0], "tools/call", "create_scenario", **call))["code"] == -32602


async def test_an_answer_that_comes_too_late_is_asked_for_again(
    app_replicas: Two, modern_asked: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T7: the refusal of a state has the data of every fault, and the SDK's reason."""
    call: dict[str, Any] = {"name": "create_scenario", "arguments": OPEN}
    state = (await modern_asked.result(app_replicas[0], "tools/call", "create_scenario", **call))["requestState"]
    asked_at = time.time()
    monkeypatch.setattr("time.time", lambda: asked_at + 601)
    refused = await modern_asked.error(app_replicas[1], "tools/call", "create_scenario", **call, requestState=state)
    monkeypatch.undo()
    data = refused["data"]
    assert (refused["code"], data["code"], data["type"]) == (-32602, 4001, "InvalidParameter")
    assert (data["message"], data["reason"]) == (refused["message"], "invalid_request_state")
    assert data["traceId"]
    (fault,) = data["errors"]
    assert (fault["path"], "within 600 s" in fault["accepted"]) == ("/requestState", True)
    assert fault["hint"] == "Call again without requestState; the question is asked anew."


async def test_a_state_is_good_for_its_call_alone(app_replicas: Two, modern_asked: Person) -> None:
    """Spec 2026-07-28, MRTR: bound to the request."""
    call: dict[str, Any] = {"name": "create_scenario", "arguments": OPEN}
    state = (await modern_asked.result(app_replicas[0], "tools/call", "create_scenario", **call))["requestState"]
    other = {"name": "create_scenario", "arguments": OPEN | {"name": "another"}, "requestState": state}
    assert (await modern_asked.error(app_replicas[1], "tools/call", "create_scenario", **other))["code"] == -32602


async def test_nobody_is_asked_who_cannot_be(app_replicas: Two, legacy: Caller, modern: Caller) -> None:
    """SPEC T7: a client without elicitation gets a scenario and the assumptions."""
    modern.extensions = {}
    await legacy.initialize(app_replicas[0])
    for caller in (legacy, modern):
        answer = (await caller.call(app_replicas[0], "create_scenario", OPEN))["structuredContent"]
        assert answer["scenario_id"]
        assert answer["assumptions"]


@pytest.mark.parametrize(
    "day", [DAY, OPEN | {"depot": "depot", "tickets": [{**OPEN["tickets"][0], "time_windows": []}]}]
)
async def test_a_day_that_is_complete_asks_nothing(
    app_replicas: Two, asked: Person, modern_asked: Person, day: Any
) -> None:
    """SPEC T1: the smallest call is complete as it stands, for clients that can be asked too."""
    await asked.initialize(app_replicas[0])
    for person in (asked, modern_asked):
        assert (await person.call(app_replicas[0], "create_scenario", day))["structuredContent"]["scenario_id"]


async def test_answers_to_nothing_are_dropped(app_replicas: Two, asked: Person, store: Any) -> None:
    """SPEC X3: a client cannot fill the store."""
    await asked.initialize(app_replicas[0])
    before = set(await store.redis.keys("mcp:*"))
    headers = {"accept": "application/json, text/event-stream"} | asked.session
    for name in ("ask-0000000000000000", "x" * 5000, 7):
        reply = {"jsonrpc": "2.0", "id": name, "result": {"action": "accept"}}
        assert (await asked.http.post(app_replicas[1].mcp, json=reply, headers=headers)).status_code == 202
    assert set(await store.redis.keys("mcp:*")) == before


ADDRESSES = {
    **DAY,
    "tickets": [
        {"id": "t1", "address": "北京市朝阳区建国路88号", "demand": 1},
        {"id": "t2", "address": "鼓楼区中山路1号", "demand": 1},
    ],
}


async def test_an_open_address_is_a_choice_without_a_handshake(app_replicas: Two, modern_asked: Person) -> None:
    """SPEC T7, Spec 2026-07-28, MRTR: asked at one replica, answered at the other, kept for the next call."""
    call: dict[str, Any] = {"name": "create_scenario", "arguments": ADDRESSES}
    first = await modern_asked.result(app_replicas[0], "tools/call", "create_scenario", **call)
    assert first["resultType"] == "input_required"
    ((key, asked),) = first["inputRequests"].items()
    (choice, *_others) = asked["params"]["requestedSchema"]["properties"]["address_1"]["enum"]
    answer = {"inputResponses": {key: {"action": "accept", "content": {"address_1": choice}}}}
    answer |= {"requestState": first["requestState"]}
    done = await modern_asked.result(app_replicas[1], "tools/call", "create_scenario", **call, **answer)
    assert done["isError"] is False, done
    again = await modern_asked.result(app_replicas[1], "tools/call", "create_scenario", **call)
    assert again["structuredContent"]["scenario_id"]


async def test_several_questions_are_asked_one_after_the_other_without_a_handshake(
    app_replicas: Two, modern_asked: Person
) -> None:
    """SPEC T7, Spec 2026-07-28, MRTR: where routes start, then what an address means; either replica takes either."""
    arguments = {**OPEN, "tickets": [*OPEN["tickets"], {"id": "late", "address": "鼓楼区中山路1号", "demand": 1}]}
    call: dict[str, Any] = {"name": "create_scenario", "arguments": arguments}
    answer = await modern_asked.result(app_replicas[0], "tools/call", "create_scenario", **call)
    asked = []
    for at in (1, 0):
        ((key, question),) = answer["inputRequests"].items()
        form = question["params"]["requestedSchema"]["properties"]
        asked.append(list(form))
        content = CHOICES if "depot" in form else {"address_1": form["address_1"]["enum"][0]}
        reply = {"inputResponses": {key: {"action": "accept", "content": content}}}
        reply |= {"requestState": answer["requestState"]}
        answer = await modern_asked.result(app_replicas[at], "tools/call", "create_scenario", **call, **reply)
    assert ["address_1"] in asked
    assert answer["resultType"] == "complete"
    day = await made(modern_asked, app_replicas[0], answer["structuredContent"]["scenario_id"])
    assert day["depot"] == "depot"
    assert [place["resolved"]["source"] for place in day["locations"] if place["id"] == "at late"] == ["confirmed"]


TABLE = "id;lat;lon;Menge;Stop time\na;48,1371;11,5754;3;15\n"
IMPORT: dict[str, Any] = {
    "file": "tour.csv",
    "planning_date": "2025-07-15",
    "depot": "48.1,11.5",
    "agents": [{"id": "v", "capacity": 9}],
}


@pytest.mark.parametrize(
    ("tool", "arguments"), [("import_scenario", IMPORT), ("plan_day", {"file": IMPORT, "wait_s": 0})]
)
async def test_an_open_column_of_an_uploaded_file_is_asked_for(
    app_replicas: Two, modern_asked: Person, tool: str, arguments: dict[str, Any]
) -> None:
    """SPEC T5, T7: also where the call names the file alone, and where the whole day is one call."""
    with_all = [each.with_sets("all") for each in app_replicas]
    put = await modern_asked.http.put(f"{app_replicas[0].url}/files/tour.csv", content=TABLE.encode())
    assert put.status_code == 201
    call: dict[str, Any] = {"name": tool, "arguments": arguments}
    first = await modern_asked.result(with_all[0], "tools/call", tool, **call)
    ((key, question),) = first["inputRequests"].items()
    (column,) = question["params"]["requestedSchema"]["properties"].values()
    assert (column["title"], column["enum"][0]) == ("Stop time", "service_min")
    reply = {"inputResponses": {key: {"action": "accept", "content": {"column_1": "service_min"}}}}
    reply |= {"requestState": first["requestState"]}
    done = await modern_asked.result(with_all[1], "tools/call", tool, **call, **reply)
    assert not done["isError"], done
    day = await made(modern_asked, app_replicas[0], done["structuredContent"]["scenario_id"])
    assert [ticket["service_time_s"] for ticket in day["tickets"]] == [900]


@pytest.mark.parametrize("reply", ["kg", "neither"])
async def test_each_question_of_a_file_is_asked_before_it_is_imported(
    app_replicas: Two, modern_asked: Person, reply: str
) -> None:
    """SPEC T5, T7: what a column is, then which amount counts; a person who answered meets no error that asks again."""
    with_all = app_replicas[0].with_sets("all")
    content = "id;lat;lon;kg;pallets;Stop time\na;48,1371;11,5754;3;1;15\n"
    arguments = {**{name: IMPORT[name] for name in IMPORT if name != "file"}, "format": "csv", "content": content}
    call: dict[str, Any] = {"name": "import_scenario", "arguments": arguments}
    answer = await modern_asked.result(with_all, "tools/call", "import_scenario", **call)
    for name, given in (("column_1", "service_min"), ("demand", reply)):
        ((key, question),) = answer["inputRequests"].items()
        assert list(question["params"]["requestedSchema"]["properties"]) == [name]
        state = {"requestState": answer["requestState"]}
        state |= {"inputResponses": {key: {"action": "accept", "content": {name: given}}}}
        answer = await modern_asked.result(with_all, "tools/call", "import_scenario", **call, **state)
    assert answer["resultType"] == "complete"
    day = await made(modern_asked, app_replicas[0], answer["structuredContent"]["scenario_id"])
    assert day["tickets"][0]["service_time_s"] == 900


async def test_nothing_is_asked_of_a_tool_that_is_off(app_replicas: Two, modern_asked: Person) -> None:
    """SPEC T7, T9: the client learns first that the set is off, and no person answers in vain."""
    put = await modern_asked.http.put(f"{app_replicas[0].url}/files/off.csv", content=TABLE.encode())
    assert put.status_code == 201
    call: dict[str, Any] = {"name": "import_scenario", "arguments": {**IMPORT, "file": "off.csv"}}
    refused = await modern_asked.error(app_replicas[0], "tools/call", "import_scenario", **call)
    assert "tool set data" in refused["message"]


async def test_what_a_day_leaves_open_is_asked_for_where_it_is_planned_in_one_call(
    app_replicas: Two, modern_asked: Person
) -> None:
    """SPEC T7: `plan_day` asks what `create_scenario` asks, then what an address means."""
    arguments = {
        "scenario": {**OPEN, "tickets": [*OPEN["tickets"], {"id": "b", "address": "鼓楼区中山路1号", "demand": 1}]}
    }
    call: dict[str, Any] = {"name": "plan_day", "arguments": {**arguments, "wait_s": 0}}
    answer = await modern_asked.result(app_replicas[0], "tools/call", "plan_day", **call)
    for names in ({"depot", "shift_start", "shift_end", "speed_kmh"}, {"address_1"}):
        ((key, question),) = answer["inputRequests"].items()
        form = question["params"]["requestedSchema"]["properties"]
        assert set(form) == names
        content = CHOICES if "depot" in form else {"address_1": form["address_1"]["enum"][0]}
        reply = {"inputResponses": {key: {"action": "accept", "content": content}}}
        reply |= {"requestState": answer["requestState"]}
        answer = await modern_asked.result(app_replicas[1], "tools/call", "plan_day", **call, **reply)
    assert not answer["isError"], answer
    day = await made(modern_asked, app_replicas[0], answer["structuredContent"]["scenario_id"])
    assert (day["depot"], day["agents"][0]["shift_start"]) == ("depot", "08:00")
    assert [place["resolved"]["source"] for place in day["locations"] if "resolved" in place] == ["confirmed"]


async def test_a_missing_required_parameter_is_asked_for(app_replicas: Two, modern_asked: Person) -> None:
    """SPEC T7: of any tool, where its form is one that a person can fill in; who declines gets the error."""
    scenario_id = await modern_asked.scenario(app_replicas[0])
    call: dict[str, Any] = {"name": "solve_vrp", "arguments": {"solve_time": "PT5S"}}
    first = await modern_asked.result(app_replicas[0], "tools/call", "solve_vrp", **call)
    ((key, asked),) = first["inputRequests"].items()
    assert asked["params"]["requestedSchema"]["required"] == ["scenario_id"]
    given = {"action": "accept", "content": {"scenario_id": scenario_id}}
    for answer, is_error in ((given, False), ({"action": "decline"}, True)):
        again = {"inputResponses": {key: answer}, "requestState": first["requestState"]}
        done = await modern_asked.result(app_replicas[1], "tools/call", "solve_vrp", **call, **again)
        assert done["isError"] is is_error, done


async def test_an_open_address_is_a_choice_over_a_stream(app_replicas: Two, store_url: str) -> None:
    """SPEC T7: in revisions with a handshake the form comes while the call is open."""

    async def first_choice(_context: Any, params: Any) -> ElicitResult:
        field = params.requested_schema["properties"]["address_1"]
        return ElicitResult(action="accept", content={"address_1": field["enum"][0]})

    with anyio.fail_after(30):
        async with (
            open_application(Settings(redis_url=f"{store_url}?db=13")) as services,
            Client(services.kernel._server, mode="legacy", elicitation_callback=first_choice) as client,
        ):
            result = await client.call_tool("create_scenario", ADDRESSES)
    assert not result.is_error, result
