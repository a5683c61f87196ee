"""The commands of the page on REST work as they stand there, one after the other."""

import json
import os
from pathlib import Path

import anyio
import pytest

from examples.planner_server import PlannerServer
from tests.docs.doc_pages import ROOT, Block, blocks

pytestmark = pytest.mark.anyio
PAGE = ROOT / "docs" / "how-to" / "rest.md"
IDS = ("scenario_id", "job_id")
SEEN = ("type", "title", "status", "detail", "name", "code", "errors", "retryable")


async def test_each_command_answers_with_the_status_the_page_says(server: PlannerServer, tmp_path: Path) -> None:
    """SPEC O5: ids of an answer are those of the next commands."""
    found, known = blocks(PAGE), {"PLANNER": server.url}
    commands = [block for block in found if "status" in block.words]
    assert len(commands) == 14
    answer = ""
    for block in commands:
        status, answer = await run(block, known, tmp_path)
        assert status == block.words["status"], (block.text, answer)
        if answer.startswith("{"):
            body = json.loads(answer)
            known |= {name.upper(): body[name] for name in IDS if name in body}
    shown = next(json.loads(block.text) for block in found if block.language == "json")
    assert {name: shown[name] for name in SEEN} == {name: json.loads(answer)[name] for name in SEEN}


async def run(block: Block, known: dict[str, str], folder: Path) -> tuple[str, str]:
    """Return the status of the answer to a command, and its body."""
    assert block.text.startswith("curl ")
    body = folder / "body"
    command = block.text.replace("curl ", f"curl -sS -o {body} -w '%{{http_code}}' ", 1)
    done = await anyio.run_process(["bash", "-c", command], env=os.environ | known)
    return done.stdout.decode(), body.read_text(encoding="utf-8")
