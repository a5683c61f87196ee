"""What a caller names and nobody knows, or what is not there yet, reported with the argument that names it (SPEC T7).

Owns the words. Unknown, malformed and somebody else's are answered alike (SPEC A2): nothing but the place of the
argument and what it should be goes into an answer.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from planner_mcp.errors import Fault, NotFoundError, PlanNotReadyError, input_error

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
