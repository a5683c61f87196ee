"""Which engines there are, and which of them can plan a day.

Owns the list and the choice by features. How `auto` spends its time is
`workers/engines/portfolio.py`'s.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, Protocol, runtime_checkable

from planner_mcp.errors import UnsupportedFeatureError
from planner_mcp.vrp.layout.pace import at_worst
from planner_mcp.vrp.problem import Feature, Problem
from workers.engines.base import Engine
from workers.engines.cautious import Cautious
from workers.engines.ortools_routing import OrToolsRouting
from workers.engines.portfolio import Portfolio
from workers.engines.pyvrp_search import PyvrpSearch
from workers.engines.sisr import SisrEngine

AUTO: Final = "auto"
REMEDIES: Final = {
    "sisr": "install a C++ compiler and run python -m workers.engines.native.build",
    "pyvrp": "install planner-mcp[pyvrp]",
    "ortools": "install ortools",
}
"""How to get an engine."""


@runtime_checkable
class Choosy(Protocol):
    """An engine that respects some of its features only in some company or kind."""

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not respect."""
        ...


@cache
def engines() -> tuple[Engine, ...]:
    """Return every engine the package knows, strongest first, whether or not its library is here."""
    return (SisrEngine(), PyvrpSearch(), OrToolsRouting())


def names() -> tuple[str, ...]:
    """Return the names `choose` knows, whether or not their engines are here."""
    return (AUTO, *(engine.name for engine in engines()))


def present() -> list[Engine]:
    """Return the engines that can be run here, strongest first."""
    return [engine for engine in engines() if engine.is_available()]


def absent() -> dict[str, str]:
    """Return how to get each engine that is not here."""
    return {engine.name: REMEDIES[engine.name] for engine in engines() if not engine.is_available()}


def choose(problem: Problem, name: str = AUTO) -> Engine:
    """Return an engine that respects every feature of the problem.

    Raises:
        UnsupportedFeatureError: The named engine, or every one, lacks a feature; the message names which.
    """
    if problem.rushes:
        return Cautious(choose(at_worst(problem), name))
    if name == AUTO:
        able = [engine for engine in present() if not missing(engine, problem)]
        if not able:
            raise UnsupportedFeatureError(_complaint(problem))
        return Portfolio(able)
    named = [engine for engine in present() if engine.name == name]
    if not named:
        here = ", ".join((AUTO, *(engine.name for engine in present())))
        raise UnsupportedFeatureError(f"Engine {name!r} is not installed; there are {here}.{_remedies([name])}")
    if lacking := missing(named[0], problem):
        raise UnsupportedFeatureError(f"Engine {name!r} does not support {', '.join(sorted(lacking))}.")
    return named[0]


def missing(engine: Engine, problem: Problem) -> frozenset[Feature]:
    """Return the features of a problem that an engine does not respect, alone or in this company."""
    return engine.missing(problem) if isinstance(engine, Choosy) else problem.features - engine.features


def _complaint(problem: Problem) -> str:
    """Name what the engine that comes closest would still lack, and who could but is not here."""
    closest = min(present(), key=lambda engine: len(missing(engine, problem)))
    lacking = ", ".join(sorted(missing(closest, problem)))
    able = [engine.name for engine in engines() if not engine.is_available() and not missing(engine, problem)]
    told = f"No installed engine supports this combination of features; the closest, {closest.name!r}, lacks {lacking}."
    return told + _remedies(able)


def _remedies(wanted: Iterable[str]) -> str:
    """Tell of those engines that are known but not here how to get them."""
    return "".join(f" {name!r} is not here: {absent()[name]}." for name in wanted if name in absent())
