"""Upload of files for imports: `PUT /files/{name}` (SPEC T5).

Owns the HTTP half only. The name is the reference that `import_scenario` takes as `file`; it is its principal's own and
expires.
"""

from typing import Final

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.job_ports import ImportStore
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.principals import SENSITIVE, WRITE
from planner_mcp.jobs.records.import_records import UploadedFile
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.bodies.body_intake import FILES_PATH
from planner_mcp.server.http.responses.http_responses import json_answer
from planner_mcp.server.http.routes.http_endpoint import HttpEndpoint, both, check_query

MAX_NAME: Final = 100
_limiter: Final = FairLimiter(most_waiting=16)
"""Files stored at the same time; each call that waits holds a body."""


def files_routes() -> list[Route]:
    """Return the routes to mount. The store is `app.state.services.job_service.imports` of the running application."""
    return both(FILES_PATH + "{name}", HttpEndpoint(_put, "PUT"))


async def _put(request: Request) -> ASGIApp:
    (principal := principal_of(request.scope)).require(WRITE)
    check_query(request)
    name = request.path_params["name"]
    if len(name) > MAX_NAME or not name.isprintable():
        problem = "The name is too long, or has characters that are not printed."
        raise input_error([Fault("/name", problem, f"at most {MAX_NAME} printable characters")])
    imports: ImportStore = request.app.state.services.job_service.imports
    file = UploadedFile(await request.body(), is_confidential=principal.may(SENSITIVE))
    async with _limiter.turn(principal.id):
        await imports.put_file(principal.id, name, file)
    return json_answer({"file": name, "bytes": len(file.data)}, 201)
