"""What a search hears of its team from its worker (SPEC O8, ADR 54)."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate
from tests.shared.scenarios.seeded_fleet import fleet
from workers import message_frames
from workers.solver_processes.solve_command import SolveCommand
from workers.solver_processes.solver_child import TeamOfSearch, WorkerConnection
from workers.solver_processes.verified_incumbent import Incumbent, PlanOrigin

PROBLEM = fleet(20)
COMMAND: dict[str, Any] = {
    "job_id": "j", "trace_id": "t", "body": {}, "input_hash": "", "engine": "auto", "seed": 0, "solve_s": 1.0,
    "cores": 1, "memory_mb": 100,
}  # fmt: skip


@pytest.fixture
def link() -> Iterator[tuple[socket.socket, TeamOfSearch, list[Plan]]]:
    """The worker's end of a connection, the team that a seat sees at the other, and the plans that the seat sends."""
    worker, child = socket.socketpair()
    sent: list[Plan] = []
    incumbent = Incumbent(PROBLEM, PlanOrigin("auto", 0, {}, ""), lambda plan, _count: sent.append(plan))
    command = SolveCommand(**COMMAND, member=3, span_s=60)
    with worker, child:
        yield worker, TeamOfSearch(command, WorkerConnection(child), PROBLEM, incumbent), sent


def send_update(worker: socket.socket, plan: Candidate | None, members: list[int]) -> None:
    """Say what a worker says after an exchange."""
    as_json = None if plan is None else build_plan(PROBLEM, plan).as_json()
    message_frames.send(worker, {"kind": "team", "plan": as_json, "members": members})


def test_a_search_waits_for_the_first_message_about_its_team(
    link: tuple[socket.socket, TeamOfSearch, list[Plan]],
) -> None:
    """SPEC O8: who searches is known before the day is cut; a member counts itself in."""
    worker, team, _ = link
    send_update(worker, None, [1, 2])
    assert team.members() == (1, 2, 3)
    assert (team.number, team.span_s) == (3, 60)


def test_a_search_that_hears_nothing_goes_on_alone(link: tuple[socket.socket, TeamOfSearch, list[Plan]]) -> None:
    """SPEC O8: a worker that cannot reach the store keeps nobody waiting."""
    _, team, _ = link
    began = time.monotonic()
    assert team.members() == team.members() == (3,)
    assert time.monotonic() - began < 5


def test_a_plan_of_the_team_is_taken_once(link: tuple[socket.socket, TeamOfSearch, list[Plan]]) -> None:
    """SPEC O8: the last of several; news of members alone does not hide it."""
    worker, team, _ = link
    first, last = (Candidate.of_tickets({0: tickets}) for tickets in ([1], [1, 2]))
    for plan in (first, last, None):
        send_update(worker, plan, [1, 3])
    assert team.members() == (1, 3)
    assert team.take_plan() == last
    assert team.take_plan() is None


def test_what_comes_together_with_the_command_is_heard() -> None:
    """SPEC O8, T4: a process that is forked late finds the command, its team and a stop in one reading."""
    worker, child = socket.socketpair()
    with worker, child:
        connection = WorkerConnection(child)
        message_frames.send(worker, SolveCommand(**COMMAND, member=3, span_s=60).as_message())
        send_update(worker, None, [1, 2])
        message_frames.send(worker, {"kind": "stop"})
        assert connection.next_command() is not None
        assert connection.is_stopped()
        assert connection.members == (1, 2)


def test_a_search_publishes_its_best_plan_when_a_round_ends(
    link: tuple[socket.socket, TeamOfSearch, list[Plan]],
) -> None:
    """SPEC O8: not at the pace of improvements: the others cut the next regions from it."""
    _, team, sent = link
    for tickets in ([1], [1, 2]):
        team._incumbent.offer(Candidate.of_tickets({0: tickets}))
    assert len(sent) <= 1
    team.publish()
    assert sent[-1].tickets_served == 2
