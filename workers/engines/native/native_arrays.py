"""The interface to C++: a problem as flat arrays, a plan as an array of codes.

Mirrors `problem_input.hpp` and `shared_incumbent.hpp` field by field and owns nothing else. Matrices are passed without
copying. Agents that differ only in id and order share a type.
"""

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from planner_mcp.routing.problem import (
    AgentSpec,
    BreakSpec,
    Candidate,
    GroupKind,
    LoadKind,
    Problem,
    Route,
    Stop,
    StopKind,
    TicketSpec,
    is_narrow,
)

ABI_VERSION: Final = 16
INCUMBENT_HEADER: Final = 5
"""Cells before the plan: cancel flag, sequence, iterations, cost, length of the plan."""
CANCEL, SEQUENCE, ITERATIONS, COST, LENGTH = range(INCUMBENT_HEADER)
_KINDS: Final = (StopKind.TICKET, StopKind.RELOAD, StopKind.BREAK)
_CODES: Final = 4

Numbers = NDArray[np.int64]
_Numbers = ctypes.POINTER(ctypes.c_int64)
_Narrow = ctypes.POINTER(ctypes.c_int32)
_LISTS: Final = ("breaks", "reloads", "locks", "windows", "incompatible", "members")
_COUNTS: Final = ("agents", "tickets", "locations", "dimensions", "profiles", "types", "groups")


def cells_of(array: NDArray[Any]) -> "ctypes._Pointer[ctypes.c_int64]":
    """Return the cells of an array of 64-bit integers as C reads and writes them."""
    return array.ctypes.data_as(_Numbers)


class Input(ctypes.Structure):
    """`sisr::Input`."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in (*_COUNTS, "backhaul", "span_cost", "drops_short_routes")),
        ("agent", _Numbers),
        ("capacity", _Numbers),
        ("least_load", _Numbers),
        *((name, _Numbers) for part in _LISTS[:3] for name in (f"{part}_at", part)),
        ("ticket", _Numbers),
        ("demand", _Numbers),
        ("windows_at", _Numbers),
        ("windows", _Numbers),
        ("allowed", ctypes.POINTER(ctypes.c_uint8)),
        *((name, _Numbers) for part in _LISTS[4:] for name in (f"{part}_at", part)),
        ("group", _Numbers),
        ("distance", ctypes.POINTER(_Numbers)),
        ("duration", ctypes.POINTER(_Numbers)),
        ("preference", _Numbers),
        *((name, ctypes.POINTER(_Narrow)) for name in ("narrow_distance", "narrow_duration")),
    )


class NativeOptions(ctypes.Structure):
    """`sisr::Options`."""

    _fields_ = (
        ("seconds", ctypes.c_double),
        ("seed", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("max_iterations", ctypes.c_int64),
        ("warm_length", ctypes.c_int64),
        ("warm", _Numbers),
        ("routes_size", ctypes.c_int64),
        ("routes", _Numbers),
        ("cooled_from", ctypes.c_double),
        ("cooled_to", ctypes.c_double),
    )


class Arrays:
    """A problem as `Input`, with the arrays that must stay alive while it is used.

    Args:
        problem: The problem.
        drops_short_routes: Whether a route below its least load counts as not driven; otherwise it is to be filled.
    """

    def __init__(self, problem: Problem, *, drops_short_routes: bool = False) -> None:
        self._buffers: list[NDArray[np.generic]] = []
        types, unlocked_type = agent_types(problem), _types_without_locks(problem)
        agents, tickets = problem.agents, problem.tickets
        self.input = Input(
            len(agents),
            len(tickets),
            len(problem.locations),
            len(agents[0].capacity),
            len(problem.distances),
            max(types) + 1,
            len(problem.groups),
            problem.backhaul,
            problem.span_cost,
            drops_short_routes,
        )
        self._set("agent", [_agent_row(*each) for each in zip(agents, types, unlocked_type, strict=True)])
        self._set("capacity", [agent.capacity for agent in agents])
        self._set("least_load", [agent.min_load or (0,) * len(agent.capacity) for agent in agents])
        self._set("ticket", [_ticket_row(ticket) for ticket in tickets])
        self._set("demand", [ticket.demand for ticket in tickets])
        self._set("preference", [(_or_none(ticket.preferred), ticket.switch_cost) for ticket in tickets])
        self._set("group", [(group.kind is GroupKind.ONE_OF, group.penalty) for group in problem.groups])
        self._set_lists(problem)
        allowed = self._keep(_allowed(problem, types))
        self.input.allowed = allowed.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
        if all(map(is_narrow, (*problem.distances, *problem.durations))):
            self.input.narrow_distance = self._narrow_matrices(problem.distances)
            self.input.narrow_duration = self._narrow_matrices(problem.durations)
        else:
            self.input.distance = self._matrices(problem.distances)
            self.input.duration = self._matrices(problem.durations)

    def _keep(self, array: NDArray[np.generic]) -> NDArray[np.generic]:
        self._buffers.append(array)
        return array

    def _set(self, name: str, rows: Sequence[object]) -> None:
        array = self._keep(np.ascontiguousarray(rows if len(rows) else [0], dtype=np.int64))
        setattr(self.input, name, cells_of(array))

    def _set_lists(self, problem: Problem) -> None:
        incompatible_lists: list[list[int]] = [[] for _ in problem.tickets]
        for low, high in sorted(problem.incompatible):
            incompatible_lists[low].append(high)
            incompatible_lists[high].append(low)
        lists: dict[str, Iterable[Sequence[object]]] = {
            "breaks": (
                [(*break_spec.window, break_spec.duration) for break_spec in _ordered_breaks(agent)]
                for agent in problem.agents
            ),
            "reloads": (agent.reload_at for agent in problem.agents),
            "locks": (agent.locked for agent in problem.agents),
            "windows": (ticket.windows for ticket in problem.tickets),
            "incompatible": incompatible_lists,
            "members": (group.tickets for group in problem.groups),
        }
        for name, parts in lists.items():
            entries = list(parts)
            self._set(f"{name}_at", np.cumsum([0, *map(len, entries)]))  # type: ignore[arg-type]
            self._set(name, [entry for part in entries for entry in part])

    def _matrices(self, tables: Sequence[Numbers]) -> "ctypes.Array[ctypes._Pointer[ctypes.c_int64]]":
        buffers = [self._keep(np.ascontiguousarray(table, dtype=np.int64)) for table in tables]
        return (_Numbers * len(buffers))(*map(cells_of, buffers))

    def _narrow_matrices(self, tables: Sequence[Numbers]) -> "ctypes.Array[ctypes._Pointer[ctypes.c_int32]]":
        buffers = [self._keep(table) for table in tables]
        return (_Narrow * len(buffers))(*(table.ctypes.data_as(_Narrow) for table in buffers))


def _ordered_breaks(agent: AgentSpec) -> list[BreakSpec]:
    return [agent.breaks[index] for index in break_order(agent)]


def break_order(agent: AgentSpec) -> list[int]:
    """Return the indexes of the agent's breaks in the order they are taken."""
    return sorted(range(len(agent.breaks)), key=lambda index: (agent.breaks[index].window, index))


def _or_none(value: int | None) -> int:
    return -1 if value is None else value


def _agent_row(agent: AgentSpec, agent_type: int, unlocked_type: int) -> tuple[int, ...]:
    limits = (agent.max_distance, agent.max_duration, agent.max_stops)
    return (
        _or_none(agent.start),
        _or_none(agent.end),
        *agent.shift,
        agent.fixed_cost,
        agent.distance_cost,
        agent.time_cost,
        *map(_or_none, limits),
        agent.overtime,
        agent.overtime_cost,
        agent.max_reloads,
        agent.profile,
        agent_type,
        unlocked_type,
    )


def _ticket_row(ticket: TicketSpec) -> tuple[int, ...]:
    return (
        ticket.location,
        ticket.load is LoadKind.PICKUP,
        _or_none(ticket.soft_close),
        ticket.lateness_cost,
        ticket.service,
        ticket.setup,
        ticket.release,
        ticket.penalty,
        _or_none(ticket.pickup),
        ticket.is_priced,
    )


def agent_types(problem: Problem) -> list[int]:
    """Return the type of each agent: agents of a type are equal in everything but the id, with the same eligibility.

    An agent that some ticket prefers has a type of its own.
    """
    return _group_identical(problem, problem.tickets, problem.agents)


def _types_without_locks(problem: Problem) -> list[int]:
    """Return the type of each agent without its locked visits and what depends on them.

    Agents of one such type can serve the same tickets after their locked visits, at the same prices. Whether the times
    are feasible is decided by the route evaluation.
    """
    locked = {ticket for agent in problem.agents for ticket in agent.locked}
    free = [ticket for index, ticket in enumerate(problem.tickets) if index not in locked]
    return _group_identical(problem, free, [_without_locks(agent) for agent in problem.agents])


def _without_locks(agent: AgentSpec) -> AgentSpec:
    """Return an agent without its locked visits, and without the breaks and the departure that belong to them."""
    return replace(agent, locked=(), breaks=(), shift=(0, agent.shift[1])) if agent.locked else agent


def _group_identical(problem: Problem, tickets: Sequence[TicketSpec], agents: Sequence[AgentSpec]) -> list[int]:
    """Return numbers of agents: equal where they differ in id only and are eligible for the same tickets."""
    eligible: list[list[int]] = [[] for _ in agents]
    sets = {ticket.agents for ticket in tickets if ticket.agents is not None}
    for number, agents_in_set in enumerate(sorted(sets, key=sorted)):
        for agent in agents_in_set:
            eligible[agent].append(number)
    known: dict[object, int] = {}
    preferred = {ticket.preferred for ticket in problem.tickets if ticket.switch_cost}
    keys = (
        (replace(agent, id=""), tuple(sets), number if number in preferred else None)
        for number, (agent, sets) in enumerate(zip(agents, eligible, strict=True))
    )
    return [known.setdefault(key, len(known)) for key in keys]


def _allowed(problem: Problem, types: Sequence[int]) -> NDArray[np.uint8]:
    """Return (types, tickets): 1 where agents of the type may serve the ticket."""
    allowed = np.ones((max(types) + 1, len(problem.tickets)), dtype=np.uint8)
    kinds = np.asarray(types)
    columns: dict[frozenset[int], NDArray[np.uint8]] = {}
    for index, ticket in enumerate(problem.tickets):
        if ticket.agents is None:
            continue
        if ticket.agents not in columns:
            column = np.zeros(len(allowed), dtype=np.uint8)
            column[kinds[list(ticket.agents)]] = 1
            columns[ticket.agents] = column
        allowed[:, index] = columns[ticket.agents]
    return allowed


def incumbent_buffer(problem: Problem, warm: Numbers | None = None) -> Numbers:
    """Return an empty incumbent buffer with room for any plan of a search.

    Whatever number of reloads is allowed, a plan has only those of its warm start and those inserted with a ticket.

    Args:
        problem: The problem.
        warm: The encoded warm start.
    """
    tickets, warm_length = len(problem.tickets), 0 if warm is None else len(warm)
    reloads = min(sum(agent.max_reloads for agent in problem.agents), 2 * tickets + warm_length)
    stops = tickets + reloads + sum(2 + len(agent.breaks) for agent in problem.agents)
    return np.zeros(INCUMBENT_HEADER + stops, dtype=np.int64)


def encode(candidate: Candidate) -> Numbers:
    """Return a candidate as codes: for each route the agent, the number of stops, the stops."""
    codes: list[int] = []
    for route in candidate.routes:
        codes += (route.agent, len(route.stops))
        codes += (_CODES * stop.index + _KINDS.index(stop.kind) for stop in route.stops)
    return np.asarray(codes or [0], dtype=np.int64)


def decode(problem: Problem, codes: Sequence[int]) -> Candidate:
    """Return the candidate of an array of codes; the inverse of `encode`."""
    return Candidate(tuple(_routes(problem, codes)))


def tickets_of(codes: Sequence[int]) -> Iterator[int]:
    """Yield the tickets of one encoded route, in order."""
    return (code // _CODES for code in codes[2:] if code % _CODES == 0)


def _routes(problem: Problem, codes: Sequence[int]) -> Iterator[Route]:
    at = 0
    while at < len(codes):
        agent, end = codes[at], at + 2 + codes[at + 1]
        order = break_order(problem.agents[agent])
        stops = ((_KINDS[code % _CODES], code // _CODES) for code in codes[at + 2 : end])
        yield Route(agent, tuple(Stop(kind, order[i] if kind is StopKind.BREAK else i) for kind, i in stops))
        at = end
