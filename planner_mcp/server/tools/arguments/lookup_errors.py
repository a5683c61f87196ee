"""What a caller names and nobody knows, or what is not there yet, reported with the argument that names it (SPEC T7).

Owns the words. Unknown, malformed and somebody else's are answered alike (SPEC A2): nothing but the place of the
argument, the form of what it is and what it should be goes into an answer.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from planner_mcp.errors import Fault, NotFoundError, PlanNotReadyError, input_error
from planner_mcp.jobs.ids import is_id

AcceptedId = tuple[str, str]
"""What would be accepted, and where to find it."""
_JOBS: Final = "list_jobs of the tool set data lists yours."
JOB: Final[AcceptedId] = ("a job_id of yours (job-…)", _JOBS)
PLAN: Final[AcceptedId] = ("a plan_id or job_id of yours (plan-…, job-…)", _JOBS)
SCENARIO: Final[AcceptedId] = ("a scenario_id of yours (scn-…)", "list_scenarios of the tool set data lists yours.")
_JOB_WITH_PLAN: Final[AcceptedId] = (
    "a job that has found a plan",
    "query_vrp_status wait_s=45 says when there is one.",
)
OF_A_SCENARIO: Final = "This is a scenario_id: solve_vrp takes it and returns the job_id."
OF_A_JOB: Final = "This is of a job: read_plan shows its plan, resolve_vrp plans on from it."
"""Hints where an argument names something of another kind than it takes."""
DELIVERY: Final[AcceptedId] = ("a delivery_id of yours", "action=list lists yours.")


@contextmanager
def naming_argument(path: str, kind: AcceptedId) -> Iterator[None]:
    """Look something up in the block; where it is not found, or has no plan yet, the argument is named.

    Raises:
        NotFoundError, PlanNotReadyError: With the argument's fault.
    """
    try:
        yield
    except NotFoundError as error:
        raise input_error([Fault(path, error.message, *kind, kind="absent")]) from error
    except PlanNotReadyError as error:
        raise PlanNotReadyError(errors=[Fault(path, error.message, *_JOB_WITH_PLAN, kind="absent")]) from error


def with_kind_of_id(fault: Fault, args: Any) -> Fault:
    """Return a fault of what nobody knows, with a hint where the argument is an id of another kind, by its form."""
    name, _, place = fault.path[1:].partition("/")
    given = args.get(name) if isinstance(args, dict) and fault.kind == "absent" else None
    if place.isdigit() and isinstance(given, list):
        given = given[int(place)]
    if not isinstance(given, str) or not is_id(given):
        return fault
    is_scenario = given.startswith("scn-")
    if is_scenario and fault.hint == _JOBS:
        return replace(fault, hint=OF_A_SCENARIO)
    is_of_job = given.startswith(("job-", "plan-"))
    return replace(fault, hint=OF_A_JOB) if is_of_job and fault.hint == SCENARIO[1] else fault


async def find_all(lookups: Sequence[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Return what some lookups find, one after the other.

    Raises:
        NotFoundError: With the faults of all that found nothing, or no plan yet.
        PlanNotReadyError: With those of all that have no plan yet, where all others were found.
    """
    found: list[Any] = []
    failed: list[NotFoundError | PlanNotReadyError] = []
    for lookup in lookups:
        try:
            found.append(await lookup())
        except (NotFoundError, PlanNotReadyError) as error:
            failed.append(error)
    if not failed:
        return found
    faults = [fault for error in failed for fault in error.errors]
    if all(isinstance(error, PlanNotReadyError) for error in failed):
        raise PlanNotReadyError(errors=faults)
    raise input_error(faults)
