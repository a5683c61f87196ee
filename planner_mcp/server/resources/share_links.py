"""Share links: URLs that show one plan to people without an account, masked and read only (SPEC O2, R3).

Owns what a link allows and how it is made. The token carries the owner's id and the scope to read, and nothing else,
and who opens it is a guest: the plan is masked, exact times and costs included, whoever wrote its day. It names a
generation of the plan's links: when the owner revokes them, the store counts on, and no replica accepts an older one.
`server/http/routes/shared_plans_api.py` serves the URLs.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from planner_mcp.errors import LinkExpiredError
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import READ, Principal
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.server.resources.downloads import Download, base_url
from planner_mcp.settings import Settings

PREFIX: Final = "/shared/"
"""Of the path of each URL; the token follows."""
OfferShare = Callable[[str, float], Awaitable[Download]]
"""`(job_id, life_s)`: returns the URL of a job's plan."""


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """What a token opens."""

    principal: Principal
    """Whose plan it is, with the scope to read."""
    job_id: str
    expires_at: datetime


class ShareLinks:
    """Makes and opens share links.

    Args:
        settings: Where this server is reached.
        links: Of the use `share`.
        job_service: Knows which generation of links is valid.
    """

    def __init__(self, settings: Settings, links: AccessLinks, job_service: JobService) -> None:
        self._settings = settings
        self.links = links
        self._job_service = job_service

    def by_url(self, principal: Principal, scope: Mapping[str, Any]) -> OfferShare:
        """Return what makes URLs for the client of an HTTP request."""
        server = base_url(self._settings, scope)

        async def offer(job_id: str, life_s: float) -> Download:
            generation = await self._job_service.share_generation(principal, job_id)
            reader = replace(principal, scopes=frozenset({READ}), expires_at=None)
            token, expires_at = self.links.make(reader, f"{job_id} {generation}", life_s)
            return Download(f"{server}{PREFIX}{token}", datetime.fromtimestamp(expires_at, UTC))

        return offer

    async def open(self, token: str) -> SharedPlan:
        """Return what a token opens.

        Raises:
            NotFoundError: It was altered, or its plan is not kept any more.
            LinkExpiredError: Its time is over, or its owner revoked it.
        """
        link = self.links.open(token)
        job_id, generation = link.grant.split()
        if await self._job_service.share_generation(link.principal, job_id) != int(generation):
            raise LinkExpiredError("This link was revoked; whoever gave it can ask for a new one.")
        return SharedPlan(replace(link.principal, is_guest=True), job_id, datetime.fromtimestamp(link.expires_at, UTC))
