"""What the pages say is true: links lead somewhere, snippets parse, commands exist, tool calls answer."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client
from typer.testing import CliRunner

from examples.planner_server import PlannerServer
from planner_mcp.cli.command_line import app
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.tools.tool_registry import REGISTRY
from planner_mcp.settings import Settings
from tests.docs.doc_pages import PAGES, ROOT, Block, blocks, name

pytestmark = pytest.mark.anyio

FOREIGN = {"claude", "curl", "docker", "helm", "kubectl", "export"}
"""Commands of other people, and of the shell, that we quote."""
SKILL = ROOT / "skills" / "plan-routes" / "SKILL.md"
WORDS = sorted(ROOT.glob("planner_mcp/server/prompts/*.md"))
OTHER_VARIABLES = {
    "PLANNER_AUTH",
    "PLANNER_API_KEY",
    "PLANNER_ROBOT_SECRET",
    "PLANNER_AUDITOR_SECRET",
    "PLANNER_BENCH_DATA",
}
"""Read by compose.yaml, the benchmarks and commands that ask a server."""
OTHER_WORDS = {"solve_time", "plan_a", "plan_b", "plan_id"}
"""Arguments that begin like the name of a tool."""
each_page = pytest.mark.parametrize("page", PAGES, ids=name)


def _each_page_with(language: str) -> pytest.MarkDecorator:
    pages = [page for page in PAGES if any(block.language == language for block in blocks(page))]
    return pytest.mark.parametrize("page", pages, ids=name)


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    """Our choice: no page points at nothing."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)}
    local = {target for target in targets if target and not target.startswith("http")}
    assert sorted(target for target in local if not (page.parent / target).exists()) == []


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"], ids=name)
def test_files_named_exist(page: Path) -> None:
    """Our choice: who follows a list of files finds them; `NAME` stands for a name to choose."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = {f"/{path}" for path in listed} | {f"/{parent}" for path in listed for parent in Path(path).parents}
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:py|cpp|hpp|lua|md))`", text)
    unknown = [each for each in named if not any(path.endswith(f"/{each.rstrip('/')}") for path in paths)]
    assert [each for each in unknown if "NAME" not in each] == []


@_each_page_with("json")
def test_json_snippets_parse(page: Path) -> None:
    """Our choice: what is pasted into a client's settings works there."""
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.text)


@each_page
def test_variables_named_are_settings(page: Path) -> None:
    """Our choice: no page tells a setting that nothing reads; `PLANNER_WEBHOOK_…` stands for those that begin so."""
    named = set(re.findall(r"PLANNER_[A-Z0-9_]+", page.read_text(encoding="utf-8"))) - OTHER_VARIABLES
    known = {f"PLANNER_{each.upper()}" for each in Settings.model_fields}
    begun = {name for name in named if name.endswith("_") and any(each.startswith(name) for each in known)}
    assert sorted(named - known - begun) == []


@_each_page_with("yaml")
def test_yaml_snippets_parse(page: Path) -> None:
    """Our choice: what is pasted into a manifest of a cluster is one."""
    for block in blocks(page):
        if block.language == "yaml":
            yaml.safe_load(block.text)


@_each_page_with("sh")
def test_commands_exist_with_the_options_shown(page: Path) -> None:
    """Our choice: no page tells a command that is not there."""
    lines = [line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines() if line]
    assert [line for line in lines if not _is_known(shlex.split(line))] == []


def _is_known(words: list[str]) -> bool:
    program = Path(words[0]).name
    if program == "make":
        return re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE) is not None
    if program == "planner-mcp":
        shown_text = _help(*[word for word in words[1:3] if not word.startswith("-")])
        return all(word in shown_text for word in words if word.startswith("--"))
    if program == "python":
        return (ROOT / words[2].replace(".", "/")).with_suffix(".py").exists()
    return program in FOREIGN


def _help(*command: str) -> str:
    shown_text = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, [*command, "--help"])
    assert shown_text.exit_code == 0, shown_text.output
    return shown_text.output


def test_skill_says_what_it_is_for_in_yaml() -> None:
    """SPEC R4: a host that loads the skill reads its head."""
    head = yaml.safe_load(SKILL.read_text(encoding="utf-8").split("---\n")[1])
    assert (head.keys(), head["name"]) == ({"name", "description"}, "plan-routes")


def test_skill_says_what_to_try_for_every_reason_a_ticket_is_left_out() -> None:
    """SPEC R4: by the codes a plan gives."""
    shown_text = SKILL.read_text(encoding="utf-8")
    of_routes_and_sets = {"INCOMPATIBLE", "ORDER", "KEPT_ELSEWHERE", "WORKING_TIME", "COMBINED"}
    assert {code for code in InfeasibilityReason if f"`{code}`" not in shown_text} == of_routes_and_sets


@pytest.mark.parametrize("page", [SKILL, *WORDS], ids=name)
def test_prompts_and_skill_name_tools_that_exist(page: Path) -> None:
    """SPEC R4: a model is not sent for a tool that is not there."""
    known = {tool.name for tool in REGISTRY} | {prompt.name for prompt in PROMPTS}
    verbs = "|".join(sorted({tool.name.partition("_")[0] for tool in REGISTRY}))
    called = set(re.findall(rf"\b(?:{verbs})_[a-z_]+\b", page.read_text(encoding="utf-8")))
    assert sorted(called - known - OTHER_WORDS) == []


@pytest.mark.parametrize("page", [page for page in PAGES if any("tool" in b.words for b in blocks(page))], ids=name)
async def test_tool_calls_answer_as_the_page_says(page: Path, server: PlannerServer) -> None:
    """SPEC T1, T3: the calls on a page work in the order they stand there, against a planner as a reader starts it."""
    known: dict[str, Any] = {}
    async with Client(server.mcp) as client:
        for block in blocks(page):
            if "tool" in block.words:
                known |= await _call(client, block, known)
    assert known["status"] == "COMPLETED"


async def _call(client: Client, block: Block, known: dict[str, Any]) -> dict[str, Any]:
    """Call as written, save that placeholders (`…`) become the ids answered before; repeat a wait until the end."""
    given = json.loads(block.text)
    arguments = {key: known[key] if isinstance(value, str) and "…" in value else value for key, value in given.items()}
    for _ in range(20):
        result = await client.call_tool(block.words["tool"], arguments)
        answer = result.structured_content or {}
        assert result.is_error == ("error" in block.words), answer
        if result.is_error:
            assert answer["type"] == block.words["error"]
            return {}
        if block.words["tool"] != "query_vrp_status" or answer["status"] not in ("QUEUED", "SOLVING"):
            break
    return {key: answer[key] for key in ("scenario_id", "job_id", "status") if key in answer}
