"""Brings the tables of travel that a day refers to.

Owns the order of looking: what was uploaded or asked before lies in the store; what was not is asked of the day's road
engine once, and kept for every later use of the same places.
"""

from planner_mcp.errors import NotFoundError, TravelUnknownError
from planner_mcp.jobs.job_model import StoredScenario
from planner_mcp.jobs.matrix_service import MatrixService, matrix_id_of, routing_request
from planner_mcp.routing.compilation.matrix_request import MatrixRequest
from planner_mcp.routing.scenario.travel_matrices import Packed
from planner_mcp.settings import ROADS, Settings
from planner_mcp.travel.matrix_builder import MatrixBuilder
from planner_mcp.travel.road_engines import RoadEngines


class MatrixProvider:
    """Finds or asks for tables."""

    def __init__(self, matrices: MatrixService, settings: Settings) -> None:
        self._matrices = matrices
        engines = RoadEngines(settings)
        self._embedded = engines.embedded
        self._builder = MatrixBuilder(engines, settings)

    async def provide_matrices(self, day: StoredScenario) -> Packed | None:
        """Return the tables of a stored day, packed; None where it refers to none.

        Raises:
            TravelUnknownError: Uploaded tables have expired.
            InputError, RoutingProviderUnavailableError: As `MatrixBuilder.travel_matrices`.
        """
        if (name := matrix_id_of(day.body)) is not None:
            try:
                return await self._matrices.packed(day.principal, name)
            except NotFoundError:
                raise TravelUnknownError("The uploaded matrix of this day is gone: upload it again.") from None
        question = await routing_request(day.body)
        return None if question is None else await self.road_matrices(day.principal, question)

    async def road_matrices(self, principal: str, question: MatrixRequest) -> Packed:
        """Return the answer to a question, packed: the one that is kept, or a new one, kept from now on.

        What the road engine of this host answered with another map is not used again.
        """
        known = await self._matrices.find_routed(principal, question)
        if known is not None and (question.router != ROADS or self._embedded is None or self._embedded.made(known)):
            return known
        return await self._matrices.keep_routed(principal, question, await self._builder.travel_matrices(question))

    async def roads_at_once(self, principal: str, question: MatrixRequest) -> Packed | None:
        """Return the answer that is kept, else that of the road engine of this host if it is ready; None without it.

        Raises:
            RoutingProviderUnavailableError: It did not answer in time.
        """
        is_ready = self._embedded is not None and question.router == ROADS and self._embedded.is_ready
        if is_ready:
            return await self.road_matrices(principal, question)
        return await self._matrices.find_routed(principal, question)
