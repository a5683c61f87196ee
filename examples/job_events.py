"""Follows a job on its own channel: server-sent events that any HTTP client can read, no MCP needed.

Owns the reading of `GET /jobs/{job_id}/events`. Run `python -m examples.job_events URL JOB_ID` to see the events of a
job. After a lost connection, or while the server is away for a moment, it goes on from the last event id, on whichever
replica answers.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx2

RETRY_S = 0.5
"""Pause before a new connection, where the server names none."""
LATER = frozenset({429, 502, 503, 504})
"""Answers to a reader that is to come back: too many streams, or a store, a replica or a proxy that is away."""


async def follow(client: httpx2.AsyncClient, url: str, job_id: str, last: str = "") -> AsyncIterator[tuple[str, Any]]:
    """Yield `(event id, JSON-RPC notification)` until the job has ended, each event once and in order.

    Args:
        client: Without read timeout.
        url: Of the server, without path.
        job_id: The job.
        last: Id of the last event seen; empty for all.
    """
    pause_s = 0.0
    while True:
        await asyncio.sleep(pause_s)
        pause_s = RETRY_S
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        try:
            async with client.stream("GET", f"{url}/jobs/{job_id}/events", headers=headers) as response:
                if response.status_code == 204:  # nothing can follow
                    return
                if response.status_code in LATER:
                    pause_s = _retry_after_s(response)
                    continue
                response.raise_for_status()
                async for last, message in _events(response):
                    yield last, message
                    if message["method"] in ("notifications/complete", "notifications/cancelled"):
                        return
        except httpx2.TransportError:
            pass


def _retry_after_s(response: httpx2.Response) -> float:
    asked = response.headers.get("retry-after", "")
    return float(asked) if asked.isdecimal() else RETRY_S


async def _events(response: httpx2.Response) -> AsyncIterator[tuple[str, Any]]:
    id_, data = "", ""
    async for line in response.aiter_lines():
        field, _, value = line.partition(":")
        if field == "id":
            id_ = value.strip()
        elif field == "data":
            data += value.strip()
        elif not line and data:
            yield id_, json.loads(data)
            data = ""


async def main(url: str, job_id: str) -> None:
    """Print the events of a job."""
    async with httpx2.AsyncClient(timeout=httpx2.Timeout(10, read=None), trust_env=False) as client:
        async for id_, message in follow(client, url, job_id):
            print(id_, message["method"], json.dumps(message["params"], ensure_ascii=False))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
