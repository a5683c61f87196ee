"""What a deployment allows one principal: the numbers a client may plan with, read from the settings (SPEC J8)."""

from typing import Final

from planner_mcp.settings import Settings

NAMES: Final = (
    "max_tickets",
    "max_agents",
    "max_solve_time_s",
    "max_queued",
    "max_queued_per_principal",
    "max_solving_per_principal",
    "max_share",
    "submit_rate_per_s",
    "submit_burst",
    "max_body_bytes",
    "max_matrix_bytes",
    "max_matrix_locations",
    "max_matrices",
    "max_scenarios",
    "max_scenarios_bytes",
    "max_streams",
    "scenario_ttl_s",
    "job_ttl_s",
    "idempotency_ttl_s",
)
RATES: Final = ("rate_per_s", "rate_burst", "max_open_requests", "max_sessions")
"""Counted for authenticated principals alone."""


def limits_of(settings: Settings) -> dict[str, int | float]:
    """Return every limit of a deployment by the name of its setting."""
    names = (*NAMES, *RATES) if settings.has_auth else NAMES
    return {name: getattr(settings, name) for name in names}
