"""The costs of an alternative, by the prices of the day that it was made from (SPEC T5).

A style of `solve_alternatives` plans with prices that nobody asked for. Its day names the one whose prices hold
(`prices_of`), and everybody who reads the plan gets its costs by those. Owns the computation.
"""

from typing import Any

from planner_mcp.errors import TravelUnknownError
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices

Json = dict[str, Any]


def by_stated_prices(body: Json, source: Json, travel_matrices: TravelMatrices | None, plan: Plan) -> Plan:
    """Return a plan with its costs by the prices of another day; takes a second where the day is large.

    Args:
        body: The day of the plan.
        source: The day whose prices hold.
        travel_matrices: Of the day, where it refers to some.
        plan: The plan; returned as it is where the prices do not tell its cost.
    """
    from planner_mcp.routing.analysis.alternative_plans import with_prices_of
    from planner_mcp.routing.analysis.frozen_prefix import without_assignments
    from planner_mcp.routing.analysis.plan_repricing import repriced_on
    from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
    from planner_mcp.routing.scenario.scenario_parsing import read_stored

    stated = with_prices_of(without_assignments(body), source)
    try:
        problem = compile_scenario(read_stored(stated, travel_matrices))
    except TravelUnknownError:
        return plan
    return repriced_on(problem, plan) or plan
