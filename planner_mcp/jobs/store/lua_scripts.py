"""Loads the Lua steps: one file per step, the shared parts and the constants in front of each.

Owns how a step's text is put together. The transition tables come from `jobs/job_lifecycle.py` and
`jobs/plan_review.py`, the numbers from the settings, so none is written twice.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from planner_mcp.jobs.job_lifecycle import MAX_CRASHES, TRANSITIONS
from planner_mcp.jobs.limits.principal_limits import limit_per_shard
from planner_mcp.jobs.plan_review import REVIEWS
from planner_mcp.jobs.records.measurements import BOUNDS_MS
from planner_mcp.jobs.store import store_keys
from planner_mcp.settings import Settings

_JOBS: Final = ("_common", "_dispatch_jobs", "_settle_job")
FAMILIES: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    _JOBS: (
        "put_scenario", "list_scenarios", "put_matrix", "put_matrix_part", "touch", "submit", "show", "share",
        "reserve", "release", "read_events", "list_jobs", "cancel", "finish_now", "stats", "open_work", "measured",
        "workers", "register", "claim", "renew", "exchange", "report", "finish", "requeue", "reap",
    ),
    (*_JOBS, "_plan_review"): ("review", "approved"),
    ("_common", "_webhooks"): (
        "webhook_take", "webhook_claim", "webhook_settle", "webhook_renew", "webhook_replay", "webhook_list",
        "webhook_reopen", "webhook_open", "webhook_forget", "secret_rotate",
    ),
    ("_common",): ("take_token", "append_audit", "note_gain", "put_fields"),
}  # fmt: skip
"""The steps by the shared parts that stand in front of them."""


@dataclass(frozen=True, slots=True)
class Step:
    """One atomic step, ready to be called by its hash."""

    head: str
    """What is shared: one string for all steps of a family."""
    own: str
    sha: str

    @property
    def text(self) -> str:
        """The whole text; joined when it is asked for, because a store that knows the step needs its hash alone."""
        return f"{self.head}\n{self.own}"


def load_steps(settings: Settings) -> dict[str, Step]:
    """Return every step by name."""
    return _steps_with(_constants(settings))


@cache
def _steps_with(constants: str) -> dict[str, Step]:
    steps: dict[str, Step] = {}
    for shared, names in FAMILIES.items():
        head = "\n".join([constants, *map(step_text, shared)])
        steps |= {name: _step(head, step_text(name)) for name in names}
    return steps


def _step(head: str, own: str) -> Step:
    return Step(head, own, hashlib.sha1(f"{head}\n{own}".encode(), usedforsecurity=False).hexdigest())


@cache
def step_text(name: str) -> str:
    """Return the Lua text of one step, with nothing in front."""
    return (files("planner_mcp.jobs.store") / "lua" / f"{name}.lua").read_text(encoding="utf-8")


def _constants(settings: Settings) -> str:
    limits = {
        "lease_ms": int(settings.lease_s * 1000),
        "live_s": max(settings.job_ttl_s, store_keys.LIVE_AT_LEAST_S),
        "job_ttl_s": settings.job_ttl_s,
        "max_queued": limit_per_shard(settings, "max_queued"),
        "max_queued_each": limit_per_shard(settings, "max_queued_per_principal"),
        "max_solving": limit_per_shard(settings, "max_solving_per_principal"),
        "max_share": limit_per_shard(settings, "max_share"),
        "max_scenarios": settings.max_scenarios,
        "max_scenarios_bytes": settings.max_scenarios_bytes,
        "submit_rate": limit_per_shard(settings, "submit_rate_per_s"),
        "submit_burst": limit_per_shard(settings, "submit_burst"),
        "cores": settings.solve_cores,
        "max_crashes": MAX_CRASHES,
        "events_kept": store_keys.EVENTS_KEPT,
        "feed_kept": store_keys.FEED_KEPT,
        "control_s": store_keys.CONTROL_S,
        "refresh_ms": store_keys.REFRESH_MS,
    }
    bounds, moves = ", ".join(map(str, BOUNDS_MS)), _lua(_by_pair(TRANSITIONS))
    head = f"local LIMITS = {_lua(limits)}\nlocal BOUNDS_MS = {{{bounds}}}\nlocal MOVES = {moves}"
    return f"{head}\nlocal REVIEWS = {_lua(_by_pair(REVIEWS))}"


def _by_pair(table: Mapping[Any, str]) -> dict[str, str]:
    """Return a table of transitions by `state:change`, as the Lua steps read it."""
    return {":".join(pair): target for pair, target in sorted(table.items())}


def _lua(table: Mapping[str, float | str]) -> str:
    return "{" + ", ".join(f"[{json.dumps(name)}] = {json.dumps(value)}" for name, value in table.items()) + "}"
