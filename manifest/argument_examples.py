"""Examples of what callers write, for the documents: `manifest.json`, `openapi.json` and the reference.

Owns the examples of arguments and of the fields of a scenario whose form can be mistaken: dates, times, durations,
positions, and names of what is stored. `tools/list` has none of them: each model would pay for them in tokens.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import jsonschema

from planner_mcp.text import Json

_CLOCK: Final = ("08:30", 30600)
EXAMPLES: Final[Mapping[str, tuple[Any, ...]]] = MappingProxyType(
    {
        "absent": (["veh-2"],),
        "agent_ids": (["veh-1"],),
        "callback_url": ("https://erp.example/hooks/vrp",),
        "capacity": (100, {"kg": 800, "m3": 12}),
        "cases": ({"one van less": {"absent": ["veh-2"]}},),
        "columns": ({"Kunde": "name", "Gewicht": "demand.kg"},),
        "demand": (20, {"kg": 120, "m3": 0.8}),
        "depot": ("DEPOT",),
        "distances": ([[0, 5200], [5100, 0]],),
        "durations": ([[0, 610], [600, 0]],),
        "earliest": _CLOCK,
        "end": _CLOCK,
        "end_location": ("DEPOT",),
        "idempotency_key": ("2026-11-23-morning",),
        "job_id": ("job-0-…",),
        "keep_until": ("10:30", "2026-11-23T10:30:00"),
        "lat": (39.9042,),
        "late_by": ({"veh-1": 1800},),
        "latest": _CLOCK,
        "lon": (116.4074,),
        "matrix": ("mat-0-…",),
        "matrix_locations": (["DEPOT", "LOC_A"],),
        "patch": ({"tickets": {"t-7": {"demand": 12}, "t-3": None}},),
        "plan": ("plan-0-…", "job-0-…"),
        "plan_a": ("plan-0-…",),
        "plan_b": ("plan-0-…",),
        "plan_id": ("plan-0-…",),
        "planning_date": ("2026-11-23",),
        "plans": (["plan-0-…", "plan-1-…"],),
        "release_time": _CLOCK,
        "scenario_id": ("scn-0-…",),
        "service_time_s": (600,),
        "setup_time_s": (120,),
        "shift_end": ("17:30", 63000),
        "shift_start": _CLOCK,
        "soft_close": _CLOCK,
        "solve_time": ("PT30S",),
        "start": _CLOCK,
        "start_location": ("DEPOT",),
        "ticket_ids": (["t-7"],),
        "time_windows": ([["08:00", "12:00"], [50400, 61200]],),
        "uri": ("plan://plan-0-…/stops.csv",),
        "url": ("https://erp.example/hooks/vrp",),
        "warm_from": ("plan-0-…", "job-0-…"),
    }
)
"""By the name of a field; those that its schema does not take are left out."""


def with_examples(schema: Any) -> Any:
    """Return a JSON Schema of what callers write, with examples of the fields that have some."""
    if isinstance(schema, list):
        return [with_examples(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {key: with_examples(value) for key, value in schema.items()}
    if isinstance(fields := shown.get("properties"), dict):
        shown["properties"] = {name: _shown(name, field) for name, field in fields.items()}
    return shown


def _shown(name: str, field: Json) -> Json:
    if "$ref" in field or "examples" in field:
        return field
    check = jsonschema.Draft202012Validator(field)
    examples = [each for each in EXAMPLES.get(name, ()) if check.is_valid(each)]
    return {**field, "examples": examples} if examples else field
