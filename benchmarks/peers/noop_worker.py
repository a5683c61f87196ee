"""A worker of ours that does nothing: it claims and completes, so that the same no-op job runs here and elsewhere.

Run as `python -m benchmarks.peers.noop_worker DATA_DIR`, beside a server without workers; it goes on until it is
terminated.
"""

import asyncio
import sys
from pathlib import Path

from benchmarks.job_store_latency import PLAN, SLOTS
from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings


async def main(folder: Path) -> None:
    """Serve jobs."""
    async with connect(Settings(data_dir=folder)) as store:

        async def slot(name: str) -> None:
            await store.register(name, 1)
            claim = None
            while True:
                if claim := claim or await store.claim(name, 1.0):
                    claim = await store.complete(claim, Progress(percent=99), PLAN, take_next=True)
                else:
                    await store.register(name, 1)

        await asyncio.gather(*(slot(f"idle-{number}") for number in range(SLOTS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
