"""How long something took on a machine that others use too.

What is promised in seconds is promised for a machine that has a core and a disk for it. The kernel tells for how long
some process had to wait for either (pressure stall information); that is left out, though never more than nine tenths:
the wrong order of magnitude is wrong under any load. Where the kernel does not tell, orders of magnitude are all that
is held to.
"""

import re
import time
from pathlib import Path
from typing import Final

PRESSURE: Final = Path("/proc/pressure")
WAITED_FOR: Final = ("cpu", "io")
LEAST: Final = 0.1
"""Share of the time that counts whatever the load."""


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._began, self._stalled_s = time.monotonic(), _stalled_s()

    @property
    def elapsed_s(self) -> float:
        """What a clock on the wall says."""
        return time.monotonic() - self._began

    @property
    def spent_s(self) -> float:
        """The same without what others took."""
        elapsed_s, stalled_s = self.elapsed_s, _stalled_s()
        if stalled_s is None or self._stalled_s is None:
            return LEAST * elapsed_s
        return max(LEAST * elapsed_s, elapsed_s - (stalled_s - self._stalled_s))


def _stalled_s() -> float | None:
    """Return for how long since the machine started some process waited for a core or a disk, None where not told."""
    try:
        lines = [(PRESSURE / name).read_text(encoding="ascii") for name in WAITED_FOR]
    except OSError:
        return None
    totals = [re.search(r"^some .*total=(\d+)", text) for text in lines]
    return sum(int(found[1]) for found in totals if found is not None) / 1e6
