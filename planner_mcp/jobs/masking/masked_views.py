"""A confidential scenario and its plans, as a principal without `planner:sensitive` has them (SPEC R3, ADR 0035).

A scenario is confidential when a principal with the scope wrote it, and always for readers by a share link. A principal
without the scope sees positions rounded, and no prices or texts for people. Whatever it computes is computed from what
it sees. Of a plan that was made from the scenario itself it sees who visits what in which order; times and distances
are computed again from the rounded positions. So no answer depends on a masked value in a way that the caller
can steer.

Owns these forms. Which fields are sensitive is `field_masking.py`'s; jobs and events are `hidden_figures.py`'s.
"""

from dataclasses import replace
from typing import Final

from planner_mcp.errors import InsufficientScopeError, PlannerError
from planner_mcp.jobs.job_model import Job, StoredScenario
from planner_mcp.jobs.masking.field_masking import computable_body
from planner_mcp.jobs.principals import SENSITIVE, Principal
from planner_mcp.routing.infeasibility_reasons import GAVE_WAY, INCOMPLETE, REASON_TEXTS, InfeasibilityReason
from planner_mcp.routing.plan import Plan, Unassigned
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_parsing import input_hash
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices

NOTICE: Final = "Times and distances follow from rounded positions; exact ones and costs need planner:sensitive."


def is_masked_for(principal: Principal, record: Job | StoredScenario) -> bool:
    """Return whether a principal has the masked form of a scenario or a job."""
    return (record.is_confidential or principal.is_guest) and not principal.may(SENSITIVE)


def masked_scenario(scenario: StoredScenario) -> StoredScenario:
    """Return a scenario with what may be computed on, hash included: positions could be tried against the true hash."""
    body = computable_body(scenario.body)
    return replace(scenario, body=body, input_hash=input_hash(body))


def masked_plan(body: ScenarioBody, travel_matrices: TravelMatrices | None, plan: Plan) -> Plan:
    """Return the routes of a plan, timed on the masked body of its scenario; takes a second where that is large.

    Raises:
        InsufficientScopeError: They cannot be timed there.
    """
    from planner_mcp.routing.analysis.plan_repricing import candidate_on
    from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
    from planner_mcp.routing.evaluation.plan_builder import build_plan
    from planner_mcp.routing.scenario.scenario_parsing import read_stored

    try:
        problem = compile_scenario(read_stored(body, travel_matrices))
    except PlannerError as error:
        raise InsufficientScopeError(f"This plan needs the scope {SENSITIVE}.") from error
    if (candidate := candidate_on(problem, plan)) is None:
        raise InsufficientScopeError(f"This plan needs the scope {SENSITIVE}.")
    timed = build_plan(problem, candidate, engine=plan.engine, seed=plan.seed, versions=plan.versions)
    return replace(
        timed,
        status=plan.status,
        engine=plan.engine,
        routes=tuple(replace(route, cost=None) for route in timed.routes),
        unassigned=tuple(Unassigned(each.ticket_id, each.code, _detail(each)) for each in plan.unassigned),
        assumptions=(NOTICE, *timed.assumptions),
        is_masked=True,
    )


def _detail(entry: Unassigned) -> str:
    """Return a reason in words without values: its own where every day has the same, else those of its code."""
    if entry.detail in (INCOMPLETE, GAVE_WAY):
        return entry.detail
    return REASON_TEXTS[InfeasibilityReason(entry.code)] if entry.code in set(InfeasibilityReason) else ""
