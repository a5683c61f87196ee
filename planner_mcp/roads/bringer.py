"""Brings the tables of travel that a day refers to.

Owns the order of looking: what was uploaded or asked before lies in the store; what was not is asked of the day's road
engine once, and kept for every later use of the same places.
"""

from planner_mcp.errors import NotFoundError, TravelUnknownError
from planner_mcp.jobs.matrices import Matrices, matrix_named, road_question
from planner_mcp.jobs.model import StoredScenario
from planner_mcp.roads.survey import Survey
from planner_mcp.settings import Settings
from planner_mcp.vrp.compile.roads import RoadQuestion
from planner_mcp.vrp.day.tables import Packed


class Bringer:
    """Finds or asks for tables.

    Args:
        matrices: What is kept.
        settings: The road engines there are.
    """

    def __init__(self, matrices: Matrices, settings: Settings) -> None:
        self._matrices = matrices
        self._survey = Survey(
            settings.routers,
            request_s=settings.router_request_s,
            total_s=settings.router_total_s,
            max_locations=settings.max_matrix_locations,
        )

    @staticmethod
    def is_wanted(day: StoredScenario) -> bool:
        """Return whether a stored day refers to any tables."""
        return bool(day.body.get("travel"))

    async def bring(self, day: StoredScenario) -> Packed | None:
        """Return the tables of a stored day, packed; None where it refers to none.

        Raises:
            TravelUnknownError: Uploaded tables have expired.
            InputError, RoadsUnavailableError: As `Survey.tables`.
        """
        if (name := matrix_named(day.body)) is not None:
            try:
                return await self._matrices.packed(day.principal, name)
            except NotFoundError:
                raise TravelUnknownError from None
        question = await road_question(day.body)
        return None if question is None else await self.roads(day.principal, question)

    async def roads(self, principal: str, question: RoadQuestion) -> Packed:
        """Return the answer to a question, packed: the one that is kept, or a new one, kept from now on."""
        if (known := await self._matrices.known_roads(principal, question)) is not None:
            return known
        return await self._matrices.keep_roads(principal, question, await self._survey.tables(question))
