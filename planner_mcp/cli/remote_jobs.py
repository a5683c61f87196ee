"""Jobs of a running server over HTTP, for `planner-mcp jobs --url`.

Owns the requests, the credential they carry, and how a stream is resumed. Jobs are listed and changed by the tools and
resources that the dashboard uses, so a command may do what its key may.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx2 as httpx
import typer

from planner_mcp.cli.command_runner import run_command
from planner_mcp.cli.environment_settings import API_KEY
from planner_mcp.errors import Fault, PlannerError, error_classes
from planner_mcp.jobs.job_lifecycle import TERMINAL, JobState
from planner_mcp.setting_urls import is_address
from planner_mcp.text import Json, timestamp

R = TypeVar("R")
SILENT_S: Final = 60.0
"""A stream that says nothing for so long, not even that it is alive, is opened again."""
RETRY_FIRST_S, RETRY_LONGEST_S = 0.5, 10.0
PAGE: Final = 50
"""Jobs a page, as many as there may be."""
_LATER: Final = frozenset({429, 502, 503, 504})
_ENDED: Final = frozenset(state.upper() for state in TERMINAL)


class RemoteJobs:
    """The jobs of the principal of a key.

    Args:
        http: Has the address of the server and the key.
    """

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def list(self, state: JobState | None, count: int) -> tuple[list[Json], int]:
        """Return the newest jobs, and how many there are."""
        found: list[Json] = []
        for page in range(1, -(-count // PAGE) + 1):
            uri = f"jobs://vrp/status/{state or 'all'}?page={page}&size={PAGE}"
            answer = await self._asked("GET", "/ui/read", params={"uri": uri})
            found += answer["jobs"]
            if "next" not in answer:
                break
        return found[:count], answer["total"]

    async def job(self, job_id: str) -> Json:
        """Return a job."""
        return await self._called("query_vrp_status", job_id=job_id)

    async def cancel(self, job_id: str, *, keep_best: bool) -> Json:
        """Cancel a job."""
        await self._called("cancel_vrp_job", job_id=job_id, keep_best=keep_best)
        return await self.job(job_id)

    async def finish(self, job_id: str) -> Json:
        """Complete a job with its best plan."""
        await self._called("finish_vrp_job", job_id=job_id)
        return await self.job(job_id)

    async def events(self, job_id: str) -> AsyncGenerator[tuple[str, Json], None]:
        """Yield time and content of each event of a job until it ends; a lost connection is resumed."""
        await self.job(job_id)
        last, pause_s = "", RETRY_FIRST_S
        while True:
            try:
                async for event_id, message in self._stream(job_id, last):
                    last, pause_s = event_id, RETRY_FIRST_S
                    params = message["params"]
                    yield timestamp(datetime.fromtimestamp(int(last.partition("-")[0]) / 1000, UTC)), params
                    if params["status"] in _ENDED:
                        return
            except httpx.TransportError:
                pass
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, RETRY_LONGEST_S)

    async def _stream(self, job_id: str, last: str) -> AsyncIterator[tuple[str, Json]]:
        """Yield id and message of each event until the connection ends; none while the server asks for patience."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        async with self._http.stream("GET", f"/jobs/{_part(job_id)}/events", headers=headers) as answer:
            if answer.status_code in _LATER:
                return
            if answer.status_code != httpx.codes.OK:
                await answer.aread()
                raise _refusal(answer)
            fields: dict[str, str] = {}
            async for line in answer.aiter_lines():
                if line:
                    name, _, value = line.partition(":")
                    fields[name] = value.removeprefix(" ")
                elif fields.get("data"):
                    yield fields["id"], json.loads(fields["data"])
                    fields = {}

    async def _called(self, tool: str, **arguments: Any) -> Json:
        result = await self._asked("POST", "/ui/call", json={"tool": tool, "arguments": arguments})
        if result["is_error"]:
            raise _error(result["structured"])
        return dict(result["structured"])

    async def _asked(self, method: str, path: str, **options: Any) -> Json:
        answer = await self._http.request(method, path, **options)
        if answer.status_code != httpx.codes.OK:
            raise _refusal(answer)
        try:
            return dict(answer.json())
        except ValueError as error:
            raise PlannerError("What answers there is no planner-mcp.") from error


def run_remote_query(question: Callable[[RemoteJobs], Awaitable[R]], url: str) -> R:
    """Return what a server answers; a refusal ends the command with status 1.

    Raises:
        typer.BadParameter: It is no address, or the key is none.
    """
    if not is_address(url):
        raise typer.BadParameter("--url: it is no address of a server, such as http://127.0.0.1:8080")
    server = url.rstrip("/").removesuffix("/mcp")
    key = os.environ.get(API_KEY, "")
    if not key.isascii() or any(map(str.isspace, key)):
        raise typer.BadParameter(f"{API_KEY}: it is no key")

    async def answer() -> R:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with httpx.AsyncClient(base_url=server, headers=headers, timeout=SILENT_S) as http:
            try:
                return await question(RemoteJobs(http))
            except httpx.HTTPError as error:
                raise PlannerError(f"{server} does not answer.") from error

    return run_command(answer())


def _part(job_id: str) -> str:
    """Return an id as a part of a path, which leads nowhere else."""
    return quote(job_id, safe="") if job_id not in ("", ".", "..") else "%20"


def _refusal(answer: httpx.Response) -> PlannerError:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or "message" not in body:
        return PlannerError(f"The server answers with HTTP status {answer.status_code}.")
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        return _class_of(body)(f"{body['message']} Put an API key into {API_KEY}.")
    return _error(body)


def _error(body: Json) -> PlannerError:
    names = ("path", "problem", "accepted", "hint")
    faults = [Fault(*(str(each.get(name, "")) for name in names)) for each in body.get("errors", ())]
    return _class_of(body)(str(body["message"]), errors=faults)


def _class_of(body: Json) -> type[PlannerError]:
    """Return the class of an error as the server names it, whichever version it has."""
    code = body.get("code")
    return error_classes().get(code, PlannerError) if isinstance(code, int) else PlannerError
