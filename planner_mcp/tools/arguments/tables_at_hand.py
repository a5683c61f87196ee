"""Travel that a day refers to, at hand while the day is judged (SPEC S1).

Owns looking it up and what is said where there is none. A day is judged in a thread; looking up is the event loop's.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import anyio
import anyio.from_thread

from planner_mcp.auth.masking import MASKED, starred_fields
from planner_mcp.errors import Fault, NotFoundError
from planner_mcp.jobs.matrices import matrix_named, road_question
from planner_mcp.jobs.model import SENSITIVE, Principal
from planner_mcp.jobs.service import Planner
from planner_mcp.roads.bringer import Bringer
from planner_mcp.settings import Settings
from planner_mcp.tools.base import ToolContext
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.scenario import Scenario, parse_scenario

Json = dict[str, Any]
ASK_S: Final = 20.0
"""Time a road engine has where a call waits for it; a solve gives it longer."""
_UNMASKED: Final = (
    "Patch what changes in the stored scenario (revise_scenario, resolve_vrp), or ask for the scope planner:sensitive."
)
MAX_WRITTEN: Final = 200
"""Rows of a matrix written into a call. Larger ones come by reference: they would fill the context of a model."""


@dataclass(frozen=True, slots=True)
class Borrowed:
    """What lies elsewhere and belongs to a day."""

    tables: Tables | None = None
    faults: tuple[Fault, ...] = ()
    shows_names: bool = False
    """Whether the caller may know the names for people: the day was written in this call, or they may read it all."""


Lend = Callable[[Any], Borrowed]
"""Takes a day, of whatever form, and returns what belongs to it."""


def lender(ctx: ToolContext, *, is_written: bool = False, shows_names: bool = False) -> Lend:
    """Return how the days of a caller come to their tables; to be used in a thread of this event loop.

    Args:
        ctx: Of the call.
        is_written: The days were written into the call itself, where large matrices have no place.
        shows_names: The caller wrote the names for people, in whatever form; they may also have the scope for them.
    """
    may_know = is_written or shows_names or ctx.principal.may(SENSITIVE)

    def lend(body: Any) -> Borrowed:
        borrowed = anyio.from_thread.run(_lookup, ctx, body)
        written = written_faults(body) if is_written else ()
        return replace(borrowed, faults=(*borrowed.faults, *written), shows_names=may_know)

    return lend


async def _lookup(ctx: ToolContext, body: Any) -> Borrowed:
    borrowed = Borrowed(faults=tuple(day_faults(body, ctx.settings)))
    return await with_uploads(ctx.planner, ctx.principal, body, borrowed)


async def with_uploads(planner: Planner, principal: Principal, body: Any, borrowed: Borrowed) -> Borrowed:
    """Return what belongs to a day, with the uploaded tables it names, or the fault that there are none."""
    if borrowed.tables is not None or (name := matrix_named(body)) is None:
        return borrowed
    try:
        return replace(borrowed, tables=await planner.matrices.tables(principal.id, name))
    except NotFoundError:
        accepted, hint = "the id that PUT /matrices gave", "Upload the matrices, again if they have expired."
        missing = Fault("/travel/matrix", "There are no matrices of this id.", accepted, hint, "logic")
        return replace(borrowed, faults=(*borrowed.faults, missing))


def day_faults(body: Any, settings: Settings) -> Iterator[Fault]:
    """Yield what a day cannot say of itself: it was read masked, or there is no road engine of the name it has."""
    day = body if isinstance(body, dict) else {}
    if MASKED in day:
        problem = "This scenario was read masked: names, prices and exact places are not in it."
        yield Fault(f"/{MASKED}", problem, "a scenario with nothing hidden", _UNMASKED)
    travel = day.get("travel")
    name = travel.get("router") if isinstance(travel, dict) else None
    if isinstance(name, str) and name not in settings.routers:
        accepted = " or ".join(settings.routers) or "no road engine is configured here"
        yield Fault("/travel/router", "There is no road engine of this name.", accepted, "", "logic")


def mask_cautions(body: Json) -> list[str]:
    """Return a warning where texts of a day read like those of one that was read masked."""
    if not (starred := starred_fields(body)):
        return []
    return [f"{', '.join(starred)}: *** stands for a masked text; prices and exact places may be lost too. {_UNMASKED}"]


def written_faults(body: Any) -> Iterator[Fault]:
    """Yield the matrices of a day, or of a patch, that are too large to be written into a call."""
    travel = body.get("travel") if isinstance(body, dict) else None
    tables = travel if isinstance(travel, dict) else {}
    for name in ("distances", "durations"):
        rows = tables.get(name)
        if isinstance(rows, list) and len(rows) > MAX_WRITTEN:
            accepted = f"at most {MAX_WRITTEN} rows in a call"
            hint = "Put it to /matrices and name it as travel.matrix."
            yield Fault(f"/travel/{name}", f"The matrix has {len(rows)} rows.", accepted, hint, "logic")


def day_within_limits(body: Any, settings: Settings, borrowed: Borrowed) -> Scenario:
    """Return a day within the limits of the deployment, its tables at hand.

    Raises:
        InputError: All that is wrong with it.
    """
    return parse_scenario(
        body,
        max_tickets=settings.max_tickets,
        max_agents=settings.max_agents,
        tables=borrowed.tables,
        known_faults=borrowed.faults,
        shows_names=borrowed.shows_names,
    )


async def with_roads(ctx: ToolContext, scenario: Scenario, body: Json) -> Scenario:
    """Return a day that must be compiled now with its roads at hand, asking its road engine where need be."""
    if scenario.tables is not None or (question := await road_question(body)) is None:
        return scenario
    settings = ctx.settings.model_copy(update={"router_total_s": min(ASK_S, ctx.settings.router_total_s)})
    words = await Bringer(ctx.planner.matrices, settings).roads(ctx.principal.id, question)
    return scenario.with_tables(Tables.unpack(words))
