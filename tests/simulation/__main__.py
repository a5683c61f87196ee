"""Plays histories: `--seed N` one, step by step; with `--histories COUNT` many, from that seed on."""

import argparse
import sys
import time
from contextlib import nullcontext

from tests.simulation.planted_bugs import BUGS, planted
from tests.simulation.runs import violations
from tests.simulation.scripted_server import ScriptedServer
from tests.simulation.world import played


def main() -> int:
    """Return 1 where a history broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--histories", type=int, default=1, help="how many seeds")
    parser.add_argument("--processes", type=int, default=1, help="how many at once")
    parser.add_argument("--bug", choices=BUGS, help="a bug to plant before; for one process")
    given = parser.parse_args()
    began, failed = time.monotonic(), 0
    with planted(given.bug) if given.bug else nullcontext():
        if given.histories == 1:
            return _show(given.seed)
        for seed, problems in violations(range(given.seed, given.seed + given.histories), processes=given.processes):
            failed += 1
            print(f"--seed {seed}:", *problems, sep="\n  ", flush=True)  # noqa: T201
    print(f"{given.histories} histories in {time.monotonic() - began:.1f} s, {failed} with violations")  # noqa: T201
    return int(failed > 0)


def _show(seed: int) -> int:
    """Show a history step by step."""
    with ScriptedServer() as server:
        history = played(server, seed).history
    lines = [*history.steps, *(f"{who}: {what}" for who, what in history.hits), *history.answers]
    print(*lines, *(f"VIOLATION {problem}" for problem in history.problems), sep="\n")  # noqa: T201
    return int(bool(history.problems))


if __name__ == "__main__":
    sys.exit(main())
