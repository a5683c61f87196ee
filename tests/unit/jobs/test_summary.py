"""The figures of a plan."""

from planner_mcp.jobs.summary import summary_of


def test_a_summary_is_the_figures_without_the_routes() -> None:
    """SPEC T9: small enough for a status."""
    plan = {"status": "partial", "cost": 7.5, "routes": [1, 2], "unassigned": [{}, {}], "tickets_served": 3}
    assert summary_of(plan) == {"status": "partial", "cost": 7.5, "tickets_served": 3, "unassigned": 2}
