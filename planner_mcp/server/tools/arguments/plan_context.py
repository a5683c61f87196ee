"""What planning tools share: the day a plan belongs to, and work on it beside the event loop.

Owns how a plan, a job or a scenario named by a caller is found, and where a large day is worked on: in a thread,
a few at a time and callers in turn, so that others are answered meanwhile. A day under a patch is
`scenario_revision.py`'s.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from planner_mcp.errors import Fault, NotFoundError, input_error
from planner_mcp.jobs.ids import job_of, plan_of
from planner_mcp.jobs.job_model import Job, StoredScenario
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.routing.feasibility.insertion_candidates import StopCheck
from planner_mcp.routing.feasibility.verified_fixes import UnassignedAnalysis
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.plan import UNIT_LEGS, Plan, Unassigned
from planner_mcp.routing.scenario.checks.reference_checks import did_you_mean, near_names
from planner_mcp.routing.scenario.cost_unit import cost_unit
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.shown_scenario import as_shown
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, SCENARIO, naming_argument
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.text import named

T = TypeVar("T")
Clock = Callable[[], float]
"""Seconds, from wherever."""
JobId = Annotated[str, Field(max_length=100, description="from solve_vrp")]
PlanName = Annotated[str, Field(max_length=100, description="plan_id or job_id")]
_limiter: Final = FairLimiter()
"""Days worked on at the same time."""


@dataclass(frozen=True, slots=True)
class PlanContext:
    """A plan with what it plans."""

    job: Job
    scenario: StoredScenario
    plan: Plan
    """Unmasked."""
    travel_matrices: TravelMatrices | None = None
    """The travel its day refers to, where it is at hand."""

    @property
    def plan_id(self) -> str:
        """The name of the plan."""
        return plan_of(self.job.id)

    def chosen_instead(self) -> dict[str, str]:
        """Return the ticket served in place of each that is left out for another of its group."""
        served = {visit.ticket_id for route in self.plan.routes for visit in route.visits}
        left = {
            entry.ticket_id for entry in self.plan.unassigned if entry.code == InfeasibilityReason.GROUP_OTHER_CHOSEN
        }
        groups = [group["tickets"] for group in self.scenario.body.get("groups") or () if group["kind"] == "one_of"]
        instead: dict[str, str] = {}
        for names in groups:
            if (other := next((name for name in names if name in served), None)) is not None:
                instead |= {name: other for name in names if name in left}
        return instead

    def unassigned(self, ticket_ids: list[str]) -> list[Unassigned]:
        """Return the unassigned entries that were asked for, all of them where none was named."""
        entries = {entry.ticket_id: entry for entry in self.plan.unassigned}
        served = {visit.ticket_id for route in self.plan.routes for visit in route.visits}
        near = near_names((name for name in ticket_ids if name not in served | entries.keys()), entries)
        faults = [
            Fault(
                f"/ticket_ids/{index}",
                "The plan serves this ticket." if name in served else "There is no ticket of this id here.",
                "the id of an unassigned ticket",
                did_you_mean(near.get(name)) or "Leave ticket_ids out for all of them.",
            )
            for index, name in enumerate(ticket_ids)
            if name not in entries
        ]
        if faults:
            raise input_error(faults)
        return [entries[name] for name in dict.fromkeys(ticket_ids)] if ticket_ids else list(entries.values())

    def analysis(self) -> UnassignedAnalysis:
        """Return the plan on its day, ready for insertions; takes seconds where the day is large."""
        return UnassignedAnalysis(self.scenario.body, self.plan, self.travel_matrices)


def cost_unit_of_plan(body: ScenarioBody, plan: Plan) -> str | None:
    """Return what the costs of a plan by the prices of a day are in; None where they count legs, or are masked."""
    return None if plan.is_masked or plan.travel.get("source") == UNIT_LEGS else cost_unit(as_shown(body))


def unit_lines(unit: str | None) -> list[str]:
    """Return the line of an answer as text that says what its costs are in, where that is told."""
    return [f"cost_in {unit}"] if unit else []


async def load_plan_context(ctx: ToolContext, name: str, path: str) -> PlanContext:
    """Return the plan of a job or of a plan's name, with its job and its scenario.

    Args:
        ctx: Of the call.
        name: As the caller wrote it.
        path: Of the argument it stands in.

    Raises:
        NotFoundError: Unknown, or somebody else's.
    """
    with naming_argument(path, PLAN):
        job_id = job_id_of(name)
        job = await ctx.job_service.job(ctx.principal, job_id)  # first: the plan of a job that has ended is its last
        plan = await ctx.job_service.plan_of_job(ctx.principal, job_id)
        scenario = await ctx.job_service.scenario(ctx.principal, job.request.scenario_id)
    travel_matrices = await ctx.job_service.matrices.for_scenario(job.principal, scenario.body)
    return PlanContext(job, scenario, plan, travel_matrices)


async def scenario_at(ctx: ToolContext, scenario_id: str) -> StoredScenario:
    """Return the scenario that the argument `scenario_id` names.

    Raises:
        NotFoundError: Unknown, or somebody else's.
    """
    with naming_argument("/scenario_id", SCENARIO):
        return await ctx.job_service.scenario(ctx.principal, scenario_id)


def job_id_of(name: str) -> str:
    """Return the job that a job's or a plan's name stands for."""
    if name.startswith("plan-"):
        return job_of(name)
    if not name.startswith("job-"):
        raise NotFoundError
    return name


def deadline_check(budget_s: float, clock: Clock) -> StopCheck:
    """Return a function that says whether a budget of time is used up."""
    ends = clock() + budget_s
    return lambda: clock() > ends


def shared_deadlines(budget_s: float, count: int, clock: Clock) -> Iterator[StopCheck]:
    """Yield, for each of some pieces of work, a function that says whether its share of a budget is used up.

    The budget begins with the first piece, a share when its piece does; what one leaves is shared among those after it.
    """
    ends = clock() + budget_s
    for left in range(count, 0, -1):
        yield deadline_check((ends - clock()) / left, clock)


async def run_in_thread(ctx: ToolContext, work: Callable[..., T], *args: Any) -> T:
    """Run work on a day in a thread, when it is its caller's turn; raises as `FairLimiter.turn`."""
    return await _limiter.run(ctx.principal.id, work, *args)


def turn_for_a_day(ctx: ToolContext) -> AbstractAsyncContextManager[None]:
    """Return the caller's turn for work on a day elsewhere; raises as `FairLimiter.turn`."""
    return _limiter.turn(ctx.principal.id)


def group_served_sentence(ticket: str, other: str) -> str:
    """Return the sentence of an alternative that is left out as it should be."""
    return f"{ticket}: nothing to change: {other} of its group is served"


def check_agents(asked: Sequence[str], known: Collection[str]) -> None:
    """Refuse agents that nobody knows: an answer about them would look as if there were nothing to say.

    Raises:
        InputError: At their places in `agent_ids`, with the name that was meant where one is near.
    """
    near = near_names((name for name in asked if name not in known), known)
    faults = [
        Fault(
            f"/agent_ids/{index}",
            "There is no agent of this id here.",
            f"an agent of the day: {named(list(known))}",
            did_you_mean(near.get(name)) or "Leave agent_ids out for all of them.",
        )
        for index, name in enumerate(asked)
        if name not in known
    ]
    if faults:
        raise input_error(faults)
