"""What a worker orders from a child: one solve, and how far it may overrun.

Owns the words that both ends of the conversation know. It imports no solver: the worker only orders, and solvers are
for `workers/solver_processes/solver_child.py`, in the warm parent and its children.
"""

from dataclasses import dataclass
from typing import Any, Final

from planner_mcp.jobs.job_model import plain_fields
from planner_mcp.routing.scenario.travel_matrices import Packed
from workers.child_processes import message_frames

OVERRUN_S: Final = 5.0
"""A child still searching this long after its limit is killed."""


@dataclass(frozen=True, slots=True)
class SolveCommand:
    """One solve, as the worker asks for it."""

    job_id: str
    trace_id: str
    body: dict[str, Any]
    """The scenario as stored."""
    input_hash: str
    engine: str
    seed: int
    solve_s: float
    """Time that is left to the job, compilation included."""
    cores: int
    memory_mb: int
    best_plan: dict[str, Any] | None = None
    """Where an earlier attempt stopped, or the plan of an earlier day to start from, as `Plan.as_json()`."""
    matrices: Packed | None = None
    """The tables of travel the scenario refers to."""

    def as_message(self) -> message_frames.Message:
        """Return the order as it travels."""
        return {"kind": "order", **plain_fields(self)}
