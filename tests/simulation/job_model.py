"""The jobs as they must stand: a second, sequential account of the engine, without Redis and without Lua.

Each step of a history is told to the model in the order in which the server ran it. The model says what the reply had
to be; a difference is a violation. It knows nothing of which job is handed out next, only who may have it.
"""

from dataclasses import dataclass, field
from typing import Any

from planner_mcp.jobs.job_lifecycle import MAX_CRASHES
from planner_mcp.jobs.store.record_codec import fields_of
from tests.simulation.history import Step

ENDS = {"complete": "completed", "fail": "failed", "cancel": "cancelled"}


@dataclass
class ModelJob:
    """One job."""

    principal: str
    idem: str
    """Its implicit key; empty for an explicit one."""
    has_hook: bool
    state: str = "queued"
    fence: int = 0
    worker: str = ""
    touched_ms: int = 0
    """Beginning of its lease."""
    crashes: int = 0
    cancel: str = ""
    finish: bool = False
    turn: int = 0
    """Of the worker's tries to claim, the one that got it."""
    asked: str = ""
    given: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDS.values()


@dataclass
class JobModel:
    """All jobs of one shard.

    Args:
        lease_ms: Of every worker.
        most_queued: Of one principal.
    """

    lease_ms: int
    most_queued: int
    jobs: dict[str, ModelJob] = field(default_factory=dict)
    keys: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """Idempotency keys by principal: digest ('' for an implicit one) and job."""

    def apply(self, step: Step) -> str:
        """Take a step over; return what is wrong with its reply, or nothing."""
        judge = getattr(self, f"_{step.name}", None)
        return judge(step, step.args, step.reply) if judge else ""

    # ---- callers

    def _submit(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        key, given = (args["principal"], args["idem"]), reply[0]
        digest, bound = self.keys.get(key, ("", "")) if args["find"] else ("", "")
        if args["job"] in self.jobs:
            expected = ("ok", args["job"])
        elif bound and digest != args["digest"]:
            expected = ("conflict", "")
        elif bound:
            expected = ("ok", bound)
        elif sum(job.state == "queued" and job.principal == key[0] for job in self.jobs.values()) >= self.most_queued:
            expected = ("quota", "")
        else:
            expected = ("ok", args["job"])
            self.jobs[args["job"]] = ModelJob(key[0], "" if args["digest"] else args["idem"], bool(args["url"]))
            self.keys[key] = (args["digest"], args["job"])
        found = (given, reply[3] if given == "ok" else "")
        return "" if found == expected else f"answered {found} instead of {expected}"

    def _show(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        if (job := self.jobs.get(args["job"])) is None:
            return "" if reply[0] == "not_found" else "showed a job that was never made"
        return self._shows(job, reply)

    def _cancel(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        job = self.jobs[args["job"]]
        if job.state == "queued":
            job.cancel = args["keep"]
            self._end(args["job"], job, "cancel")
        elif job.state == "solving" and not job.cancel:
            job.cancel = args["keep"]
            self._unbind(args["job"], job)
        return self._shows(job, reply)

    def _finish_now(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        job = self.jobs[args["job"]]
        if job.state == "queued":
            return "" if reply[0] == "illegal" else "asked a queued job to finish"
        job.finish |= job.state == "solving"
        return self._shows(job, reply)

    # ---- workers

    def _claim(self, step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        if reply[0] != "ok":
            return ""
        job, shown = self.jobs[reply[4]], fields_of(reply[1])
        if reply[6]:
            is_running = job.state == "solving" and not job.cancel and reply[6].startswith(f"{reply[4]}/{job.fence}.")
            return "" if is_running else f"handed out the seat {reply[6]} of a job that is {job.state}"
        is_own = job.state == "solving" and job.worker == args["worker"] and job.turn <= args["turn"]
        is_repeat = is_own and reply[5] not in args["held"]
        if job.state != "queued" and not is_repeat:
            return f"handed out {reply[4]}, which is {job.state} with {job.worker or 'nobody'}"
        job.state, job.worker, job.turn = "solving", args["worker"], args["turn"]
        job.fence, job.touched_ms = job.fence + 1, step.at_ms
        return "" if int(shown["fence"]) == job.fence else f"gave the number {shown['fence']}, not {job.fence}"

    def _renew(self, step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        job = self._held(args)
        if job is None:
            return _must_be(["lost"], reply)
        job.touched_ms = step.at_ms
        return _must_be(["ok", int(bool(job.cancel)), int(job.finish)], reply)

    def _exchange(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        job = self._held(args)
        if not args["seat"]:
            return _must_be(["ok" if job else "lost"], reply[:1])
        is_over = job is None or bool(job.cancel) or args["leaves"]
        return "let a seat go on without its job" if is_over and reply[0] == "ok" else ""

    def _report(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        return _must_be(["ok" if self._held(args) else "lost"], reply)

    def _finish(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        if (job := self._held(args)) is None:
            known = self.jobs[args["job"]]
            is_repeat = known.fence == args["fence"] and known.asked == args["change"]
            return _must_be(["ok" if is_repeat else "lost"], reply)
        job.asked = args["change"]
        self._end(args["job"], job, args["change"])
        return _must_be(["ok"], reply)

    def _requeue(self, _step: Step, args: dict[str, Any], reply: list[Any]) -> str:
        if (job := self._held(args)) is None:
            known = self.jobs[args["job"]]
            is_repeat = known.fence == args["fence"] and known.given == args["change"]
            return _must_be(["ok", known.state] if is_repeat else ["lost"], reply)
        job.given = args["change"]
        self._put_back(args["job"], job, args["change"])
        return _must_be(["ok", job.state], reply)

    def _reap(self, step: Step, _args: dict[str, Any], _reply: list[Any]) -> str:
        for name, job in self.jobs.items():
            if job.state == "solving" and step.at_ms - job.touched_ms >= self.lease_ms:
                self._put_back(name, job, "crash")
        wrong = [
            f"{name} {step.states.get(name)}, not {(job.state, job.crashes)}"
            for name, job in self.jobs.items()
            if step.states.get(name) != (job.state, job.crashes)
        ]
        return "; ".join(wrong)

    # ---- helpers

    def _held(self, args: dict[str, Any]) -> ModelJob | None:
        job = self.jobs[args["job"]]
        return job if job.state == "solving" and job.fence == args["fence"] else None

    def _end(self, name: str, job: ModelJob, change: str) -> None:
        job.state = ENDS["cancel" if job.cancel else change]
        if job.cancel or change != "complete":
            self._unbind(name, job)

    def _unbind(self, name: str, job: ModelJob) -> None:
        if job.idem and self.keys.get((job.principal, job.idem)) == ("", name):
            del self.keys[job.principal, job.idem]

    def _put_back(self, name: str, job: ModelJob, change: str) -> None:
        if job.cancel:
            return self._end(name, job, "cancel")
        job.crashes += change == "crash"
        if change == "crash" and job.crashes >= MAX_CRASHES:
            return self._end(name, job, "fail")
        job.state, job.worker = "queued", ""
        return None

    def _shows(self, job: ModelJob, reply: list[Any]) -> str:
        shown = fields_of(reply[1]) if reply[0] == "ok" else {}
        found = tuple(shown.get(name) for name in ("state", "fence", "crashes", "cancel"))
        expected = (job.state, str(job.fence), str(job.crashes), job.cancel)
        return "" if found == expected else f"showed {found} instead of {expected}"


def _must_be(expected: list[Any], reply: list[Any]) -> str:
    return "" if reply == expected else f"answered {reply} instead of {expected}"
