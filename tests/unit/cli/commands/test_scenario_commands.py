"""What `solve` prints."""

from typing import Any

import pytest

from planner_mcp.cli.processes.solve_run import print_failure
from planner_mcp.errors import Fault, JobFailure, input_error


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        ({"code": 5015, "type": "PoisonedJob", "message": "It died."}, ["error 5015 PoisonedJob: It died."]),
        (
            input_error([Fault("/tickets/0", "No."), Fault("/depot", "Neither.")]).as_json("trace"),
            [
                "error 4001 InvalidParameter: 2 problems; each is listed in errors.",
                "/tickets/0: No.",
                "/depot: Neither.",
            ],
        ),
    ],
    ids=["written by the store", "written by a worker"],
)
def test_the_error_of_a_job_is_shown_with_its_faults(
    error: dict[str, Any], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """SPEC T7: whoever wrote it; a job that killed its workers lists none."""
    print_failure(JobFailure.of(error))
    assert capsys.readouterr().err.splitlines() == lines
