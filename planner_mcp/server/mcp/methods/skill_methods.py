"""`skills/list` and `skills/get`: the extension `io.modelcontextprotocol/skills` (SPEC O6).

Owns the methods. `planner_mcp.server.resources.skill_files` has the skills; their files are read by `resources/read`.
"""

from typing import Any, Final

import mcp_types as types

from planner_mcp.errors import Fault, input_error
from planner_mcp.server.mcp.methods.extension_capability import declare_extension
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.request_context import Context
from planner_mcp.server.resources.resource_definition import LONG_MS
from planner_mcp.server.resources.skill_files import skills
from planner_mcp.text import Json

EXTENSION: Final = "io.modelcontextprotocol/skills"
_ANSWER: Final = {"resultType": "complete", "ttlMs": LONG_MS, "cacheScope": "public"}


class GetSkillParams(types.RequestParams):
    """Parameters of `skills/get`."""

    uri: str


class Skills:
    """Serves skills.

    Args:
        cursors: Makes and reads cursors.
    """

    def __init__(self, cursors: Cursors) -> None:
        self._cursors = cursors

    def install(self, server: Any) -> None:
        """Add the methods and the capability to the SDK's server."""
        server.add_request_handler("skills/list", types.PaginatedRequestParams, self.list_skills)
        server.add_request_handler("skills/get", GetSkillParams, self.get_skill)
        declare_extension(server, EXTENSION, {})

    async def list_skills(self, ctx: Context, params: types.PaginatedRequestParams | None) -> Json:
        """Answer `skills/list`."""
        shown, following = self._cursors.page(ctx, params, skills())
        page = {"skills": [each.as_json() for each in shown]}
        return {**_ANSWER, **page, **({"nextCursor": following} if following else {})}

    async def get_skill(self, _ctx: Context, params: GetSkillParams) -> Json:
        """Answer `skills/get`.

        Raises:
            InputError: No such skill.
        """
        for each in skills():
            if each.uri == params.uri:
                return {**_ANSWER, "skill": each.as_json()}
        raise input_error([Fault("/uri", "No skill has this URI.", ", ".join(each.uri for each in skills()))])
