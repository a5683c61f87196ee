"""MCP Skills: the skills of the product, listed, described and read, in both eras (SPEC O6)."""

import hashlib

import pytest

from planner_mcp.server.mcp.methods.skill_methods import EXTENSION
from planner_mcp.server.resources.skill_files import FOLDERS
from tests.integration.server.mcp.app_replicas import Caller, Two
from tests.integration.server.mcp.test_resource_methods import caller

pytestmark = pytest.mark.anyio
URI = "skill://plan-routes/SKILL.md"
__all__ = ["caller"]


async def test_every_file_of_a_skill_is_listed_with_its_digest_and_read(app_replicas: Two, caller: Caller) -> None:
    """SPEC O6: frontmatter unchanged, digest and size of the bytes that are served."""
    (listed,) = (await caller.result(app_replicas[0], "skills/list"))["skills"]
    assert (listed["uri"], listed["frontmatter"]["name"]) == (URI, "plan-routes")
    assert listed["frontmatter"]["description"].startswith("Plan vehicle routes")
    found = await caller.result(app_replicas[1], "skills/get", uri=URI)
    assert found["skill"] == listed
    (file,) = listed["resources"]
    (contents,) = (await caller.result(app_replicas[0], "resources/read", URI, uri=URI))["contents"]
    served = contents["text"].encode()
    assert served == next(each for each in FOLDERS if each.is_dir()).joinpath("plan-routes", "SKILL.md").read_bytes()
    assert contents["mimeType"] == "text/markdown"
    assert file == {"uri": URI, "digest": f"sha256:{hashlib.sha256(served).hexdigest()}", "size": len(served)}


async def test_what_is_no_skill_is_refused(app_replicas: Two, caller: Caller) -> None:
    """SPEC O6: −32602; no path leads out of the folder."""
    for uri in ("skill://other/SKILL.md", "skill://plan-routes/..%2F..%2Fserver.json", "x" * 3000):
        assert (await caller.error(app_replicas[0], "skills/get", uri=uri))["code"] == -32602
    assert (await caller.error(app_replicas[0], "skills/get"))["code"] == -32602
    for uri in ("skill://plan-routes/../../server.json", "skill://plan-routes/other.md", "skill://../SKILL.md"):
        assert (await caller.error(app_replicas[0], "resources/read", uri, uri=uri))["code"] in (-32002, -32602)


async def test_who_did_not_ask_sees_nothing_of_it(app_replicas: Two, legacy: Caller, modern: Caller) -> None:
    """SPEC O6, T9: a handshake declares what its client declared; lists stay as they were."""
    answer = await legacy.initialize(app_replicas[0])
    assert EXTENSION not in answer["capabilities"].get("extensions", {})
    listed = await modern.result(app_replicas[0], "resources/list")
    templates = await modern.result(app_replicas[0], "resources/templates/list")
    assert "skill://" not in str(listed) + str(templates)
    legacy.extensions = {EXTENSION: {}}
    answer = await legacy.initialize(app_replicas[0])
    assert answer["capabilities"]["extensions"] == {EXTENSION: {}}
    discovered = await modern.result(app_replicas[0], "server/discover")
    assert EXTENSION in discovered["capabilities"]["extensions"]
