"""Scenarios, jobs and plans as a caller reaches them. Implements `jobs.job_ports.JobStore`."""

import json
import math
from asyncio import timeout
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final, NoReturn, TypeVar

from planner_mcp.errors import (
    CapacityError,
    IdempotencyConflictError,
    IllegalTransitionError,
    LeaseLostError,
    NotFoundError,
    PlannerError,
    PlanNotReadyError,
    QueueFullError,
    QuotaExceededError,
    RateLimitedError,
    StoreUnavailableError,
)
from planner_mcp.jobs import ids, job_admission
from planner_mcp.jobs.job_lifecycle import TERMINAL
from planner_mcp.jobs.job_model import Job, ScenarioCard, SolveRequest, StoredScenario, WrittenScenario
from planner_mcp.jobs.job_ports import EventHistory, OpenWork, QueueStats, WorkerRow
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.limits.principal_limits import limit_text
from planner_mcp.jobs.store import record_codec, store_keys
from planner_mcp.jobs.store.connection import shard_pages
from planner_mcp.jobs.store.connection.script_client import ScriptReply
from planner_mcp.jobs.store.connection.shard_availability import ask_all
from planner_mcp.jobs.store.connection.store_part import StorePart
from planner_mcp.routing.engine_names import PROVE
from planner_mcp.routing.plan import PlanJson
from planner_mcp.text import Json, compact, digest_of, plain_fields

T = TypeVar("T")
PING_TIMEOUT_S: Final = 1.2
"""A store that has not confirmed a write by then counts as away (SPEC J7)."""


DECODED_AT_ONCE: Final = 64 * 1024
"""Characters of a body that is decoded on the event loop."""


class RedisJobStore(StorePart):
    """The caller's side of the store."""

    @cached_property
    def _decoding(self) -> FairLimiter:
        """Large bodies are decoded one after another: each holds the interpreter, and others run in between."""
        return FairLimiter(slots=1)

    # ---- scenarios

    async def put_scenario(self, scenario: StoredScenario, written: WrittenScenario | None = None) -> None:
        """Keep a scenario; readable on every replica when this returns.

        Args:
            scenario: What is kept.
            written: Its body as text, where it comes so; that of `scenario` is then not looked at.

        Raises:
            QuotaExceededError: The principal keeps as many as it may, or as many bytes.
        """
        shard = self._script_client.shard_of("scn", scenario.id)
        args = {
            "scenario": scenario.id,
            "principal": scenario.principal,
            "ttl_s": self._settings.scenario_ttl_s,
            "listed": store_keys.SCENARIOS_LISTED,
        }
        reply = await self._script_client.step(
            "put_scenario", shard, args, *record_codec.scenario_words(scenario, written)
        )
        if reply[0] in _LIMITS:
            raise self._over(*reply)

    async def get_scenario(self, principal: str, scenario_id: str) -> StoredScenario:
        """Return a scenario of the principal, and keep it for another scenario TTL."""
        await self._script_client.owned("scn", scenario_id, principal)
        if not (kept := await self._script_client.command("HGETALL", self._script_client.key_of("scn", scenario_id))):
            raise NotFoundError
        fields = {**kept, "job": await self._use_scenario(principal, scenario_id, kept.get("job"))}
        return await self._decoded(principal, record_codec.scenario_from_hash, fields, len(kept["body"]))

    async def _decoded(self, principal: str, decode: Callable[[Any], T], record: Any, size: int) -> T:
        """Return what a record of so many characters says; a large one is decoded beside the event loop."""
        if size <= DECODED_AT_ONCE:
            return decode(record)
        return await self._decoding.run(principal, decode, record)

    async def last_job(self, principal: str, scenario_id: str) -> str | None:
        """Return the newest job of a scenario, None where none is kept, and keep it for another scenario TTL."""
        (job_id,) = await self._script_client.owned("scn", scenario_id, principal, "job")
        return await self._use_scenario(principal, scenario_id, job_id) or None

    async def _use_scenario(self, principal: str, scenario_id: str, last_read: str | None) -> str:
        """Keep a scenario for another scenario TTL and return its newest job, empty where none is kept.

        A store that accepts no writes, as on a full disk, is still read: then it is the job that was read last.
        """
        try:
            return await self._touch("scn", scenario_id, principal)
        except StoreUnavailableError:
            return last_read or ""

    async def parent(self, principal: str, scenario_id: str) -> str | None:
        """Return what a scenario is a revision of, None for the first of its line."""
        (parent_id,) = await self._script_client.owned("scn", scenario_id, principal, "parent_id")
        return str(parent_id) if parent_id else None

    async def list_scenarios(self, principal: str, *, offset: int, count: int) -> tuple[list[ScenarioCard], int]:
        """Return scenarios newest first, and how many are listed."""
        parts, total = await self._page("list_scenarios", {"principal": principal}, offset, count)
        cards = [[record_codec.scenario_card_from(row) for row in rows] for rows in parts]
        return shard_pages.merged(cards, count, lambda card: card.created_at), total

    # ---- jobs

    async def submit(self, principal: str, request: SolveRequest, job_id: str) -> Job:
        """Queue a job, or return the one the same call already made (SPEC T2)."""
        shard = self._script_client.shard_of("scn", request.scenario_id)
        digest, key = job_admission.digest(request), request.idempotency_key
        is_explicit = key is not None
        idem = digest if key is None else f"key:{digest_of(key)}"
        args = {
            "job": job_id,
            "principal": principal,
            "scenario": request.scenario_id,
            "request": compact(plain_fields(request)),
            "priority": request.priority,
            "cpu_s": job_admission.estimated_cpu_s(request, self._settings.solve_cores),
            "seats": job_admission.seats_of(request, self._settings.solve_cores),
            "url": request.callback_url or "",
            "masked": "1" if request.is_masked else "",
            "is_proof": request.engine == PROVE,
            "idem": idem,
            "find": is_explicit or not request.fresh,
            "digest": digest if is_explicit else "",
            "idem_s": self._settings.idempotency_ttl_s,
        }
        is_bound = is_explicit and self._settings.pools > 1
        if is_bound:
            await self._bind_key(args)
        reply = await self._script_client.safe_step("submit", shard, args)
        if reply[0] != "ok" and is_bound:
            await self._release_key(args)
        if reply[0] in _LIMITS:
            raise self._over(*reply)
        return _job(reply)

    def _over(self, word: str, wait_s: int) -> CapacityError:
        """Return the error of a limit that was reached: which one it is, and when to come back."""
        error, setting, problem = _LIMITS[word]
        hint = _EXPIRING if word in _STORED else _WAITING
        return error.reached(problem, limit_text(self._settings, setting), hint, retry_after_s=float(wait_s))

    async def _bind_key(self, args: Json) -> None:
        """Bind an idempotency key to its arguments in its home shard, unless a call or job with others relies on it."""
        binding = {name: args[name] for name in _BINDING} | {"call_s": store_keys.CALL_S, "void": ""}
        reply = await self._script_client.step("reserve", self._home(args), binding)
        if reply[0] == "doubtful" and not await self._knows_key(args, self.shard_of_job(reply[2])):
            reply = await self._script_client.step("reserve", self._home(args), binding | {"void": reply[1]})
        if reply[0] != "ok":
            raise IdempotencyConflictError

    async def _knows_key(self, args: Json, shard: int) -> bool:
        """Return whether a job was made in a shard with an idempotency key."""
        return bool(
            await self._script_client.command("EXISTS", store_keys.key(shard, "idem", args["principal"], args["idem"]))
        )

    async def _release_key(self, args: Json) -> None:
        """Withdraw a refused call from the binding. If the home shard is unavailable, the binding expires later."""
        with suppress(StoreUnavailableError):
            await self._script_client.step(
                "release", self._home(args), {name: args[name] for name in ("principal", "idem", "job")}
            )

    def _home(self, args: Json) -> int:
        return int(args["idem"][-8:], 16) % self._settings.pools

    async def get_job(self, principal: str, job_id: str) -> Job:
        """Return a job as it stands, with its place among those of its principal that wait."""
        return await self._on_job("show", principal, job_id)

    async def cancel(self, principal: str, job_id: str, *, keep_best: bool) -> Job:
        """Cancel: a queued job at once, a solving one by a durable flag its worker obeys. Idempotent."""
        return await self._on_job("cancel", principal, job_id, keep="keep" if keep_best else "drop")

    async def share_generation(self, principal: str, job_id: str, *, revoke: bool = False) -> int:
        """Return which generation of share links of a job's plan is valid; `revoke` ends those there are."""
        args = {"job": job_id, "principal": principal, "revoke": revoke}
        reply = await self._script_client.safe_step("share", self.shard_of_job(job_id), args)
        if reply[0] != "ok":
            _refuse(reply)
        return int(reply[1])

    async def finish_now(self, principal: str, job_id: str) -> Job:
        """Ask a solving job to complete with its best plan."""
        return await self._on_job("finish_now", principal, job_id)

    async def _on_job(self, step: str, principal: str, job_id: str, **args: Any) -> Job:
        shard = self.shard_of_job(job_id)
        return _job(await self._script_client.step(step, shard, {"job": job_id, "principal": principal, **args}))

    async def list_jobs(self, reader: str, state: str | None, *, offset: int, count: int) -> tuple[list[Job], int]:
        """Return jobs newest first, and how many there are."""
        parts, total = await self._page("list_jobs", {"principal": reader, "state": state or ""}, offset, count)
        jobs = [[_job(row) for row in rows] for rows in parts]
        return shard_pages.merged(jobs, count, lambda job: job.submitted_at), total

    async def _page(self, step: str, args: Json, offset: int, count: int) -> tuple[list[ScriptReply], int]:
        """Return what each shard may have on a page, and how much all list together."""

        async def read(shard: int, look: str, offset: int, count: int) -> ScriptReply:
            asked = args | {"look": look, "offset": offset, "count": count}
            while (reply := await self._script_client.step(step, shard, asked))[0] == "again":
                pass  # other commands ran in between; expired rows are cleared before any page is shown
            return reply[1:]

        async def ages(shard: int, offset: int, count: int) -> list[int]:
            _there, found = await read(shard, "ages", offset, count)
            return [int(age) for age in found]

        starts = await shard_pages.page_starts([partial(ages, shard) for shard in range(self._settings.pools)], offset)
        parts = [await read(shard, "rows", start, count) for shard, start in enumerate(starts)]
        return [rows for _there, rows in parts], sum(there for there, _rows in parts)

    # ---- plans and events

    async def get_plan(self, principal: str, plan_id: str) -> PlanJson:
        """Return a plan: the best so far while solving, the final one after.

        Raises:
            PlanNotReadyError: The job is still looking for its first plan.
            NotFoundError: Unknown plan or somebody else's, or the job ended without one.
        """
        (state,) = await self._script_client.owned("job", ids.job_of(plan_id), principal, "state")
        text = await self._script_client.command("GET", self._script_client.key_of("plan", plan_id))
        if text is None and state in ("queued", "solving"):
            raise PlanNotReadyError
        if text is None:
            raise NotFoundError("This job ended without a plan.")
        plan: PlanJson = await self._decoded(principal, json.loads, text, len(text))
        return plan

    async def read_past(self, principal: str, job_id: str, after: str = "0") -> EventHistory:
        """Return the events of a job after a position, and whether they end there."""
        reply = await self._script_client.step(
            "read_events", self.shard_of_job(job_id), {"job": job_id, "principal": principal, "after": after}
        )
        if reply[0] != "ok":
            _refuse(reply)
        _ok, entries, state, count, seen = reply
        events = [record_codec.event_from(job_id, event_id, record_codec.fields_of(flat)) for event_id, flat in entries]
        return EventHistory(events, int(count), int(seen), is_over=state in TERMINAL)

    # ---- the queue

    async def stats(self, pools: Sequence[int] | None = None) -> QueueStats:
        """Return the queue at a glance, over the shards that answer.

        Every worker serves them all, so slots count once: as in the shard that has the fewest, for a worker that knows
        of fewer shards leaves what is queued in the others.
        """
        rows = await self._rows("stats", pools)
        queued, solving, workers, slots = zip(*rows, strict=True)
        return QueueStats(sum(queued), sum(solving), min(workers), min(slots), self._settings.pools - len(rows))

    async def open_work(self) -> OpenWork:
        """Return what waits and what is left of running jobs, over the shards that answer."""
        queued, solving, webhooks = zip(*await self._rows("open_work"), strict=True)
        return OpenWork(sum(map(float, queued)), sum(map(float, solving)), any(webhooks))

    async def workers(self) -> list[WorkerRow]:
        """Return the workers there are, by name; each registers in every shard, and solves jobs of them all."""
        found: dict[str, WorkerRow] = {}
        for rows in await self._rows("workers"):
            for name, version, slots, silent_ms, is_live, solving in rows:
                before = found.get(name, WorkerRow(name, version, slots, 0, math.inf, is_live=False))
                found[name] = replace(
                    before,
                    solving=before.solving + solving,
                    silent_s=min(before.silent_s, silent_ms / 1000),
                    is_live=before.is_live or bool(is_live),
                )
        return [found[name] for name in sorted(found)]

    async def measurements(self) -> Mapping[str, int]:
        """Return the fields of `jobs/records/measurements.py`, summed over the shards that answer."""
        total = Counter[str]()
        for (flat,) in await self._rows("measured"):
            total.update({name: int(value) for name, value in record_codec.fields_of(flat).items()})
        return total

    async def _rows(self, step: str, shards: Sequence[int] | None = None) -> list[ScriptReply]:
        """Return what each shard that answers says in a step without arguments."""
        asked = range(self._settings.pools) if shards is None else shards
        replies = await ask_all(asked, lambda shard: self._script_client.step(step, shard, {}))
        return [rest for _ok, *rest in replies.values()]

    async def ping(self) -> Sequence[int]:
        """Return the shards in which Redis confirmed a write; raise `StoreUnavailableError` when there is none."""
        return [*await ask_all(range(self._settings.pools), self._ping)]

    async def confirm(self) -> Sequence[int]:
        """Return the shards in which a write is as safe as the settings ask; raise `StoreUnavailableError` for none."""
        return [
            *await ask_all(range(self._settings.pools), lambda shard: self._script_client.safe_step("stats", shard, {}))
        ]

    async def _ping(self, shard: int) -> None:
        try:
            async with timeout(PING_TIMEOUT_S):
                await self._script_client.command("SET", store_keys.key(shard, "ping"), 1, "EX", store_keys.PING_S)
        except TimeoutError as error:
            raise StoreUnavailableError from error

    def shard_of_job(self, job_id: str) -> int:
        """Return the shard a job lies in."""
        return self._script_client.shard_of("job", job_id)


_BINDING: Final = ("principal", "idem", "digest", "idem_s", "job")
_LIMITS: Final[dict[str, tuple[type[CapacityError], str, str]]] = {
    "full": (QueueFullError, "max_queued", "The queue is full."),
    "quota": (QuotaExceededError, "max_queued_per_principal", "You have as many jobs queued as you may."),
    "pace": (RateLimitedError, "submit_rate_per_s", "You submit jobs faster than you may."),
    "scenarios": (QuotaExceededError, "max_scenarios", "You keep as many scenarios as you may."),
    "bytes": (QuotaExceededError, "max_scenarios_bytes", "Your scenarios take as much room as they may."),
}
_STORED: Final = ("scenarios", "bytes")
_WAITING: Final = "Wait retry_after_s; limits://vrp shows what is allowed and used."
_EXPIRING: Final = "A scenario expires scenario_ttl_s after its last use; use those there are, or ask the operator."
_REFUSALS: Final[dict[str, type[PlannerError]]] = {
    "not_found": NotFoundError,
    "conflict": IdempotencyConflictError,
    "illegal": IllegalTransitionError,
    "lost": LeaseLostError,
}


def _job(reply: ScriptReply) -> Job:
    if reply[0] != "ok":
        _refuse(reply)
    _ok, flat, place, job_id = reply
    return record_codec.job_from_hash(job_id, record_codec.fields_of(flat), place)


def _refuse(reply: ScriptReply) -> NoReturn:
    raise _REFUSALS[reply[0]](reply[1] if len(reply) > 1 else None)
