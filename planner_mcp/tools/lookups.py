"""What a caller names and nobody knows, told by the argument that names it (SPEC T7).

Owns the words. Unknown, malformed and somebody else's are answered alike (SPEC A2): nothing but the place of the
argument and what it should be goes into an answer.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from planner_mcp.errors import Fault, NotFoundError, input_error

Named = tuple[str, str]
"""What would be accepted, and where to find it."""
_JOBS: Final = "list_jobs of the tool set data lists yours."
JOB: Final[Named] = ("a job_id of yours (job-…)", _JOBS)
PLAN: Final[Named] = ("a plan_id or job_id of yours (plan-…, job-…)", _JOBS)
SCENARIO: Final[Named] = ("a scenario_id of yours (scn-…)", "list_scenarios of the tool set data lists yours.")
DELIVERY: Final[Named] = ("a delivery_id of yours", "action=list lists yours.")


@contextmanager
def looked_up(path: str, kind: Named) -> Iterator[None]:
    """Look something up in the block; where it is not found the argument is told.

    Raises:
        NotFoundError: With the argument's fault.
    """
    try:
        yield
    except NotFoundError as error:
        raise input_error([Fault(path, error.message, *kind, kind="absent")]) from error


async def all_found(lookups: Sequence[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Return what some lookups find, one after the other.

    Raises:
        NotFoundError: With the faults of all that found nothing.
    """
    found: list[Any] = []
    faults: list[Fault] = []
    for lookup in lookups:
        try:
            found.append(await lookup())
        except NotFoundError as error:
            faults += error.errors
    if faults:
        raise input_error(faults)
    return found
