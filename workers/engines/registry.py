"""Which engines there are, and which of them can plan a day.

Owns the list and the choice by features. How `auto` spends its time is
`workers/engines/portfolio.py`'s.
"""

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

AUTO: Final = "auto"


@runtime_checkable
class Choosy(Protocol):
    """An engine that respects some of its features only in some company or kind."""

    def missing(self, problem: Problem) -> frozenset[Feature]:
        """Return the features of a problem that it does not respect."""
        ...


@cache
def engines() -> tuple[Engine, ...]:
    """Return every engine the package knows, strongest first, whether or not its library is here."""
    return (*_native(), PyvrpSearch(), OrToolsRouting())


def _native() -> tuple[Engine, ...]:
    """Return the engine of our own, where its extension was built."""
    try:
        from workers.engines.sisr import SisrEngine
    except ImportError:
        return ()
    return (SisrEngine(),)


def names() -> tuple[str, ...]:
    """Return the names `choose` accepts."""
    return (AUTO, *(engine.name for engine in engines()))


def choose(problem: Problem, name: str = AUTO) -> Engine:
    """Return an engine that respects every feature of the problem.

    Raises:
        UnsupportedFeatureError: The named engine, or every one, lacks a feature; the message names which.
    """
    if problem.rushes:
        return Cautious(choose(at_worst(problem), name))
    present = [engine for engine in engines() if engine.is_available()]
    if name == AUTO:
        able = [engine for engine in present if not missing(engine, problem)]
        if not able:
            raise UnsupportedFeatureError(_complaint(problem, present))
        return Portfolio(able)
    named = [engine for engine in present if engine.name == name]
    if not named:
        raise UnsupportedFeatureError(f"Engine {name!r} is not installed; there are {', '.join(names())}.")
    if lacking := missing(named[0], problem):
        raise UnsupportedFeatureError(f"Engine {name!r} does not support {', '.join(sorted(lacking))}.")
    return named[0]


def missing(engine: Engine, problem: Problem) -> frozenset[Feature]:
    """Return the features of a problem that an engine does not respect, alone or in this company."""
    return engine.missing(problem) if isinstance(engine, Choosy) else problem.features - engine.features


def _complaint(problem: Problem, present: list[Engine]) -> str:
    """Name what the engine that comes closest would still lack."""
    closest = min(present, key=lambda engine: len(missing(engine, problem)))
    lacking = ", ".join(sorted(missing(closest, problem)))
    return f"No installed engine supports this combination of features; the closest, {closest.name!r}, lacks {lacking}."
