"""A signal sent twice: the kernel makes one of two that wait, so the second is sent when the first has been taken."""

import re
import signal
from pathlib import Path

import anyio


async def until_taken(pid: int) -> None:
    """Return when no SIGTERM waits for a process any more. It tells the loop of asyncio of each that it takes."""
    with anyio.fail_after(30):
        while _is_pending(pid):  # noqa: ASYNC110 another process has no event
            await anyio.sleep(0.005)


def _is_pending(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    masks = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", status, re.MULTILINE)
    return any(int(mask, 16) >> (signal.SIGTERM - 1) & 1 for mask in masks)
