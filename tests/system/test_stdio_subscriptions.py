"""Over stdio, too, a client hears what moves: resources and tasks with a handshake, a listen stream without."""

import json
from typing import Any

import pytest

from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.system.stdio_child import Child

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}


class Talk:
    """Requests and what is heard between their answers."""

    def __init__(self, child: Child, meta: dict[str, Any] | None = None) -> None:
        self._child = child
        self._meta = meta
        self._id = 0
        self.heard: list[dict[str, Any]] = []

    def say(self, method: str, **params: Any) -> int:
        self._id += 1
        if self._meta is not None:
            params["_meta"] = self._meta
        self._child.say(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}))
        return self._id

    def listen(self) -> dict[str, Any]:
        assert self._child.process.stdout is not None
        return dict(json.loads(self._child.process.stdout.readline()))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        request_id = self.say(method, **params)
        while (message := self.listen()).get("id") != request_id:
            self.heard.append(message)
        assert "result" in message, message
        return dict(message["result"])

    def until(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the first notification of a method, heard or to come, that has these params."""
        while True:
            for message in self.heard:
                if message.get("method") == method and params.items() <= message["params"].items():
                    return message
            self.heard.append(self.listen())

    def scenario(self) -> str:
        created = self.ask("tools/call", name="create_scenario", arguments=SMALLEST)
        return str(created["structuredContent"]["scenario_id"])


@pytest.mark.slow
def test_client_with_a_handshake_hears_of_its_task_and_its_resource(child_with_worker: Child) -> None:
    """SPEC X1, X2: the same story as on a standalone stream."""
    talk = Talk(child_with_worker)
    talk.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "raw", "version": "1"})
    child_with_worker.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    scenario_id = talk.scenario()
    talk.ask("resources/subscribe", uri=f"scenario://{scenario_id}/result")
    arguments = {"scenario_id": scenario_id, "solve_time": "PT2S"}
    task_id = talk.ask("tools/call", name="solve_vrp", arguments=arguments, task={})["task"]["taskId"]
    talk.until("notifications/tasks/status", taskId=task_id, status="completed")
    talk.until("notifications/resources/updated", uri=f"scenario://{scenario_id}/result")
    assert talk.ask("tasks/result", taskId=task_id)["structuredContent"]["status"] == "COMPLETED"


@pytest.mark.slow
def test_client_without_a_handshake_listens(child_with_worker: Child) -> None:
    """SPEC X1, X2: `subscriptions/listen` over the pipe, beside other requests."""
    talk = Talk(child_with_worker, META)
    arguments = {"scenario_id": talk.scenario(), "solve_time": "PT2S"}
    task_id = talk.ask("tools/call", name="solve_vrp", arguments=arguments)["taskId"]
    talk.say("subscriptions/listen", notifications={"taskIds": [task_id]})
    assert talk.until("notifications/subscriptions/acknowledged")["params"]["notifications"] == {"taskIds": [task_id]}
    last = talk.until("notifications/tasks", status="completed")
    assert last["params"]["result"]["structuredContent"]["status"] == "COMPLETED"
    assert talk.ask("tasks/get", taskId=task_id)["status"] == "completed"
