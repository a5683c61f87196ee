"""`planner-mcp` without a command: a child of a client, with nothing but the protocol on its standard output."""

import json
import signal

from tests.system.stdio_child import Child

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}


def test_output_is_the_protocol_and_the_log_is_json_on_stderr(child: Child) -> None:
    """SPEC X1, O1: a stray line on standard output would break the client."""
    assert child.ask(HELLO)["result"]["protocolVersion"] == "2025-06-18"
    child.say('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    listed = child.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    assert listed["id"] == 2
    failed = child.ask({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {}})
    assert (failed["error"]["code"], failed["error"]["data"]["type"]) == (-32602, "MissingParameter")
    rest, _none = child.process.communicate(timeout=30)
    assert rest == ""
    assert child.process.returncode == 0
    for line in child.log.read_text().splitlines():
        assert json.loads(line)["message"]


def test_sigterm_ends_it_with_its_workers(child: Child) -> None:
    """MCP 2025-11-25, lifecycle: a client may end its server by a signal while the pipes are open."""
    child.ask(HELLO)
    child.process.send_signal(signal.SIGTERM)
    assert child.process.wait(timeout=20) == 0


def test_line_that_is_no_message_is_answered(child: Child) -> None:
    """SPEC T7, X1: not JSON, half a surrogate pair in an id, no JSON-RPC; before the handshake and after it."""
    lines = ("nonsense", '{"jsonrpc": "2.0", "id": "a\\ud800", "method": "ping"}', "[]", '{"id": 1}')
    for turn in range(2):
        for line, code in zip(lines, (-32700, -32700, -32600, -32600), strict=True):
            child.say(line)
            assert child.process.stdout is not None
            answer = json.loads(child.process.stdout.readline())
            assert (answer["id"], answer["error"]["code"]) == (None, code)
            assert answer["error"]["data"]["traceId"]
        assert "result" in child.ask(HELLO if turn == 0 else {"jsonrpc": "2.0", "id": 2, "method": "ping"})
