"""The REST form of cuOpt: a request, the wait for its answer, and its deletion.

Owns the exchange. A request is deleted when nobody waits for it any more, also where this process is killed: a process
that watches over it deletes it then, because a search on a GPU would otherwise go on until its limit.

Source: the OpenAPI description of cuOpt's server 26.10.
"""

import json
import os
import signal
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import httpx2 as httpx

from planner_mcp.errors import EngineError
from planner_mcp.text import Json

ANSWER_S: Final = 10.0
"""Longest wait for an answer to one call, the upload of a large request aside."""
UPLOAD_S: Final = 60.0
HEALTH_S: Final = 1.0
POLL_S: Final = 0.05
_HEADERS: Final = {"CLIENT-VERSION": "custom", "accept": "application/json"}
_GONE: Final = 1
"""Seconds for a deletion by the process that watches."""


class CuoptClient:
    """One server of cuOpt.

    Args:
        url: Its address, without a path.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def is_healthy(self) -> bool:
        """Return whether it answers."""
        try:
            return httpx.get(f"{self._url}/cuopt/health", timeout=HEALTH_S).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def solve(self, request: Json, ends: float, should_stop: Callable[[], bool]) -> Json | None:
        """Return the solver's answer; None where it has none by a time of the monotonic clock, or the caller stops.

        Raises:
            EngineError: The server refuses the request, or answers nothing that can be used.
        """
        body = zlib.compress(json.dumps(request, separators=(",", ":")).encode(), level=1)
        with httpx.Client(base_url=self._url, headers=_HEADERS, timeout=ANSWER_S) as http, self._watched() as watch:
            headers = {"content-type": "application/zlib"}
            posted = _json(_sent(http, "POST", "/cuopt/request", content=body, headers=headers, timeout=UPLOAD_S))
            number = posted.get("reqId")
            if not isinstance(number, str):
                raise EngineError("cuOpt answered a request without its reqId.")
            watch(number)
            while not should_stop() and time.monotonic() < ends:
                answer = _json(_sent(http, "GET", f"/cuopt/solution/{number}"))
                if "response" in answer:
                    watch("")
                    _sent(http, "DELETE", f"/cuopt/solution/{number}")
                    found = answer["response"].get("solver_response")
                    return found if isinstance(found, dict) else None
                time.sleep(POLL_S)
        return None

    @contextmanager
    def _watched(self) -> Iterator[Callable[[str], None]]:
        """Yield what takes the number of the running request, `""` for none; what runs at the end is deleted."""
        read_end, write_end = os.pipe()
        if (watcher := os.fork()) == 0:
            os.close(write_end)
            self._delete_when_left(read_end)
        os.close(read_end)
        try:
            yield lambda number: _written(write_end, number)
        finally:
            os.close(write_end)
            os.waitpid(watcher, 0)

    def _delete_when_left(self, read_end: int) -> None:
        """Wait until nobody holds the other end, delete the request that runs, and exit; never returns."""
        try:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.setitimer(signal.ITIMER_REAL, 0)
            text = b""
            while data := os.read(read_end, 4096):
                text += data
            if number := text.decode().split("\n")[-2] if text else "":
                httpx.delete(
                    f"{self._url}/cuopt/request/{number}", params={"running": "true", "queued": "true"}, timeout=_GONE
                )
        finally:
            os._exit(os.EX_OK)


def _written(end: int, number: str) -> None:
    os.write(end, f"{number}\n".encode())


def _sent(http: httpx.Client, method: str, path: str, **more: Any) -> httpx.Response:
    try:
        answer = http.request(method, path, **more)
    except httpx.HTTPError as error:
        raise EngineError("The cuOpt server did not answer.") from error
    if answer.status_code != httpx.codes.OK:
        raise EngineError(f"The cuOpt server refused {method} {path.split('/')[2]} with status {answer.status_code}.")
    return answer


def _json(answer: httpx.Response) -> Json:
    with suppress(ValueError):
        if isinstance(found := answer.json(), dict):
            return found
    raise EngineError("The cuOpt server answered with something that is no JSON object.")
