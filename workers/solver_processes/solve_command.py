"""The message by which a worker starts a solve, and how far a solve may overrun its time.

It imports no solver, because the worker reads it too; solvers are loaded in the fork server and its children only.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner_mcp.routing.plan import PlanJson
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.text import plain_fields
from workers import message_frames

if TYPE_CHECKING:
    from planner_mcp.routing.scenario.travel_matrices import Packed

OVERRUN_S: Final = 5.0
"""A solver process that still searches this long after its limit is killed, once it has a plan."""


@dataclass(frozen=True, slots=True)
class SolveCommand:
    """One solve, as the worker requests it."""

    job_id: str
    trace_id: str
    body: ScenarioBody
    """The scenario as stored."""
    input_hash: str
    engine: str
    seed: int
    solve_s: float
    """Time that is left to the job, compilation included."""
    cores: int
    memory_mb: int
    best_plan: PlanJson | None = None
    """The plan of an earlier attempt, or of another scenario to start from."""
    cuopt_url: str = ""
    """Of the cuOpt server, where there is one."""
    matrices: "Packed | None" = None
    """The travel matrices that the scenario refers to."""
    prices: ScenarioBody | None = None
    """The day whose prices determine the costs of plans; None where they are those of the scenario, or unavailable."""
    member: int = 1
    """Number of this search in the team of the job; its owner is 1."""
    span_s: float = 0.0
    """Time of the whole job, the same for all members of a team; 0 without a team."""
    has_made_up_prices: bool = False
    """Whether prices of the scenario were made up to find another plan, so that costs should follow from `prices`."""

    def as_message(self) -> message_frames.Message:
        """Return the command as it is sent."""
        return {"kind": "solve", **plain_fields(self)}
