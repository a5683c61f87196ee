"""Reviews of plans in the store. Implements `jobs.job_ports.ReviewStore`."""

from typing import Final, NoReturn

from planner_mcp.errors import Fault, FourEyesError, IllegalTransitionError, NotFoundError, PlanNotReadyError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.plan_review import ReviewState, ReviewStep, next_steps
from planner_mcp.jobs.store import record_codec
from planner_mcp.jobs.store.connection.script_client import ScriptReply
from planner_mcp.jobs.store.connection.store_part import StorePart

_TOOLS: Final = {
    ReviewStep.PROPOSE: "propose_plan",
    ReviewStep.APPROVE: "review_plan decision=approve",
    ReviewStep.REJECT: "review_plan decision=reject",
    ReviewStep.PUBLISH: "publish_plan",
}


class RedisReviewStore(StorePart):
    """Takes steps of reviews."""

    async def review(
        self,
        principal: str,
        job_id: str,
        step: ReviewStep,
        *,
        group: str = "",
        proposed_to: str = "",
        reason: str = "",
        four_eyes: bool = False,
    ) -> Job:
        """Take a step in the review of a job's plan; as `jobs.job_ports.ReviewStore`."""
        args = {
            "job": job_id,
            "principal": principal,
            "step": step,
            "group": group,
            "proposed_to": proposed_to,
            "reason": reason,
            "four_eyes": four_eyes,
        }
        reply = await self._script_client.safe_step("review", self._script_client.shard_of("job", job_id), args)
        if reply[0] != "ok":
            _refuse(step, reply)
        return record_codec.job_from_hash(job_id, record_codec.fields_of(reply[1]))

    async def owner_proposed_to(self, group: str, name: str) -> str | None:
        """Return the owner of a job or scenario whose plan was proposed to a group, None where it was not."""
        kind: ids.IdKind = "scn" if name.startswith("scn-") else "job"
        owner, proposed_to = await self._script_client.command(
            "HMGET", self._script_client.key_of(kind, name), "principal", "group"
        )
        return str(owner) if owner and proposed_to == group else None

    async def approved_job(self, principal: str, scenario_id: str) -> str | None:
        """Return the job whose plan was approved last for the day of a scenario, None for none."""
        args = {"principal": principal, "scenario": scenario_id}
        reply = await self._script_client.step("approved", self._script_client.shard_of("scn", scenario_id), args)
        if reply[0] != "ok":
            raise NotFoundError
        return str(reply[1]) or None


def _refuse(step: ReviewStep, reply: ScriptReply) -> NoReturn:
    word, state = reply[0], reply[1] if len(reply) > 1 else ""
    if word == "same":
        raise FourEyesError
    if word == "unready":
        raise PlanNotReadyError(f"The job is {state}: its plan may still change.")
    if word == "planless":
        raise IllegalTransitionError("This job ended without a plan.")
    if word == "stale":
        problem = "Another plan of this day was approved since this one was proposed."
        raise _illegal(problem, "propose_plan", "It shows the difference from the approved plan anew.")
    if word == "illegal":
        allowed = " or ".join(_TOOLS[each] for each in next_steps(ReviewState(state))) or "no further step"
        raise _illegal(f"The plan is {state}: it cannot take the step {step}.", allowed)
    raise NotFoundError


def _illegal(problem: str, accepted: str, hint: str = "") -> IllegalTransitionError:
    return IllegalTransitionError(problem, errors=[Fault("/job_id", problem, accepted, hint)])
