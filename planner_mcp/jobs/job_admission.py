"""What a solve is charged and which calls count as the same. Owns the arithmetic; the store applies it atomically."""

import json
import math
from typing import Final

from planner_mcp.jobs.job_model import SolveRequest
from planner_mcp.text import digest_of, plain_fields


def seats_of(request: SolveRequest, cores: int) -> int:
    """Return the workers that search for a job at once: as many as have the cores it asks for."""
    return math.ceil((request.cores or cores) / cores)


def estimated_cpu_s(request: SolveRequest, cores: int) -> float:
    """Return the CPU seconds a solve may use: what fair sharing charges its principal."""
    return float(request.solve_time_s * cores * seats_of(request, cores))


_OUTSIDE_DIGEST: Final = ("idempotency_key", "fresh", "traceparent")
"""Fields that do not change the solve."""


def digest(request: SolveRequest) -> str:
    """Return the SHA-256 of everything that makes two solve calls the same (SPEC T2)."""
    same = {name: value for name, value in plain_fields(request).items() if name not in _OUTSIDE_DIGEST}
    for name in ("warm_changed_id", "is_masked", "cores"):
        if not same[name]:  # otherwise two versions refuse each other's keys
            del same[name]
    return digest_of(json.dumps(same, sort_keys=True, ensure_ascii=False))
