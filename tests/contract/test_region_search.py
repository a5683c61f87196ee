"""Members of a team search regions of a large day and merge what they find (SPEC O8, ADR 54)."""

import threading
import time
from collections.abc import Callable

import pytest
from typing_extensions import override

from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.problem import Candidate, Problem
from tests.shared.scenarios.seeded_fleet import fleet, verified_solution
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection import region_search, time_allocation
from workers.engines.selection.portfolio import Portfolio
from workers.engines.selection.region_search import RegionSearch

TICKETS = 600


class Exchange:
    """Where the members of a team leave their plans, as the record of a job is for workers."""

    def __init__(self, members: tuple[int, ...]) -> None:
        self.members = members
        self.plans: dict[int, Candidate] = {}


class Member:
    """A member of an exchange."""

    def __init__(self, exchange: Exchange, number: int, span_s: float) -> None:
        self.number, self.span_s = number, span_s
        self._exchange, self._own, self._seen = exchange, Candidate(()), dict[int, Candidate]()

    def members(self) -> tuple[int, ...]:
        """Return who is there."""
        return self._exchange.members

    def note(self, plan: Candidate) -> None:
        """Keep the best plan of this member."""
        self._own = plan

    def publish(self) -> None:
        """Leave it there."""
        if self._own.routes:
            self._exchange.plans[self.number] = self._own

    def take_plan(self) -> Candidate | None:
        """Return a plan of another that was not seen yet."""
        for number, plan in list(self._exchange.plans.items()):
            if number != self.number and self._seen.get(number) is not plan:
                self._seen[number] = plan
                return plan
        return None


class Watched(SisrEngine):
    """The native engine, and the problems it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[Problem] = []

    @override
    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search, and note what."""
        self.problems.append(problem)
        return super().solve(problem, limits, on_improvement, should_stop, warm_start)


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of tenths of a second, and a second's wait shortened alike."""
    monkeypatch.setattr(region_search, "ROUND_S", 0.2)
    monkeypatch.setattr(region_search, "LAST_PLAN_S", 0.1)
    monkeypatch.setattr(region_search, "NEARLY_S", 0.01)


def searched_by(
    members: tuple[int, ...], span_s: float, *, absent: int = 0
) -> dict[int, tuple[SearchOutcome, list[Problem]]]:
    """Return what each member found on one day, and the problems it searched."""
    problem, exchange = fleet(TICKETS), Exchange(members)
    deadline, found = time.monotonic() + span_s, dict[int, tuple[SearchOutcome, list[Problem]]]()

    def search(number: int) -> None:
        member, engine = Member(exchange, number, span_s), Watched()
        limits = SearchLimits(deadline, seed=number)
        outcome = RegionSearch(engine, problem, limits, member, member.note, lambda: False).run(None)
        found[number] = outcome, engine.problems

    threads = [threading.Thread(target=search, args=(number,)) for number in members if number != absent]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.slow
def test_two_members_search_halves_of_a_day_and_the_owner_has_what_both_found() -> None:
    """SPEC O8, S3: neither searches the whole, borders move, and the owner's plan is verified and the cheaper one."""
    found, problem = searched_by((1, 2), 2.0), fleet(TICKETS)
    cost = {}
    for number, (outcome, searched) in found.items():
        assert outcome.best is not None
        verified_solution(problem, [])(outcome.best)
        cost[number] = price(problem, outcome.best)
        assert all(0.3 < len(part.tickets) / TICKETS < 0.7 for part in searched)
        assert len({frozenset(ticket.id for ticket in part.tickets) for part in searched}) == len(searched) >= 2
    assert cost[1] <= cost[2]
    first, second = (searched[0] for _, searched in found.values())
    assert {t.id for t in first.tickets} | {t.id for t in second.tickets} == {t.id for t in problem.tickets}


@pytest.mark.slow
def test_a_member_that_died_costs_its_part_of_a_round() -> None:
    """SPEC O8: what nobody searches in one round is searched in another."""
    problem, (outcome, searched) = fleet(TICKETS), searched_by((1, 2), 1.2, absent=2)[1]
    assert outcome.best is not None and len(outcome.best.tickets) == TICKETS
    verified_solution(problem, [])(outcome.best)
    assert len({t.id for part in searched for t in part.tickets}) > 0.8 * TICKETS


@pytest.mark.slow
def test_a_member_alone_searches_the_whole_day() -> None:
    """SPEC O8: `cores` may ask for more workers than are free."""
    (outcome, searched) = searched_by((1,), 0.6)[1]
    assert outcome.best is not None
    assert {len(part.tickets) for part in searched} == {TICKETS}


@pytest.mark.parametrize(("most", "is_regional"), [(TICKETS - 1, True), (TICKETS, False)])
def test_auto_cuts_days_of_a_team_beyond_a_size(monkeypatch: pytest.MonkeyPatch, most: int, is_regional: bool) -> None:
    """SPEC O8: smaller days are searched whole by each member."""
    monkeypatch.setattr(time_allocation, "REGION_TICKETS", most)
    engine, member = Watched(), Member(Exchange((1, 2)), 1, 0.3)
    limits = SearchLimits(time.monotonic() + 0.3, team=member)
    Portfolio([engine]).solve(fleet(TICKETS), limits, lambda _: None, lambda: False)
    assert all(len(part.tickets) < TICKETS for part in engine.problems) == is_regional


def test_a_region_search_stops_when_it_is_asked() -> None:
    """SPEC T4."""
    began, member = time.monotonic(), Member(Exchange((1, 2)), 1, 60.0)
    stop: Callable[[], bool] = lambda: time.monotonic() > began + 0.3  # noqa: E731
    search = RegionSearch(SisrEngine(), fleet(TICKETS), SearchLimits(began + 60), member, member.note, stop)
    assert search.run(None).reason is StopReason.STOPPED
    assert time.monotonic() - began < 5
