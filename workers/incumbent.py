"""The best verified plan of one solve.

Owns the judgement of candidates: each is laid out and verified here, outside the engine that found it, and only a
cheaper plan that the verifier agrees with replaces the incumbent. Engines find plans faster than they can be judged,
so candidates wait for their turn and a newer one takes the place of one that waits. Sending is the caller's.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from planner_mcp.errors import EngineError, PlanRejectedError
from planner_mcp.vrp.advice.repair import repair
from planner_mcp.vrp.layout.schedule import lay_out, price
from planner_mcp.vrp.plan import Plan
from planner_mcp.vrp.problem import Candidate, Problem
from planner_mcp.vrp.proof.verify import verify
from workers.engines.locked import broken_locks, locked_alone, owing, with_owed

PACE_S: Final = 0.2
"""Candidates are judged at most this often."""
JUDGING_SHARE: Final = 20
"""… and never for more than one part in this many of the time, however large the day."""
LAST_S: Final = 2.0
"""After the search: to mend a refused plan, or for the plan of locked visits alone and for what is in its way."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a plan says of its origin."""

    engine: str
    seed: int
    versions: dict[str, str]
    input_hash: str


class Incumbent:
    """Judges candidates and keeps the cheapest verified plan.

    Args:
        problem: What the plans are for.
        stamp: Origin written on each plan.
        publish: Called with each better plan and the number of improvements so far.
        clock: Monotonic seconds.
        cpu: Seconds of CPU this thread has used; judging is paced by what it really costs.
    """

    def __init__(
        self,
        problem: Problem,
        stamp: Stamp,
        publish: Callable[[Plan, int], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.thread_time,
    ) -> None:
        self._problem = problem
        self._stamp = stamp
        self._publish = publish
        self._clock = clock
        self._cpu = cpu
        self._waiting: Candidate | None = None
        self._due = 0.0
        self._price: int | None = None
        self._judged: Candidate | None = None
        self._refused: Candidate | None = None
        self.plan: Plan | None = None
        self.improvements = 0
        self.violations: Sequence[str] = ()
        """Of the last candidate the verifier refused."""

    def offer(self, candidate: Candidate) -> None:
        """Take a candidate of the engine; judged now or, soon after another, at a later `tick`."""
        self._waiting = candidate
        self.tick()

    def tick(self) -> None:
        """Judge the candidate that waits, if its time has come."""
        if self._waiting is not None and self._clock() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Judge the candidate that waits now."""
        if (candidate := self._waiting) is None:
            return
        self._waiting = None
        began = self._cpu()
        self._judge(candidate)
        self._due = self._clock() + max(PACE_S, JUDGING_SHARE * (self._cpu() - began))

    def start_from(self, candidate: Candidate) -> Candidate | None:
        """Take the plan of an earlier run; return it if it still holds, None if the day has changed under it."""
        self._judge(candidate)
        self.violations, self._refused = (), None
        return candidate if self.plan is not None else None

    def settle(self, best: Candidate | None) -> Plan:
        """Judge what is left, at last what can be mended or the plan of locked visits alone, and return the incumbent.

        Raises:
            PlanRejectedError: The engine found plans and the verifier refused every one.
            EngineError: Not even that holds (locked visits nobody can make).
        """
        self.flush()
        if best is not None and best is not self._judged:
            self._judge(best)
        if self.plan is None and self._refused is not None:
            self._judge_mended(self._refused)
        if self.plan is None and not self.violations:
            self._judge_locked()
        if self.plan is None:
            raise PlanRejectedError
        return self.plan

    def _judge_mended(self, refused: Candidate) -> None:
        """Judge what is left of a refused plan without the tickets that break it, where anything is."""
        mended = repair(self._problem, refused, self._last_time())
        if mended.routes:
            self._judge(mended)

    def _judge_locked(self) -> None:
        """Judge the plan of the locked visits and what must be served with them; raise what is in its way."""
        is_over = self._last_time()
        locked = locked_alone(self._problem, is_over)
        self._judge(with_owed(self._problem, locked, owing(self._problem, locked), is_over))
        if self.plan is None:
            faults = broken_locks(self._problem, locked, is_over)
            raise EngineError("No plan keeps the locked visits of this scenario.", errors=faults)

    def _last_time(self) -> Callable[[], bool]:
        """Return what tells when the time after the search is used up."""
        ends = self._clock() + LAST_S
        return lambda: self._clock() >= ends

    def _judge(self, candidate: Candidate) -> None:
        self._judged = candidate
        asked = price(self._problem, candidate)
        if self._price is not None and asked >= self._price:
            return
        plan = lay_out(self._problem, candidate, **asdict(self._stamp))
        if violations := verify(self._problem, plan):
            self.violations, self._refused = violations, candidate
            return
        self._price = asked
        self.plan = plan
        self.improvements += 1
        self._publish(plan, self.improvements)
