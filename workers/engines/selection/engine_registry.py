"""The registry of engines, and the choice of one by the features of a problem.

Owns the list and the choice. `workers/engines/selection/portfolio.py` implements `auto`.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Final

from planner_mcp.errors import UnsupportedFeatureError
from planner_mcp.routing.engine_names import AUTO
from planner_mcp.routing.evaluation.time_dependent_travel import at_worst_case_speeds
from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.cuopt import cuopt_model
from workers.engines.cuopt.cuopt_engine import CuoptEngine
from workers.engines.engine_interface import Engine, RegisteredEngine, ShouldStop
from workers.engines.native.build import HOW_TO_BUILD
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.ortools.ortools_engine import OrToolsEngine
from workers.engines.pyvrp.pyvrp_engine import PyvrpEngine
from workers.engines.selection.portfolio import Portfolio
from workers.engines.selection.time_allocation import REMOTE_TICKETS
from workers.engines.time_dependent.time_dependent_adapter import TimeDependentAdapter

INSTALL_HINTS: Final = {
    "sisr": HOW_TO_BUILD,
    "pyvrp": "install planner-mcp[pyvrp]",
    "ortools": "install ortools",
    "cuopt": "set PLANNER_CUOPT_URL to the address of a cuOpt server",
}
"""How to install an engine."""


@cache
def engines(cuopt_url: str = "") -> tuple[RegisteredEngine, ...]:
    """Return every engine of the package, strongest first, whether or not its library is installed."""
    return (SisrEngine(), PyvrpEngine(), OrToolsEngine(), CuoptEngine(cuopt_url))


def names() -> tuple[str, ...]:
    """Return the names `choose` accepts, whether or not their engines are installed."""
    return (AUTO, *(engine.name for engine in engines()))


def available(cuopt_url: str = "") -> list[RegisteredEngine]:
    """Return the installed engines, strongest first, and cuOpt where its server answers."""
    return [engine for engine in engines(cuopt_url) if engine.is_available()]


def unavailable() -> dict[str, str]:
    """Return the installation hint of each engine that is not installed."""
    return {engine.name: INSTALL_HINTS[engine.name] for engine in engines() if not engine.is_available()}


def choose(problem: Problem, name: str = AUTO, cuopt_url: str = "") -> Engine:
    """Return an engine that supports every feature of the problem.

    Args:
        problem: What it is for.
        name: As callers name it.
        cuopt_url: Of a cuOpt server; empty where there is none.

    Raises:
        UnsupportedFeatureError: The named engine, or every one, lacks a feature; the message names it.
    """
    if problem.travel_periods:
        return TimeDependentAdapter(choose(at_worst_case_speeds(problem), name, cuopt_url))
    if name == AUTO:
        takes_part = len(problem.tickets) >= REMOTE_TICKETS and cuopt_model.is_in_reach(problem)
        known = available(cuopt_url if takes_part else "")
        capable = [engine for engine in known if not engine.missing(problem)]
        if not capable:
            raise UnsupportedFeatureError(_unsupported_message(problem))
        return Portfolio(capable)
    named = [engine for engine in available(cuopt_url) if engine.name == name]
    if not named:
        installed = ", ".join((AUTO, *(engine.name for engine in available(cuopt_url))))
        raise UnsupportedFeatureError(
            f"Engine {name!r} is not installed; installed are {installed}.{_install_hints([name])}"
        )
    if unsupported := named[0].missing(problem):
        raise UnsupportedFeatureError(f"Engine {name!r} does not support {', '.join(sorted(unsupported))}.")
    return named[0]


def first_plan(problem: Problem, should_stop: ShouldStop) -> Candidate | None:
    """Return a plan built without a search, for a problem whose engine found none in its time; None where none is."""
    engine = SisrEngine()
    if not engine.is_available() or engine.missing(problem):
        return None
    built = engine.first_plan(problem, should_stop)
    return None if built is None else replace(built, found_by=(engine.name,))


def _unsupported_message(problem: Problem) -> str:
    """Return the message that names what the closest engine lacks, and engines that would support it if installed."""
    closest = min(available(), key=lambda engine: len(engine.missing(problem)))
    unsupported = ", ".join(sorted(closest.missing(problem)))
    capable = [engine.name for engine in engines() if not engine.is_available() and not engine.missing(problem)]
    message = "No installed engine supports this combination of features"
    message += f"; the closest, {closest.name!r}, lacks {unsupported}."
    return message + _install_hints(capable)


def _install_hints(wanted: Iterable[str]) -> str:
    """Return the installation hints of those engines that are not installed."""
    return "".join(f" {name!r} is not here: {unavailable()[name]}." for name in wanted if name in unavailable())
