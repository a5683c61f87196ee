"""Travel that a day refers to, at hand while the day is checked (SPEC S1).

Owns looking it up and what is said where there is none. Looking up is the event loop's, wherever a day is checked
(`day_reading.py`).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.to_thread

from planner_mcp.bounded_calls.call_server import ask_caller
from planner_mcp.errors import Fault, NotFoundError, PlannerError
from planner_mcp.jobs.job_model import StoredScenario
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.masking.field_masking import MASKED, masked_values_in
from planner_mcp.jobs.matrix_service import matrix_id_of, routing_request
from planner_mcp.jobs.principals import SENSITIVE, Principal
from planner_mcp.routing.compilation.matrix_request import matrix_request_of
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.scenario_parsing import UnservedTickets, parse_scenario
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.settings import ROADS, Settings
from planner_mcp.travel.matrix_provider import MatrixProvider

ASK_S: Final = 20.0
"""Time a road engine has where a call waits for it; a solve gives it longer."""
AT_ONCE_S: Final = 2.0
"""Time the road engine of this host has where a day is stored or checked."""
MAX_AT_ONCE: Final = 200
"""Places of a day whose roads are asked for then: 0.2 s of OSRM."""
_UNMASKED: Final = (
    "Patch what changes in the stored scenario (revise_scenario, resolve_vrp), or ask for the scope planner:sensitive."
)
_TRAVEL_SOURCES: Final = frozenset({"router", "matrix", "distances", "durations", "speed_kmh", "detour", "plane_speed"})
"""Fields by which a day says where distances and times come from."""
OPEN: Final = "open_address"
"""Marks a place that no route visits."""
MAX_WRITTEN: Final = 200
"""Rows of a matrix written into a call. Larger ones come by reference: they would fill the context of a model."""


@dataclass(frozen=True, slots=True)
class ResolvedInputs:
    """What lies elsewhere and belongs to a day."""

    travel_matrices: TravelMatrices | None = None
    faults: tuple[Fault, ...] = ()
    shows_names: bool = False
    """Whether the caller may know the names for people: the day was written in this call, or they may read it all."""


@dataclass(frozen=True, slots=True)
class ScenarioBounds:
    """What a deployment allows a day; unlike `Settings` it holds no secret, and so may go to a process for one call."""

    max_tickets: int
    max_agents: int
    router_names: tuple[str, ...]
    """Road engines that scenarios may name."""

    @staticmethod
    def of(settings: Settings) -> "ScenarioBounds":
        """Return those of a deployment."""
        return ScenarioBounds(settings.max_tickets, settings.max_agents, settings.router_names)


InputResolver = Callable[[Any], ResolvedInputs]
"""Takes a day, of whatever form, and returns what belongs to it."""
FindMatrices = Callable[[str], TravelMatrices]
"""Returns uploaded tables by their id; raises `NotFoundError`."""
FindRoads = Callable[[Any], TravelMatrices | None]
"""Returns the roads of a day, of whatever form, where they are known already or computed at once."""


def input_resolver(
    ctx: ToolContext, *, is_written: bool = False, stored: StoredScenario | None = None
) -> InputResolver:
    """Return how the days of a caller come to their tables; to be used in a thread of this event loop.

    Args:
        ctx: Of the call.
        is_written: The caller wrote the days into the call itself, where large matrices have no place and names of
            people are no secret.
        stored: The day as it is kept, where its reader may be another than its owner: the tables it names are the
            owner's.
    """
    of_owner = None if stored is None else matrix_id_of(stored.body)

    def find(name: str) -> TravelMatrices:
        owner = stored.principal if stored is not None and name == of_owner else ctx.principal.id
        return anyio.from_thread.run(ctx.job_service.matrices.travel_matrices, owner, name)

    def find_roads(body: Any) -> TravelMatrices | None:
        return anyio.from_thread.run(_roads_at_once, ctx, body)

    return partial(
        resolved_inputs,
        bounds=ScenarioBounds.of(ctx.settings),
        find=find,
        is_written=is_written,
        shows_names=is_written or ctx.principal.may(SENSITIVE),
        find_roads=find_roads if ctx.settings.router_names else None,
    )


async def _roads_at_once(ctx: ToolContext, body: Any) -> TravelMatrices | None:
    """Return the roads that are kept, or those that the engine of this host computes at once; None where it does not.

    So places off the roads are reported when a day is stored; otherwise its plan reports them.
    """
    if not isinstance(body, dict) or not isinstance(body.get("travel"), dict):
        return None
    with suppress(PlannerError):
        question = await routing_request(body)
        if question is None or len(question.ids) > MAX_AT_ONCE:
            return None
        settings = ctx.settings.model_copy(update={"router_total_s": AT_ONCE_S})
        words = await MatrixProvider(ctx.job_service.matrices, settings).roads_at_once(ctx.principal.id, question)
        return None if words is None else TravelMatrices.unpack(words)
    return None


def resolver_apart(bounds: ScenarioBounds, *, is_written: bool) -> InputResolver:
    """Return how a day of the caller's own comes to its tables in a process of its own that `read_apart` started."""
    return partial(resolved_inputs, bounds=bounds, find=_find_apart, is_written=is_written, shows_names=True)


def _find_apart(name: str) -> TravelMatrices:
    return TravelMatrices.unpack(ask_caller(name))


def resolved_inputs(
    body: Any,
    *,
    bounds: ScenarioBounds,
    find: FindMatrices,
    is_written: bool,
    shows_names: bool,
    find_roads: FindRoads | None = None,
) -> ResolvedInputs:
    """Return what belongs to a day.

    Args:
        body: The day, of whatever form.
        bounds: Of the deployment.
        find: Returns uploaded tables.
        is_written: As of `input_resolver`.
        shows_names: Whether the caller may know the names for people.
        find_roads: Returns roads, where they may be asked for.
    """
    faults = list(resolution_faults(body, bounds))
    travel_matrices = None
    if (name := matrix_id_of(body)) is not None:
        try:
            travel_matrices = find(name)
        except NotFoundError:
            faults.append(_no_matrices())
    elif find_roads is not None and not faults:
        travel_matrices = find_roads(body)
    faults += inline_matrix_faults(body) if is_written else ()
    return ResolvedInputs(travel_matrices, tuple(faults), shows_names)


async def with_uploaded_matrices(
    job_service: JobService, principal: Principal, body: Any, resolved: ResolvedInputs
) -> ResolvedInputs:
    """Return what belongs to a day, with the uploaded tables it names, or the fault that there are none."""
    if resolved.travel_matrices is not None or (name := matrix_id_of(body)) is None:
        return resolved
    try:
        return replace(resolved, travel_matrices=await job_service.matrices.travel_matrices(principal.id, name))
    except NotFoundError:
        return replace(resolved, faults=(*resolved.faults, _no_matrices()))


def _no_matrices() -> Fault:
    accepted, hint = "the id that PUT /matrices gave", "Upload the matrices, again if they have expired."
    return Fault("/travel/matrix", "There are no matrices of this id.", accepted, hint, "logic")


def resolution_faults(body: Any, bounds: ScenarioBounds) -> Iterator[Fault]:
    """Yield what a day cannot say of itself: it was read masked, or there is no road engine of the name it has."""
    day = body if isinstance(body, dict) else {}
    if MASKED in day:
        problem = "This scenario was read masked: names, prices and exact places are not in it."
        yield Fault(f"/{MASKED}", problem, "a scenario with nothing hidden", _UNMASKED)
    travel = day.get("travel")
    name = travel.get("router") if isinstance(travel, dict) else None
    if isinstance(name, str) and name not in bounds.router_names:
        accepted = " or ".join(bounds.router_names) or "no road engine is configured here"
        yield Fault("/travel/router", "There is no road engine of this name.", accepted, "", "logic")


def with_default_travel(body: Any, bounds: ScenarioBounds) -> Any:
    """Return a day as it is kept: with the roads of this deployment, where it has positions and no source of travel."""
    places = body.get("locations") if isinstance(body, dict) else None
    travel = body.get("travel", {}) if isinstance(body, dict) else None
    if ROADS not in bounds.router_names or not isinstance(travel, dict) or travel.keys() & _TRAVEL_SOURCES:
        return body
    if not isinstance(places, list) or not places:
        return body
    if not all(isinstance(place, dict) and ({"lat", "lon"} <= place.keys() or OPEN in place) for place in places):
        return body
    return {**body, "travel": {**travel, "router": ROADS}}


def masking_warnings(body: ScenarioBody) -> list[str]:
    """Return a warning where texts of a day read like those of one that was read masked."""
    if not (starred := masked_values_in(body)):
        return []
    return [f"{', '.join(starred)}: *** stands for a masked text; prices and exact places may be lost too. {_UNMASKED}"]


def inline_matrix_faults(body: Any) -> Iterator[Fault]:
    """Yield the matrices of a day, or of a patch, that are too large to be written into a call."""
    travel = body.get("travel") if isinstance(body, dict) else None
    travel_matrices = travel if isinstance(travel, dict) else {}
    for name in ("distances", "durations"):
        rows = travel_matrices.get(name)
        if isinstance(rows, list) and len(rows) > MAX_WRITTEN:
            accepted = f"at most {MAX_WRITTEN} rows in a call"
            hint = "Put it to /matrices and name it as travel.matrix."
            yield Fault(f"/travel/{name}", f"The matrix has {len(rows)} rows.", accepted, hint, "logic")


def scenario_within_limits(
    body: Any,
    bounds: ScenarioBounds,
    resolved: ResolvedInputs,
    unserved_before: Callable[[], UnservedTickets] | None = None,
) -> Scenario:
    """Return a day within the limits of the deployment, its tables at hand.

    Args:
        body: The day.
        bounds: Of the deployment.
        resolved: What belongs to the day.
        unserved_before: As for `parse_scenario`.

    Raises:
        InputError: All that is wrong with it.
    """
    return parse_scenario(
        body,
        max_tickets=bounds.max_tickets,
        max_agents=bounds.max_agents,
        travel_matrices=resolved.travel_matrices,
        known_faults=resolved.faults,
        shows_names=resolved.shows_names,
        prove_infeasible=infeasibility_faults,
        unserved_before=unserved_before,
    )


async def with_road_travel(ctx: ToolContext, scenario: Scenario) -> Scenario:
    """Return a day that must be compiled now with its roads at hand, asking its road engine where need be."""
    if scenario.travel_matrices is not None:
        return scenario
    if (question := await anyio.to_thread.run_sync(matrix_request_of, scenario)) is None:
        return scenario
    settings = ctx.settings.model_copy(update={"router_total_s": min(ASK_S, ctx.settings.router_total_s)})
    words = await MatrixProvider(ctx.job_service.matrices, settings).road_matrices(ctx.principal.id, question)
    return scenario.with_travel_matrices(TravelMatrices.unpack(words))
