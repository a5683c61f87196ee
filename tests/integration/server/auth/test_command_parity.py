"""The command line as one more face of the tools: the same refusals, masking and audit, and a row for each command."""

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.jobs.principals import READ, SENSITIVE, WRITE
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, REGISTRY
from planner_mcp.settings import Settings
from planner_mcp.text import Json
from tests.integration.server.auth.conftest import Served
from tests.integration.server.auth.test_masked_endpoints import DAY, SECRETS
from tests.integration.server.auth.test_rest_parity import Key, by_command, by_mcp, by_page, calls
from tests.integration.server.mcp.app_replicas import replica
from tests.shared.http.http_clients import http_client

pytestmark = pytest.mark.anyio

SERVER, STORE, FILE = "server", "store", "file"
"""Where a command does what its tool does: at a server, for the principal of its key; in the store, for the owner it
names; on files. In the last two nobody signs in: there are no scopes, no masking and no audit."""
MATCHED: Final = {
    "jobs list": (SERVER, ("list_jobs",)),
    "jobs status": (SERVER, ("query_vrp_status",)),
    "jobs watch": (SERVER, ("query_vrp_status", "read_progress")),
    "jobs wait": (SERVER, ("query_vrp_status",)),
    "jobs cancel": (SERVER, ("cancel_vrp_job",)),
    "jobs finish": (SERVER, ("finish_vrp_job",)),
    "webhooks list": (STORE, ("webhook_deliveries",)),
    "webhooks show": (STORE, ("webhook_deliveries",)),
    "webhooks endpoints": (STORE, ("webhook_deliveries",)),
    "webhooks replay": (STORE, ("webhook_deliveries",)),
    "webhooks test": (STORE, ("webhook_deliveries",)),
    "webhooks secret": (STORE, ("webhook_secret",)),
    "webhooks rotate": (STORE, ("webhook_secret",)),
    "solve": (FILE, ("create_scenario", "solve_vrp", "plan_day")),
    "validate": (FILE, ("validate_scenario",)),
    "import": (FILE, ("import_scenario",)),
    "export": (FILE, ("read_resource",)),
}
"""The tools that a command matches."""
OF_NO_TOOL: Final = {
    **dict.fromkeys(("serve", "address", "worker"), "runs a process"),
    **dict.fromkeys(("manifest", "config", "bridge check", "doctor", "roads status"), "describes an installation"),
    **dict.fromkeys(("roads build", "backup", "restore"), "an operator's work on the host"),
    **dict.fromkeys(("keys create", "keys list", "keys revoke"), "an operator's: no tool gives out keys"),
    "matrix": "uploads have no tool; over HTTP it is PUT /matrices",
    "addresses resolve": "the address server's tools, which are no tools of the planner",
    "demo": "a fixed day, planned as `solve` does",
    "dashboard": "signs a person in to the page",
}
"""Why a command has no tool."""
WITHOUT_COMMAND: Final = {
    **dict.fromkeys(
        ("revise_scenario", "list_scenarios", "resolve_vrp", "what_if", "solve_alternatives"),
        "works on stored scenarios; the file is the scenario of the command line",
    ),
    **dict.fromkeys(
        ("read_plan", "compare_plans", "weigh_plans", "prove_plan", "explain_unassigned", "suggest_fixes"),
        "reads stored plans; `solve` prints or writes its plan",
    ),
    **dict.fromkeys(("propose_plan", "review_plan", "publish_plan", "share_plan"), "needs a principal who signs"),
    "enable_toolset": "a setting of an MCP session",
    "read_view": "of the MCP App alone",
}
"""Why a tool has no command."""


def _leaves(command: Any, *names: str) -> list[str]:
    """Return every command by its whole name."""
    if not hasattr(command, "list_commands"):
        return [" ".join(names)]
    below = ((name, command.get_command(None, name)) for name in command.list_commands(None))
    return [leaf for name, each in below for leaf in _leaves(each, *names, name)]


def test_every_command_and_every_tool_stands_in_one_row() -> None:
    """SPEC T5, O5: a new command or tool says what it matches, or why nothing."""
    matched = {tool for _where, tools in MATCHED.values() for tool in tools}
    assert Counter(_leaves(get_command(app))) == Counter([*MATCHED, *OF_NO_TOOL])
    assert Counter(tool.name for tool in (*REGISTRY, *APP_REGISTRY)) == Counter([*matched, *WITHOUT_COMMAND])


OF_A_JOB: Final = {
    name.removeprefix("jobs "): tools[0]
    for name, (where, tools) in MATCHED.items()
    if where == SERVER and name != "jobs list"
}

READING: Final = tuple(command for command, tool in OF_A_JOB.items() if tool == "query_vrp_status")


async def test_a_job_watched_from_a_shell_is_masked_and_refused_as_by_its_tool(
    store: RedisStore, key: Key, settings: Settings, audited: Callable[[], Awaitable[list[AuditEntry]]]
) -> None:
    """SPEC O5, T7, R3, A2, A3: an unknown id, no id and one of a stranger; a line of audit for each refusal."""
    owner, reader = await key("ann", READ, WRITE, SENSITIVE), await key("ann", READ, WRITE)
    bob = await key("bob", READ, WRITE)
    async with (
        replica(settings.redis_url or "", settings.data_dir, auth_api_keys=True) as on,
        http_client(base_url=on.url) as http,
    ):
        job_id = (await calls(http, owner, store))["query_vrp_status"]["job_id"]
        for command in ("watch", "wait"):
            for who in (owner, reader):
                last = (await by_command(on.url, who, command, job_id))["lines"][-1]
                own = await by_mcp(http, who, "query_vrp_status", {"job_id": job_id})
                assert (last["job_id"], last["status"]) == (job_id, "COMPLETED")
                assert last["result"].get("cost") == own["result"].get("cost"), (command, who == owner)
                assert [secret for secret in SECRETS if secret in repr(last)] == []
            assert "cost" not in last["result"]
        for command, tool in OF_A_JOB.items():
            for who, wrong in ((owner, "job-0-" + "a" * 26), (owner, "nonsense"), (bob, job_id)):
                said = await by_command(on.url, who, command, wrong)
                refused = await by_mcp(http, who, tool, {"job_id": wrong})
                assert said == {"code": refused["code"]}, (command, wrong)
    lines = Counter((entry.what, entry.outcome) for entry in await audited())
    assert lines["query_vrp_status", "4004"] == 2 * 3 * len(READING)  # by the command and by MCP
    assert [lines[tool, "4004"] for tool in ("cancel_vrp_job", "finish_vrp_job")] == [2 * 3] * 2
    assert lines["GET /jobs", "4004"] == 0


async def _run(*command: str, **environment: str) -> Any:
    return await anyio.to_thread.run_sync(lambda: CliRunner(env=environment).invoke(app, command))


WRONG_DAYS: Final = {
    "a wrong type": {**DAY, "agents": 3, "name": 5},
    "a missing field": {name: value for name, value in DAY.items() if name != "tickets"},
    "an unknown place": {**DAY, "tickets": [{"id": "t1", "location": "nowhere"}]},
    "an unknown field": {**DAY, "tickets": [{"id": "t1", "location": "p", "demmand": 1}]},
    "two of one id": {**DAY, "tickets": [DAY["tickets"][0], DAY["tickets"][0]]},
}


async def test_commands_that_read_a_day_name_the_mistakes_of_the_tools(
    served: Served, key: Key, tmp_path: Path
) -> None:
    """SPEC T5, T7: `validate` and `solve` print every fault of create_scenario in its words, and `solve`, where it is
    an error, its code; nothing is planned."""
    async with served() as http:
        who = await key("ann", READ, WRITE, SENSITIVE)
        found = {name: await _refusal(http, who, "create_scenario", wrong) for name, wrong in WRONG_DAYS.items()}
    path = tmp_path / "day.json"
    for name, wrong in WRONG_DAYS.items():
        path.write_text(json.dumps(wrong), encoding="utf-8")
        for command in ("validate", "solve"):
            said = await _run(command, str(path), PLANNER_DATA_DIR=str(tmp_path / "data"))
            code, faults = found[name]
            assert (said.exit_code, bool(faults)) == (1, True), (name, command)
            assert _unsaid(faults, said.output) == [], (name, command)
            assert command == "validate" or _codes(said.stderr) == [code], (name, said.stderr)


async def _refusal(http: Any, who: str, tool: str, arguments: Json) -> tuple[int, list[tuple[str, str]]]:
    """Return the code of a tool's refusal, and place and problem of each fault that it names."""
    body = {"tool": tool, "arguments": arguments}
    refused = (await http.post("/ui/call", json=body, headers={"authorization": who})).json()["structured"]
    return refused["code"], [(each["path"], each["problem"]) for each in refused.get("errors", ())]


_CODE: Final = re.compile(r"^error (\d+) \w+: ", re.MULTILINE)


def _codes(said: str) -> list[int]:
    return [int(code) for code in _CODE.findall(said)]


def _unsaid(found: list[tuple[str, str]], said: str) -> list[tuple[str, str]]:
    """Return the faults that no line of a text tells."""
    lines = _CODE.sub("", said).splitlines()
    return [
        (path, problem)
        for path, problem in found
        if not any(line.startswith(f"{path or '/'}:") and problem in line for line in lines)
    ]


TABLES: Final = {
    "no number": "id,lat,lon,demand\nA,52.5213,13.4131,much\n",
    "no row": "id,lat,lon,demand\n",
    "off the earth": "id,lat,lon,demand\nA,152.5213,13.4131,1\n",
}


async def test_import_names_the_mistakes_of_its_tool(served: Served, key: Key, tmp_path: Path) -> None:
    """SPEC T5, T7: the same code, and the same problems in the same rows; a field of the tool is an option here."""
    given = {"format": "csv", "planning_date": "2026-11-23", "agents": [{"id": "v", "capacity": 9}]}
    async with served() as http:
        who = await key("ann", READ, WRITE, SENSITIVE)
        found = {
            name: await _refusal(http, who, "import_scenario", {**given, "content": table})
            for name, table in TABLES.items()
        }
    path = tmp_path / "orders.csv"
    for name, table in TABLES.items():
        path.write_text(table, encoding="utf-8")
        said = await _run("import", str(path), "--date", "2026-11-23", "--agent", "1", "--capacity", "9")
        code, faults = found[name]
        places = [(place.removeprefix("/content"), problem) for place, problem in faults]
        assert (said.exit_code, bool(places), _codes(said.stderr)) == (1, True, [code]), (name, said.stderr)
        assert _unsaid(places, said.stderr) == [], (name, said.stderr)


async def test_webhook_commands_refuse_as_their_tool_does(served: Served, key: Key, settings: Settings) -> None:
    """SPEC T7, W3: an unknown delivery and an address that is none have the codes and places of webhook_deliveries."""
    environment = {"PLANNER_REDIS_URL": settings.redis_url or "", "PLANNER_DATA_DIR": str(settings.data_dir)}
    asked = (
        (("show", "nonsense"), {"action": "show", "delivery_id": "nonsense"}),
        (("replay", "nonsense"), {"action": "replay", "delivery_id": "nonsense"}),
        (("test", "ftp://x"), {"action": "test", "url": "ftp://x"}),
        (("test", "http://10.0.0.1/"), {"action": "test", "url": "http://10.0.0.1/"}),
    )
    async with served() as http:
        who = await key("ann", READ, WRITE)
        for command, arguments in asked:
            refused = await by_page(http, who, "webhook_deliveries", arguments)
            said = await _run("webhooks", *command, **environment)
            (place,) = refused["places"]
            place = "/delivery_ids/0" if command[0] == "replay" else place  # the command takes several
            assert (said.exit_code, _codes(said.stderr)) == (1, [refused["code"]]), said.output
            assert _CODE.sub("", said.stderr).startswith(f"{place}: "), said.stderr


async def test_export_writes_what_the_resource_shows(
    served: Served, key: Key, store: RedisStore, tmp_path: Path
) -> None:
    """SPEC T5, R2: the table of a plan is the same from a file and by read_resource; a wrong file is named."""
    async with served() as http:
        who = await key("ann", READ, WRITE, SENSITIVE)
        uri = (await calls(http, who, store))["read_resource"]["uri"]
        table = (await by_page(http, who, "read_resource", {"uri": uri}))["text"]
        document = (await by_page(http, who, "read_resource", {"uri": uri.removesuffix("/stops.csv")}))["text"]
    plan, day, stops = tmp_path / "plan.json", tmp_path / "day.json", tmp_path / "stops.csv"
    plan.write_text(document, encoding="utf-8")
    day.write_text(json.dumps(DAY), encoding="utf-8")
    said = await _run("export", str(plan), str(day), "--output", str(stops))
    assert (said.exit_code, said.output) == (0, "")
    assert stops.read_bytes().decode("utf-8-sig") == table  # with the mark that spreadsheets want in a file


FILE_COMMANDS: Final = tuple(name for name, (where, _tools) in MATCHED.items() if where == FILE)


@pytest.mark.parametrize("command", FILE_COMMANDS)
async def test_a_file_that_is_none_is_one_clear_fault(command: str, tmp_path: Path) -> None:
    """SPEC T6: whichever command reads it; nothing is written, and nothing is a traceback."""
    broken, output = tmp_path / "day.json", tmp_path / "out.csv"
    broken.write_text("{", encoding="utf-8")
    further = {
        "export": (str(broken), "--output", str(output)),
        "import": ("--date", "2026-11-23", "--output", str(output)),
        "solve": ("--data-dir", str(tmp_path / "data")),
    }
    for path in (broken, tmp_path / "missing.json"):
        said = await _run(command, str(path), *further.get(command, ()))
        assert (said.exit_code, isinstance(said.exception, SystemExit)) == (1, True), said.output
        assert _codes(said.stderr) == [4001], said.output
        assert [line for line in _CODE.sub("", said.stderr).splitlines() if line.startswith("/")] != [], said.output
    assert not output.exists()
