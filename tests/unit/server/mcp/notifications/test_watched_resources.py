"""What moves a resource that is watched."""

import pytest

from planner_mcp.jobs.job_events import Event, EventData, EventKind
from planner_mcp.server.mcp.notifications.watched_resources import watched_resource_of

RESULT, PLAN, JOB = (
    watched_resource_of(uri) for uri in ("scenario://scn-0-a/result", "plan://plan-0-a", "job://job-0-a")
)


def event(kind: EventKind, **data: float) -> Event:
    """Return an event that tells this."""
    return Event("1-0", "job-0-a", kind, "", EventData(**data))


@pytest.mark.parametrize("kind", [each for each in EventKind if each is not EventKind.PROGRESS])
def test_the_result_of_a_scenario_moves_with_the_status_of_its_job(kind: EventKind) -> None:
    """SPEC R2: a new solve takes the place of a finished one as soon as it is queued."""
    assert RESULT.moves(event(kind), (None, None))
    assert JOB.moves(event(kind), (None, None))


@pytest.mark.parametrize("kind", [EventKind.QUEUED, EventKind.STARTED, EventKind.REQUEUED])
def test_a_plan_does_not_move_with_the_status_of_its_job(kind: EventKind) -> None:
    """SPEC R2: only what changes is told."""
    assert not PLAN.moves(event(kind), (None, 5.0))


@pytest.mark.parametrize(
    ("costs", "moves"),
    [({}, False), ({"cost": 5.0, "penalty": 9.0}, False), ({"cost": 4.0, "penalty": 9.0}, True), ({"cost": 5.0}, True)],
)
def test_a_plan_moves_when_its_cost_or_penalty_does(costs: dict[str, float], moves: bool) -> None:
    """SPEC R2: a ticket served where an agent stops anyway costs nothing."""
    assert [each.moves(event(EventKind.PROGRESS, **costs), (9.0, 5.0)) for each in (PLAN, RESULT)] == [moves, moves]
