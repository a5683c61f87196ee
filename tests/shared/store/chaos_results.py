"""Prints what a storm did, and keeps it where a run is meant to be kept.

`CHAOS_RECORD=benchmarks/results/chaos-2026-11-21.json make chaos` adds each result to that file, with seed and machine.
"""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.result_files import commit, machine


def seed_of() -> int:
    """Return `CHAOS_SEED`, 1 unless said otherwise."""
    return int(os.environ.get("CHAOS_SEED", "1"))


def size_of(name: str, long: int) -> int:
    """Return the size of a test that has no quick half."""
    return int(os.environ.get(name, long))


def sizes(name: str, *, quick: int, long: int) -> pytest.MarkDecorator:
    """Run a test in two sizes: a quick one in every suite, a long one, or what the environment says, under `chaos`."""
    longest = pytest.param(size_of(name, long), marks=pytest.mark.chaos, id="long")
    return pytest.mark.parametrize("size", [pytest.param(quick, id="quick"), longest])


def keep(proof: str, *, seed: int, began: float, **figures: Any) -> None:
    """Print the figures of one proof; add them to the file that `CHAOS_RECORD` names."""
    figures["took_s"] = round(time.monotonic() - began, 1)
    proof += {"cluster": ", on a cluster", "redis": ", on Redis"}.get(os.environ.get("STORE", ""), "")
    print(f"\n[chaos] {proof} seed={seed} " + " ".join(f"{name}={value}" for name, value in figures.items()))  # noqa: T201
    if not (name := os.environ.get("CHAOS_RECORD")):
        return
    path = Path(name)
    kept: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    at = datetime.now(UTC).isoformat(timespec="seconds")
    kept.append({"proof": proof, "at": at, "commit": commit(), "seed": seed, "figures": figures, "machine": machine()})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n")
