"""A signal sent twice: the kernel makes one of two that wait, so the second is sent when the first has been taken."""

import re
import signal
from pathlib import Path

import anyio


async def until_taken(pid: int, number: signal.Signals = signal.SIGTERM, within_s: float = 30.0) -> None:
    """Return when a signal waits for a process no more. It tells the loop of asyncio of each that it takes."""
    with anyio.fail_after(within_s):
        while _is_pending(pid, number):  # noqa: ASYNC110 another process has no event
            await anyio.sleep(0.005)


def _is_pending(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    masks = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$", status, re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)
