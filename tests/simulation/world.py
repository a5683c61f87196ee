"""One history from one seed: who there is, what goes wrong, and how it ends.

First everything may fail. Then the network heals, a fresh worker, reaper and dispatcher join, and all that was begun
has to come to its end.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from planner_mcp.jobs.job_model import StoredScenario
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_until_done
from tests.simulation.actors import Actor, beat, call, dispatch, reap, work
from tests.simulation.checker import faults_of, unfinished
from tests.simulation.history import History
from tests.simulation.network import Faults, Network
from tests.simulation.scripted_server import ScriptedServer
from tests.simulation.virtual_loop import VirtualLoop

PRINCIPALS: Final = ("ann", "ben")
TROUBLE_LEASES: Final = 5
"""How long things go wrong."""
HEALED_LEASES: Final = 200
"""How long everything may then take to end."""
LOOK_S: Final = 0.5
USUAL: Final = Settings(
    redis_url="redis://simulated",
    lease_s=2.0,
    webhook_schedule_s=(0.0, *[0.5] * 40),
    webhook_jitter=0.0,
    webhook_rate_per_s=100.0,
)
VARIANTS: Final = (
    USUAL,
    USUAL.model_copy(update={"max_queued_per_principal": 2}),
    USUAL.model_copy(update={"max_solving_per_principal": 1}),
    USUAL.model_copy(update={"max_share": 0.5}),
)


@dataclass
class World:
    """One history while it is made.

    Args:
        server: Empty.
        seed: Decides everything.
    """

    server: ScriptedServer
    seed: int
    history: History = field(default_factory=History)
    _tasks: dict[asyncio.Task[None], Actor] = field(default_factory=dict)
    _names: int = 0

    async def play(self) -> None:
        """Make the history."""
        dice = random.Random(self.seed)
        self.settings = dice.choice(VARIANTS)
        self.network = Network(self.server, self.settings, Faults(), dice, self.history)
        await self._open()
        self.network.faults = Faults.drawn(dice)
        callers = [self._join_caller(f"client-{number}", dice) for number in range(dice.randint(1, 4))]
        for number in range(dice.randint(1, 3)):
            self._join_worker(f"worker-{number}")
        for number in range(dice.randint(1, 2)):
            self._start(Actor(f"dispatcher-{number}", self.network), dispatch)
        self._start(Actor("reaper", self.network), reap)
        if not await self._is_quiet_within(TROUBLE_LEASES, callers):
            self._heal()
            if not await self._is_quiet_within(HEALED_LEASES, callers):
                self.history.problems.append("it did not come to an end")
        await cancel_until_done(list(self._tasks))
        for task in self._tasks:
            if not task.cancelled() and (error := task.exception()):
                self.history.problems.append(f"{self._tasks[task].name} failed: {error!r}")

    async def _open(self) -> None:
        """Store a scenario for each principal and make the groups, while nothing fails."""
        actor = Actor("opening", self.network)
        for principal in PRINCIPALS:
            name = self._name("scn", principal)
            await actor.store.put_scenario(StoredScenario(name, principal, {}, datetime.fromtimestamp(0, UTC), "h"))
        await actor.store.reap()
        await actor.outbox.open()

    def _join_caller(self, name: str, dice: random.Random) -> asyncio.Task[None]:
        principal = dice.choice(PRINCIPALS)
        scenario = self._name("scn", principal)
        return self._start(Actor(name, self.network), call, principal, scenario, partial(self._new_job, dice))

    def _join_worker(self, name: str) -> None:
        actor = Actor(name, self.network)
        self._start(actor, beat)
        self._start(actor, work)

    def _start(self, actor: Actor, chore: Callable[..., Coroutine[Any, Any, None]], *given: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(chore(actor, *given))
        self._tasks[task] = actor
        return task

    def _heal(self) -> None:
        self.network.heal()
        self._join_worker("worker-fresh")
        self._start(Actor("dispatcher-fresh", self.network), dispatch)
        self._start(Actor("reaper-fresh", self.network), reap)

    async def _is_quiet_within(self, leases: float, callers: list[asyncio.Task[None]]) -> bool:
        """Wait until all callers have their answers or are dead, and all jobs and deliveries have ended."""
        ends_at = self.network.loop.time() + leases * self.settings.lease_s
        while self.network.loop.time() < ends_at:
            await asyncio.sleep(LOOK_S)
            have_answers = all(task.done() or self._tasks[task].link.is_dead for task in callers)
            if have_answers and self.network.is_still() and not unfinished(self.server):
                return True
        return False

    def _new_job(self, dice: random.Random) -> str:
        self._names += 1
        counted = "".join("abcdefghij"[int(digit)] for digit in f"{self._names:04}")
        return f"job-0-{''.join(dice.choices('abcdefgh', k=22))}{counted}"

    @staticmethod
    def _name(kind: str, principal: str) -> str:
        return f"{kind}-0-{principal:a<26}"


def played(server: ScriptedServer, seed: int) -> World:
    """Play the history of a seed on an empty server and judge it; its faults are in `history.problems`."""
    server.set_clock(0.0)
    server.ask("FLUSHALL")
    loop = VirtualLoop()
    world = World(server, seed)
    try:
        loop.run_until_complete(world.play())
    finally:
        loop.close()
    world.history.problems += faults_of(world.history, server, world.settings)
    return world
