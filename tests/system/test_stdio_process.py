"""`planner-mcp` without a command: a child of a client, with nothing but the protocol on its standard output."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.system.stdio_child import Child

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


@pytest.fixture(scope="module")
def greeted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """A child that has answered `initialize`, for all tests after which it goes on as before."""
    child = Child(tmp_path_factory.mktemp("stdio"))
    assert child.ask(HELLO)["result"]["protocolVersion"] == "2025-06-18"
    yield child
    child.end()


def call(request_id: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a call of a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def test_output_is_the_protocol_and_the_log_is_json_on_stderr(child: Child) -> None:
    """SPEC X1, O1, T7: a stray line would break the client; what was asked before the input ended is answered."""
    assert child.ask(HELLO)["result"]["protocolVersion"] == "2025-06-18"
    child.say('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    listed = child.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    assert listed["id"] == 2
    failed = child.ask({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {}})
    assert (failed["error"]["code"], failed["error"]["data"]["type"]) == (-32602, "MissingParameter")
    asked = (call(4, "create_scenario", SMALLEST), {"jsonrpc": "2.0", "id": 5, "method": "resources/list"})
    rest, _none = child.process.communicate("\n".join(map(json.dumps, asked)), timeout=60)
    answers = {each["id"]: each["result"] for each in map(json.loads, rest.splitlines())}
    assert answers[4]["structuredContent"]["scenario_id"]
    assert sorted(answers) == [4, 5]
    assert child.process.returncode == 0
    for line in child.log.read_text().splitlines():
        assert json.loads(line)["message"]


@pytest.mark.parametrize("request_id", ["6.0", "1.5", "null", "true", "{}", "[1]"])
def test_request_with_an_id_that_is_none_is_answered(greeted: Child, request_id: str) -> None:
    """SPEC X1, T7: by the same error as over HTTP; passed over, its client would wait for ever."""
    greeted.say(f'{{"jsonrpc": "2.0", "id": {request_id}, "method": "tools/list"}}')
    answer = greeted.ask({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["type"]) == (None, -32600, "InvalidMessage")
    assert greeted.hear() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_numbers_that_json_has_not_are_refused(greeted: Child) -> None:
    """SPEC X1: NaN is no JSON, here as over HTTP."""
    greeted.say('{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"x": NaN}}')
    assert greeted.hear()["error"]["code"] == -32700


@pytest.mark.slow
def test_batch_is_answered_by_a_batch_in_the_revision_that_has_them(child: Child) -> None:
    """Spec 2025-03-26, base protocol: servers MUST receive batches, and send their answers together."""
    hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": "2025-03-26"}}
    child.say(json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]))
    assert child.hear()["error"]["code"] == -32600  # nothing was agreed on yet
    assert child.ask(hello)["result"]["protocolVersion"] == "2025-03-26"
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    pings = [{"jsonrpc": "2.0", "id": each, "method": "ping"} for each in (2, "2")]
    child.say(json.dumps([note]))
    child.say(json.dumps([pings[0], note, {"jsonrpc": "2.0", "id": 3, "method": "nope"}, pings[1]]))
    answers = child.hear()
    assert isinstance(answers, list)
    assert sorted((str(each["id"]), "result" in each) for each in answers) == [("2", True), ("2", True), ("3", False)]
    assert child.ask({"jsonrpc": "2.0", "id": 4, "method": "ping"}) == {"jsonrpc": "2.0", "id": 4, "result": {}}


def test_batch_is_refused_in_every_other_revision(greeted: Child) -> None:
    """Spec 2025-06-18, changes: batches are gone."""
    greeted.say(json.dumps([{"jsonrpc": "2.0", "id": 2, "method": "ping"}]))
    refused = greeted.hear()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize(
    ("argument", "problem"), [('"a\\ud800"', "half of a surrogate pair"), ("[" * 300 + "]" * 300, "nests deeper")]
)
def test_a_request_that_cannot_be_taken_is_refused_by_its_id(greeted: Child, argument: str, problem: str) -> None:
    """SPEC T7: its client would wait for an answer to that id for ever; the cause is named as over HTTP."""
    greeted.say(f'{{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {{"x": {argument}}}}}')
    refused = greeted.hear()
    assert (refused["id"], refused["error"]["code"], refused["error"]["data"]["type"]) == (5, -32700, "InvalidMessage")
    assert problem in refused["error"]["message"]
    assert "result" in greeted.ask({"jsonrpc": "2.0", "id": 6, "method": "ping"})


@pytest.mark.slow
def test_sigterm_ends_it_with_its_workers(child_with_worker: Child) -> None:
    """MCP 2025-11-25, lifecycle: a client may end its server by a signal while the pipes are open."""
    child_with_worker.ask(HELLO)
    child_with_worker.process.send_signal(signal.SIGTERM)
    assert child_with_worker.process.wait(timeout=60) == 0


def test_line_that_is_no_message_is_answered(greeted: Child) -> None:
    """SPEC T7, X1: not JSON, half a surrogate pair in an id, no JSON-RPC."""
    _say_no_messages(greeted)
    assert "result" in greeted.ask({"jsonrpc": "2.0", "id": 2, "method": "ping"})


@pytest.mark.slow
def test_line_that_is_no_message_is_answered_before_the_handshake(child: Child) -> None:
    """SPEC T7, X1: the same from a client that has not said which revision it speaks."""
    _say_no_messages(child)
    assert "result" in child.ask(HELLO)


def _say_no_messages(child: Child) -> None:
    lines = ("nonsense", '{"jsonrpc": "2.0", "id": "a\\ud800", "method": "ping"}', "[]", '{"id": 1}')
    for line, code in zip(lines, (-32700, -32700, -32600, -32600), strict=True):
        child.say(line)
        answer = child.hear()
        assert (answer["id"], answer["error"]["code"]) == (None, code)
        assert answer["error"]["data"]["traceId"]
