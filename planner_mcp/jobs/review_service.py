"""The use cases of reviews: who may take which step, and whose plans a reviewer sees (SPEC A5).

Owns the permissions. The states are `plan_review.py`'s, and each step is one step of the store. A principal sees its
own plans alone, but for one case: a plan that was proposed is seen by those with `planner:approve` who share its
owner's issuer and tenant (ADR 0041).
"""

from dataclasses import replace
from typing import Final

from planner_mcp.errors import JobError
from planner_mcp.jobs.ids import job_of
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.job_ports import ReviewStore
from planner_mcp.jobs.plan_review import DECISIONS, TAKEN_OUT, PlanReview, ReviewStep, next_steps
from planner_mcp.jobs.principals import APPROVE, WRITE, Principal
from planner_mcp.settings import Settings
from planner_mcp.text import Json

NO_REVIEWS: Final = "Plans are not reviewed here; the operator can switch it on by PLANNER_APPROVAL."


class ReviewService:
    """The use cases.

    Args:
        store: Where reviews are kept.
        settings: Whether plans are reviewed, and by whom.
    """

    def __init__(self, store: ReviewStore, settings: Settings) -> None:
        self._store = store
        self.is_on = settings.approval != "off"
        self._is_four_eyes = settings.approval == "four_eyes"

    async def review(self, principal: Principal, job_id: str, step: ReviewStep, reason: str = "") -> Job:
        """Take a step in the review of a plan: its owner's, or the decision of a reviewer, with its reason.

        Raises:
            JobError: Plans are not reviewed here.
            InsufficientScopeError: A decision without `planner:approve`.
            FourEyesError, IllegalTransitionError, PlanNotReadyError: As `ReviewStore.review`.
        """
        if not self.is_on:
            raise JobError(NO_REVIEWS)
        if step not in DECISIONS:
            proposed_to = principal.group if step is ReviewStep.PROPOSE else ""
            return await self._store.review(principal.id, job_id, step, proposed_to=proposed_to)
        principal.require(APPROVE, "A review")
        return await self._store.review(
            principal.id, job_id, step, group=principal.group, reason=reason, four_eyes=self._is_four_eyes
        )

    def view_for(self, principal: Principal, job: Job) -> Json:
        """Return the review of a job with the steps that its reader may take, and whether the job is the reader's own.

        A job without a review has nothing of it.
        """
        if job.review is None:
            return {}
        is_own = job.principal == principal.id
        may_decide = principal.may(APPROVE) and not (is_own and self._is_four_eyes)
        may_hand_on = is_own and principal.may(WRITE)
        steps = [step for step in next_steps(job.review.state) if (may_decide if step in DECISIONS else may_hand_on)]
        return {"review": {**job.review.as_json(), "steps": steps}, "is_own": is_own}

    def group_of(self, principal: Principal) -> str:
        """Return the group whose proposed plans a principal may review, an empty text for none."""
        return principal.group if self.is_on and principal.may(APPROVE) else ""

    async def reader(self, principal: Principal, name: str) -> Principal:
        """Return the principal by whose id a job, plan or scenario is read, with the scopes of the caller."""
        if not (group := self.group_of(principal)):
            return principal
        job_or_scenario = job_of(name) if name.startswith("plan-") else name
        owner = await self._store.owner_proposed_to(group, job_or_scenario)
        return principal if owner is None else replace(principal, id=owner)

    async def approved_job(self, principal: Principal, scenario_id: str) -> str | None:
        """Return the job whose plan was approved last for the day of a scenario, None for none."""
        return await self._store.approved_job(principal.id, scenario_id) if self.is_on else None

    def shown(self, job: Job) -> Job:
        """Return a job with the review of its plan; a plan nobody proposed is a draft."""
        if not self.is_on:
            return job if job.review is None else replace(job, review=None)
        has_final_plan = job.is_terminal and job.plan_id is not None
        return replace(job, review=PlanReview()) if has_final_plan and job.review is None else job

    def is_draft(self, job: Job) -> bool:
        """Return whether a plan must be marked as a draft where it leaves the planner."""
        return self.is_on and (job.review is None or job.review.state not in TAKEN_OUT)
