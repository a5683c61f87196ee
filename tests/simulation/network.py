"""The way from each actor to the one server: delays, losses, cuts, stalls and crashes, drawn from the seed.

Owns everything between the product's `ScriptClient` and the server; it stands where redis-py's client stands. A request
that its sender gave up may still arrive, as it does when a server was stopped for a while. A connection that breaks is
tried once more, as `redis_clients.py` does, so a step can run twice.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import ResponseError

from planner_mcp.jobs.store.connection.redis_clients import RETRY_PAUSE_S
from planner_mcp.jobs.store.lua_scripts import load_steps
from planner_mcp.settings import Settings
from tests.simulation.history import History, Step
from tests.simulation.scripted_server import EPOCH_S, ScriptedServer

FAST_S: Final = 0.004
"""Longest way without a fault."""
LATE_S: Final = 9.0
"""Latest arrival of a request that its sender gave up."""
QUIET: Final = frozenset({"renew", "report", "show", "read_events", "webhook_renew", "touch"})
"""Steps that add nothing to a stream somebody waits for."""
CALLBACKS: Final = Redis(protocol=2).response_callbacks
"""How redis-py reads replies."""


@dataclass
class Faults:
    """How often what goes wrong; each history draws which of them it has."""

    lost_request: float = 0.0
    lost_reply: float = 0.0
    late_request: float = 0.0
    slow: float = 0.0
    stall: float = 0.0
    crash: float = 0.0
    cut: float = 0.0
    clock: float = 0.0

    @classmethod
    def drawn(cls, dice: random.Random) -> "Faults":
        """Return the faults of one history: some kinds, each rare or frequent."""
        most = {"stall": 0.04, "crash": 0.03, "cut": 0.02, "clock": 0.01}
        return cls(
            **{
                name: dice.choice((0.2, 1.0)) * dice.random() * most.get(name, 0.12)
                for name in cls.__dataclass_fields__
                if dice.random() < 0.5
            }
        )


@dataclass(eq=False)
class Waiting:
    """A read that blocks at the server."""

    words: tuple[Any, ...]
    key: str
    reply: "asyncio.Future[Any]"


@dataclass
class Network:
    """Everybody's way to the server.

    Args:
        server: Runs the commands.
        settings: What the steps are loaded with.
        faults: What goes wrong until `heal`.
        dice: Decides when.
        history: Where it is written down.
    """

    server: ScriptedServer
    settings: Settings
    faults: Faults
    dice: random.Random
    history: History
    clock_offset_s: float = 0.0
    is_healed: bool = False
    jobs: set[str] = field(default_factory=set)
    links: "list[Link]" = field(default_factory=list)
    late: int = 0
    """Requests on their way whose senders have given up."""
    _waiting: list[Waiting] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        steps = load_steps(self.settings)
        self._names = {step.sha: name for name, step in steps.items()}
        self.server.load({step.sha: step.text for step in steps.values()})

    def heal(self) -> None:
        """Let nothing go wrong from now on."""
        self.faults = Faults()
        self.is_healed = True

    def is_still(self) -> bool:
        """Return whether no actor is stopped and no late request on its way."""
        return not self.late and all(link.is_dead or not link.is_stopped for link in self.links)

    def strikes(self, share: float) -> bool:
        """Return whether a fault of this frequency happens now."""
        return share > 0 and self.dice.random() < share

    # ---- at the server

    def run(self, actor: str, words: tuple[Any, ...]) -> Any:
        """Run a command at the server now; return its reply as redis-py does."""
        now_s = self._set_clock()
        reply = self.server.ask(*words)
        if words[0] == "EVALSHA":
            self._note(actor, self._names[words[1]], now_s, words, reply)
        callback = CALLBACKS.get(words[0])
        return callback(reply) if callback else reply

    def _set_clock(self) -> float:
        if self.strikes(self.faults.clock):
            self.clock_offset_s += self.dice.uniform(-1, 1) * self.settings.lease_s
        now_s = max(0.0, 100 + self.loop.time() + self.clock_offset_s)
        self.server.set_clock(now_s)
        return now_s

    def _note(self, actor: str, name: str, now_s: float, words: tuple[Any, ...], reply: list[Any]) -> None:
        at_ms = int((EPOCH_S + now_s) * 1e6 + 0.5) // 1000
        step = Step(len(self.history.steps), at_ms, actor, name, words[4], reply)
        self.history.steps.append(step)
        if name == "submit" and reply[0] == "ok":
            self.jobs.add(reply[3])
        if name == "reap":
            names = sorted(self.jobs)
            found = self.server.ask_all([("HMGET", f"{{p0}}:job:{job}", "state", "crashes") for job in names])
            step.states = {job: (state, int(crashes)) for job, (state, crashes) in zip(names, found, strict=True)}
        if name not in QUIET:
            self._serve_waiting()

    def wait(self, waiting: Waiting, block_s: float) -> None:
        """Keep a read until there is something for it, at most `block_s`."""
        self._waiting.append(waiting)
        self.loop.call_later(block_s, self._end_wait, waiting)

    def drop(self, waiting: Waiting) -> None:
        """Forget the read of a connection that was closed."""
        if waiting in self._waiting:
            self._waiting.remove(waiting)

    def _end_wait(self, waiting: Waiting) -> None:
        if waiting in self._waiting:
            self._waiting.remove(waiting)
            if not waiting.reply.done():
                waiting.reply.set_result(None)

    def _serve_waiting(self) -> None:
        empty = set()
        for waiting in tuple(self._waiting):
            if waiting.key in empty:
                continue
            empty.add(waiting.key)
            if (reply := self.server.ask(*waiting.words)) is not None:
                empty.remove(waiting.key)
                self._waiting.remove(waiting)
                if not waiting.reply.done():
                    waiting.reply.set_result(CALLBACKS[waiting.words[0]](reply))


class Link:
    """One actor's client, in the place of redis-py's.

    Args:
        network: Its way.
        actor: Whose it is.
    """

    def __init__(self, network: Network, actor: str) -> None:
        self._network = network
        self._loop = network.loop
        self._actor = actor
        self._stopped_until = self._cut_until = 0.0
        network.links.append(self)
        self.is_dead = False
        """The actor has crashed: it never hears of anything again."""

    @property
    def is_stopped(self) -> bool:
        """Whether the actor stands still for a while."""
        return self._stopped_until > self._loop.time()

    async def execute_command(self, *words: Any) -> Any:
        """Run one command, as redis-py's client does."""
        await self._live()
        try:
            reply = await self._sent(words)
        except ConnectionLostError:
            await asyncio.sleep(RETRY_PAUSE_S)
            reply = await self._sent(words)
        await self._live()
        return reply

    async def _live(self) -> None:
        """Be stopped or dead for as long as the actor is."""
        network, faults, dice = self._network, self._network.faults, self._network.dice
        if network.strikes(faults.crash):
            self.is_dead = True
            network.history.hits.append((self._actor, "crash"))
        if network.strikes(faults.stall):
            self._stopped_until = self._loop.time() + dice.random() * 3 * network.settings.lease_s
            network.history.hits.append((self._actor, "stall"))
        if network.strikes(faults.cut):
            self._cut_until = self._loop.time() + dice.random() * 2 * network.settings.lease_s
            network.history.hits.append((self._actor, "cut"))
        if self.is_stopped:
            await asyncio.sleep(self._stopped_until - self._loop.time())
        if self.is_dead:
            await self._loop.create_future()

    async def _sent(self, words: Sequence[Any]) -> Any:
        """Send a command and return its reply, if both arrive."""
        network, faults = self._network, self._network.faults
        reply: asyncio.Future[Any] = self._loop.create_future()
        way_s = network.dice.random() * (FAST_S if not network.strikes(faults.slow) else 1.0)
        if network.strikes(faults.late_request):
            way_s = network.dice.random() * LATE_S
            network.history.hits.append((self._actor, "late request"))
        if self._cut_until > self._loop.time() or network.strikes(faults.lost_request):
            self._loop.call_later(way_s, _break, reply)
        else:
            network.late += way_s > FAST_S
            self._loop.call_later(way_s, self._arrive, tuple(words), reply, way_s > FAST_S)
        return await reply

    def _arrive(self, words: tuple[Any, ...], reply: "asyncio.Future[Any]", is_late: bool) -> None:
        """Run a command that has arrived, whether or not somebody still waits for its reply."""
        network = self._network
        network.late -= is_late
        found = self._read_or_wait(words, reply) if "BLOCK" in words else network.run(self._actor, words)
        if found is None and "BLOCK" in words:
            return
        if network.strikes(network.faults.lost_reply) or self._cut_until > self._loop.time():
            self._loop.call_later(FAST_S, _break, reply)
        else:
            self._loop.call_later(network.dice.random() * FAST_S, _reply, reply, found)

    def _read_or_wait(self, words: tuple[Any, ...], reply: "asyncio.Future[Any]") -> Any:
        """Return what a blocking read finds at once, or None and let it wait."""
        at = words.index("BLOCK")
        plain = words[:at] + words[at + 2 :]
        key = plain[plain.index("STREAMS") + 1]
        try:
            found = self._network.run(self._actor, plain)
        except ResponseError as error:  # no group yet
            if not reply.done():
                reply.set_exception(error)
            return None
        if found:
            return found
        waiting = Waiting(plain, key, reply)
        self._network.wait(waiting, words[at + 1] / 1000)
        reply.add_done_callback(lambda done: self._network.drop(waiting) if done.cancelled() else None)
        return None


def _break(reply: "asyncio.Future[Any]") -> None:
    if not reply.done():
        reply.set_exception(ConnectionLostError("the connection broke"))


def _reply(reply: "asyncio.Future[Any]", found: Any) -> None:
    if not reply.done():
        reply.set_result(found)
