"""What a deployment allows one principal: the numbers a client may plan with, read from the settings (SPEC J8)."""

from typing import Final

from planner_mcp.settings import Settings

LIMIT_NAMES: Final = (
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
    "max_values",
    "max_open_body_bytes",
    "read_share",
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
SHARDED_LIMITS: Final = (
    "max_queued",
    "max_queued_per_principal",
    "max_solving_per_principal",
    "max_share",
    "submit_rate_per_s",
    "submit_burst",
    "max_matrices",
)
"""Limits counted in each shard alone: each allows an equal part, and at least one."""
AUTHENTICATED_LIMITS: Final = ("rate_per_s", "rate_burst", "body_mb_per_s", "max_open_requests", "max_sessions")
"""Counted for authenticated principals alone."""


def limits_of(settings: Settings) -> dict[str, int | float]:
    """Return every limit of a deployment by the name of its setting; with several shards also what each allows."""
    names = (*LIMIT_NAMES, *AUTHENTICATED_LIMITS) if settings.has_auth else LIMIT_NAMES
    limits = {name: getattr(settings, name) for name in names}
    if settings.pools > 1:
        limits |= {"pools": settings.pools} | {
            f"{name}_in_pool": limit_per_shard(settings, name) for name in SHARDED_LIMITS
        }
    return limits


def limit_per_shard(settings: Settings, name: str) -> int | float:
    """Return what each shard allows of a limit that is counted in parts: a whole number where the limit is one."""
    whole: int | float = getattr(settings, name)
    if isinstance(whole, int):
        return -(-whole // settings.pools)
    return whole if name == "max_share" and whole >= 1 else whole / settings.pools  # a share of 1 is no limit


def limit_text(settings: Settings, name: str) -> str:
    """Return the text for a limit that was reached, with the number that was applied."""
    whole = value_text(name, getattr(settings, name))
    if settings.pools == 1:
        return whole
    part = f", {limit_per_shard(settings, name):.15g}" if name in SHARDED_LIMITS else ""
    return f"{whole}{part} in each of {settings.pools} pools"


def value_text(name: str, value: float) -> str:
    """Return the text for a setting with its value."""
    return f"{name} is {value:.15g}"
