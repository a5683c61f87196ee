"""What a solve is charged and which calls are the same."""

from dataclasses import replace

import pytest

from planner_mcp.jobs.job_admission import digest, estimated_cpu_s
from planner_mcp.jobs.job_model import SolveRequest

REQUEST = SolveRequest("scn-0-x", 30)


def test_a_solve_is_charged_its_time_on_all_its_cores() -> None:
    """SPEC J8: fair by CPU seconds, not by count."""
    assert estimated_cpu_s(REQUEST, cores=2) == 60.0
    assert estimated_cpu_s(replace(REQUEST, cores=5), cores=2) == 180.0  # three workers


@pytest.mark.parametrize(
    "change",
    [
        {"scenario_id": "scn-0-y"},
        {"solve_time_s": 31},
        {"engine": "sisr"},
        {"seed": 1},
        {"priority": 6},
        {"callback_url": "https://example.org"},
        {"warm_plan_id": "plan-0-x"},
        {"warm_changed_id": "1-0"},
        {"cores": 2},
    ],
)
def test_any_other_argument_makes_another_call(change: dict[str, object]) -> None:
    """SPEC T2."""
    assert digest(replace(REQUEST, **change)) != digest(REQUEST)  # type: ignore[arg-type]


def test_a_solve_without_a_warm_plan_is_the_same_call_in_every_version() -> None:
    """SPEC T2, J7: while a deployment rolls, a key given to an older replica is no conflict at a newer one."""
    assert digest(REQUEST) == "47b2fdf836886cd134714c0e7dbfc2768f5bb5aabca0f4a446040f60552b1f4e"


def test_how_a_call_is_named_does_not_change_what_it_asks() -> None:
    """SPEC T2: `idempotency_key` and `fresh` are about the call, not about the solve."""
    assert digest(replace(REQUEST, idempotency_key="k", fresh=True)) == digest(REQUEST)
