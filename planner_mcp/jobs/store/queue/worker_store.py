"""The store as a worker sees it. Implements `jobs.job_ports.WorkerStore`.

With several shards a worker serves them all: it looks into each in turn, then waits on one after another, so that a
round over all takes `ROUND_S`. An unavailable shard is skipped until the next heartbeat reaches it.
"""

import json
from asyncio import Lock, sleep
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Final

import planner_mcp
from planner_mcp.errors import LeaseLostError, NotFoundError, PoisonedJobError, StoreUnavailableError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import Change, JobState
from planner_mcp.jobs.job_model import Job, Progress, StoredScenario
from planner_mcp.jobs.job_ports import Claim, ClaimedWork, Exchanged, Renewal, SeatClaim
from planner_mcp.jobs.plan_summary import PlanSummary, summary_of
from planner_mcp.jobs.store import record_codec, store_keys
from planner_mcp.jobs.store.connection.script_client import BLOCK_S, ScriptClient, ScriptReply
from planner_mcp.jobs.store.connection.shard_availability import ShardAvailability, ask_all
from planner_mcp.jobs.store.connection.store_part import StorePart
from planner_mcp.routing.plan import PlanJson
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.shown_scenario import as_shown
from planner_mcp.settings import Settings
from planner_mcp.text import Json, compact

GROUP: Final = "workers"
ROUND_S: Final = 0.5
"""Longest time between two looks of a worker into one of several shards."""
REAP_AT_ONCE: Final = 100
RETRY_PAUSES_S: Final = (0.02, 0.1, 0.3)
"""Pauses between the tries of a step whose answer must not be lost; together well below a lease."""


class RedisWorkerStore(StorePart):
    """The worker's side of the store.

    Args:
        script_client: Runs steps and commands.
        settings: As the steps were loaded with.
        clock: Monotonic seconds, for waits.
    """

    def __init__(
        self, script_client: ScriptClient, settings: Settings, *, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(script_client, settings)
        self._clock = clock
        self.availability = ShardAvailability(settings.pools, settings.lease_s, clock=clock)
        self._claim_turn, self._control_turn = count(), count()
        self._control_read_to: dict[int, str] = {}
        self._held = defaultdict[tuple[str, int], set[str]](set)
        """Entries claimed by each worker here, by shard. Of other entries delivered to it the answer was lost."""
        self._claiming = defaultdict[str, Lock](Lock)
        self._tries = count(1)
        """Numbers the tries to claim: one that arrives after its successor is recognized."""

    # ---- registration

    async def register(self, worker_id: str, slots: int) -> None:
        """Register a worker or send its heartbeat; one without slots, as it drains, is withdrawn.

        After three leases without a heartbeat the worker counts as dead.
        """
        beat = {"worker": worker_id, "slots": slots, "version": planner_mcp.__version__}
        await self.availability.ask_all(lambda shard: self._script_client.step("register", shard, beat))

    # ---- claiming

    async def claim(self, worker_id: str, wait_s: float) -> Claim | SeatClaim | None:
        """Take the next job or seat, waiting up to `wait_s` for one. Fencing numbers of a job only rise."""
        for shard, block_s in self._shard_turns(wait_s, self._claim_turn):
            with self.availability.tracking(shard):
                claim = await self._take(worker_id, shard)
                if claim is None and block_s and await self._wait_for_entry(worker_id, shard, block_s):
                    claim = await self._take(worker_id, shard)
                if claim is not None:
                    return claim
        for shard in self.availability.there() if wait_s > 0 else ():
            with self.availability.tracking(shard):
                if claim := await self._take(worker_id, shard):
                    return claim
        return None

    async def _wait_for_entry(self, worker_id: str, shard: int, block_s: float) -> bool:
        """Wait for a delivery; return whether one came."""
        stream = store_keys.key(shard, "ready")
        return bool(await self._script_client.read_group(stream, group=GROUP, consumer=worker_id, block_s=block_s))

    def _shard_turns(self, wait_s: float, turn: Iterator[int]) -> Iterator[tuple[int, float]]:
        """Yield shards to look into and how long to wait there, until the time is up. The first shard rotates."""
        ends_at = self._clock() + wait_s
        there = self.availability.there()
        at = next(turn) % len(there)
        longest = BLOCK_S if len(there) == 1 else ROUND_S / len(there)
        yield from ((shard, 0.0) for shard in (*there[at:], *there[:at]) if len(there) > 1 or wait_s <= 0)
        while (left := ends_at - self._clock()) > 0:
            there = self.availability.there()
            yield there[next(turn) % len(there)], min(left, longest)

    async def _take(self, worker_id: str, shard: int) -> Claim | SeatClaim | None:
        """Claim what was delivered to a worker, or else is ready; one claim of a worker at a time."""
        async with self._claiming[worker_id]:
            held = list(self._held[worker_id, shard])
            reply = await self._claim_with_retries(shard, {"worker": worker_id, "held": held, "missing": MISSING})
            return await self._taken(worker_id, reply)

    async def _taken(self, worker_id: str, reply: ScriptReply) -> Claim | SeatClaim | None:
        """Return the claim that the step answered with."""
        if reply[0] != "ok":
            return None
        _ok, job_fields, scenario_fields, plan, job_id, ready_entry_id, seat = reply
        job = record_codec.job_from_hash(job_id, record_codec.fields_of(job_fields))
        scenario = record_codec.scenario_from_hash(record_codec.fields_of(scenario_fields))
        best = json.loads(plan) if plan else await self._warm_plan(job)
        self._held[worker_id, ids.shard_of("job", job_id)].add(ready_entry_id)
        work = (job, worker_id, ready_entry_id, scenario, best, await self._prices(scenario))
        return SeatClaim(*work, seat) if seat else Claim(*work)

    async def _claim_with_retries(self, shard: int, args: Json) -> ScriptReply:
        """Run the step again when its answer was lost: an unknown claim would cost the job a lease and a crash."""
        pauses_s = iter(RETRY_PAUSES_S)
        while True:
            try:
                return await self._script_client.step("claim", shard, args | {"turn": next(self._tries)})
            except StoreUnavailableError:
                if (pause_s := next(pauses_s, None)) is None:
                    raise
                await sleep(pause_s)

    async def _warm_plan(self, job: Job) -> PlanJson | None:
        """Return the plan a job was asked to start from, None when it has expired or its shard is unavailable."""
        if (plan_id := job.request.warm_plan_id) is None:
            return None
        shard = ids.shard_of("plan", plan_id)
        text = None
        with suppress(StoreUnavailableError):  # the shard of the job is there, and its claim stands
            owner = await self._script_client.command(
                "HGET", store_keys.key(shard, "job", ids.job_of(plan_id)), "principal"
            )
            if owner == job.principal:
                text = await self._script_client.command("GET", store_keys.key(shard, "plan", plan_id))
        return json.loads(text) if text else None

    async def _prices(self, scenario: StoredScenario) -> ScenarioBody | None:
        """Return the day whose prices hold for another, None when it has expired or its shard is unavailable."""
        if scenario.prices_of is None:
            return None
        name = store_keys.key(ids.shard_of("scn", scenario.prices_of), "scn", scenario.prices_of)
        with suppress(StoreUnavailableError):
            kept = await self._script_client.command("HGETALL", name)
            if kept and kept["principal"] == scenario.principal:
                return record_codec.scenario_from_hash(kept).body
        return None

    # ---- holding a job

    async def renew(self, claim: Claim) -> Renewal:
        """Extend the lease and learn what was asked meanwhile."""
        args = {"delivery": claim.ready_entry_id, "worker": claim.worker_id}
        reply = await self._step("renew", claim, args)
        if reply[0] != "ok":
            self._forget(claim)
            return Renewal(is_held=False)
        return Renewal(is_held=True, cancel=bool(reply[1]), finish=bool(reply[2]))

    async def exchange(
        self, member: Claim | SeatClaim, plan: PlanJson | None, *, is_new: bool = False, leaves: bool = False
    ) -> Exchanged:
        """Get the team's best plan where it is better than a member's; a seat offers its own if that is new."""
        args = {
            "best": "" if plan is None else _best(plan.get("penalty"), plan["cost"]),
            "seat": member.seat if isinstance(member, SeatClaim) else "",
            "principal": member.job.principal,
            "delivery": member.ready_entry_id,
            "worker": member.worker_id,
            "leaves": leaves,
        }
        reply = await self._step("exchange", member, args, _text(plan if is_new else None))
        if reply[0] == "ok":
            plan_text, seats = reply[1:]
            members = (1, *map(int, seats.split()))
            return Exchanged(is_held=True, plan=json.loads(plan_text) if plan_text else None, members=members)
        if isinstance(member, SeatClaim):
            self._forget(member)
        return Exchanged(is_held=False)

    async def wait_control(self, wait_s: float) -> Sequence[str]:
        """Return ids of jobs whose flags changed since the last call, waiting up to `wait_s`."""
        for shard in self.availability.there():
            if shard not in self._control_read_to:
                with self.availability.tracking(shard):
                    self._control_read_to[shard] = await self._last_control_id(shard)
        for shard, block_s in self._shard_turns(wait_s, self._control_turn):
            with self.availability.tracking(shard):
                if words := await self._control_entries(shard, block_s):
                    return words
        return ()

    async def _control_entries(self, shard: int, block_s: float) -> list[str]:
        """Return the jobs of a shard whose flags changed since the last call."""
        after = self._control_read_to.get(shard) or await self._last_control_id(shard)
        words = await self._script_client.read_stream(
            store_keys.key(shard, "control"), after, count=100, block_s=block_s
        )
        self._control_read_to[shard] = words[-1][0] if words else after
        return [fields["job"] for _id, fields in words]

    async def _last_control_id(self, shard: int) -> str:
        return await self._script_client.end_of_stream(store_keys.key(shard, "control"))

    async def report(self, claim: Claim, progress: Progress, plan: PlanJson | None) -> None:
        """Record progress and, with a better plan, the incumbent (checkpoint), as one event."""
        args = {
            **_progress(progress),
            "percent": progress.percent,
            "extra": record_codec.progress_extra(progress),
            "plan_id": "" if plan is None else ids.plan_of(claim.job.id),
            "summary": "" if plan is None else compact(_summary(claim, plan).as_json()),
        }
        self._must_hold(claim, await self._step("report", claim, args, _text(plan)))

    # ---- ending

    async def complete(self, claim: Claim, progress: Progress, plan: PlanJson) -> None:
        """End the job completed with its plan; cancelled, when a cancel was answered before."""
        plan_id, summary = ids.plan_of(claim.job.id), _summary(claim, plan).as_json()
        extra = {"result": {"plan_id": plan_id, **summary}}
        args = {**_progress(progress), "plan_id": plan_id, "summary": compact(summary), "extra": compact(extra)}
        await self._finish(claim, Change.COMPLETE, args, _text(plan))

    async def fail(self, claim: Claim, error: Json) -> None:
        """End the job failed; its best plan, if any, stays readable."""
        text = compact(error)
        await self._finish(claim, Change.FAIL, {"error": text, "extra": compact({"error": error})})

    async def settle_cancel(self, claim: Claim) -> None:
        """End a job whose cancel was asked, after its solver stopped."""
        await self._finish(claim, Change.CANCEL, {})

    async def _finish(self, claim: Claim, change: Change, args: Json, plan: str = "") -> None:
        self._release(claim, await self._step("finish", claim, {**BLANK, **args, "change": change}, plan))

    async def crash(self, claim: Claim, error: Json) -> JobState:
        """Record a death of the solving process: queued again, or failed as poisoned after `MAX_CRASHES`."""
        poison = _error(PoisonedJobError(f"{PoisonedJobError.summary} Last: {error.get('message', 'unknown')}"))
        reply = await self._step("requeue", claim, {"change": Change.CRASH, "poison": poison})
        self._release(claim, reply)
        return JobState(reply[1])

    async def hand_back(self, claim: Claim) -> None:
        """Give the job back unfinished (drain): queued again at the front, no crash counted."""
        self._release(claim, await self._step("requeue", claim, {"change": Change.HAND_BACK, "poison": ""}))

    async def reap(self) -> int:
        """Requeue jobs whose lease ran out (a lost worker counts as a crash), forget dead workers; return how many.

        A shard that went away or came back less than a lease ago is spared: its workers could not renew. So is one
        whose clock was set forward: the leases of all its workers would end at once.
        """
        called = await self.availability.ask_all(
            lambda shard: self._script_client.step("register", shard, {"worker": "", "slots": 0})
        )
        for shard, (_ok, now_ms) in called.items():
            self.availability.note_time(shard, now_ms / 1000)
        args = {"poison": _error(PoisonedJobError()), "count": REAP_AT_ONCE}
        taken = await ask_all(self.availability.reapable(), lambda shard: self._script_client.step("reap", shard, args))
        return sum(count for _ok, count in taken.values())

    # ---- helpers

    async def _step(self, name: str, claim: ClaimedWork, args: Json, *blobs: str) -> ScriptReply:
        shard = ids.shard_of("job", claim.job.id)
        return await self._script_client.step(
            name, shard, {"job": claim.job.id, "fence": claim.job.fence, **args}, *blobs
        )

    def _release(self, claim: Claim, reply: ScriptReply) -> None:
        self._must_hold(claim, reply)
        self._forget(claim)

    def _must_hold(self, claim: Claim, reply: ScriptReply) -> None:
        if reply[0] != "ok":
            self._forget(claim)
            raise LeaseLostError

    def _forget(self, claim: ClaimedWork) -> None:
        self._held[claim.worker_id, ids.shard_of("job", claim.job.id)].discard(claim.ready_entry_id)


def _error(error: NotFoundError | PoisonedJobError) -> str:
    return compact({"code": error.code, "type": error.type, "message": error.message})


MISSING: Final = _error(NotFoundError("The scenario of this job is gone."))
BLANK: Final = {"progress": "", "best": "", "error": "", "plan_id": "", "summary": "", "extra": "{}"}
"""Arguments of the `finish` step that a caller leaves out."""


def _progress(progress: Progress) -> dict[str, str]:
    best = "" if progress.cost is None else _best(progress.penalty, progress.cost)
    return {"progress": record_codec.progress_text(progress), "best": best}


def _best(penalty: float | None, cost: float) -> str:
    return f"{penalty or 0.0!r} {cost!r}"


def _summary(claim: Claim, plan: PlanJson) -> PlanSummary:
    prices = None if claim.prices is None else as_shown(claim.prices)
    return summary_of(plan, as_shown(claim.scenario.body), prices)


def _text(plan: PlanJson | None) -> str:
    return "" if plan is None else compact(plan)
