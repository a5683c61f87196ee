"""A model of a whole small day for CP-SAT, with the features that routes by themselves leave out.

Owns the model: every agent drives a circuit over its tickets and places of reload; times, loads, breaks and the choice
of tickets are integers, and the objective is the cost. Where it is not exact it admits more plans: breaks on one leg
may overlap, travel takes the time of the best hour, backhaul is free on days with shipments. So no plan costs less than
what it proves. Its reach is a dozen tickets.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from ortools.sat.python import cp_model

from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.problem import AgentSpec, Candidate, GroupKind, LoadKind, Problem, Route, Stop, StopKind
from workers.engines.bounds.relaxed_networks import Cells, rows_of

MAX_TICKETS: Final = 12
MAX_AGENTS: Final = 12
MAX_ARCS: Final = 30_000
"""Ways from stop to stop of all agents; each reload that an agent may make is a stop."""
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class DayProof:
    """What CP-SAT found."""

    bound: int
    """No plan costs less than this or the target, in cost units."""
    plan: Candidate | None
    """A plan that costs less than the target, as far as the model is exact."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A stop that an agent may make; neither ticket nor reload: its start and its end."""

    ticket: int | None = None
    reload: int | None = None
    """Location."""


@dataclass(slots=True)
class _Tour:
    """The variables of one agent."""

    agent: int
    nodes: list[_Node]
    """The start, which is also the end, first."""
    arcs: dict[tuple[int, int], cp_model.IntVar]
    used: cp_model.IntVar
    leaves: cp_model.IntVar
    ends: cp_model.IntVar
    duration: cp_model.IntVar
    arrives: list[cp_model.IntVar] = field(default_factory=list)
    """By node: the start of service, or the arrival at a reload; of the first the departure."""
    departs: list[cp_model.IntVar] = field(default_factory=list)
    """By node: when its trip left."""


def is_small(problem: Problem) -> bool:
    """Return whether a day is small enough for a model of it."""
    stops = (1 + len(problem.tickets) + len(spec.reload_depots) * spec.max_reloads for spec in problem.agents)
    is_few = len(problem.tickets) <= MAX_TICKETS and len(problem.agents) <= MAX_AGENTS
    return is_few and sum(count**2 for count in stops) <= MAX_ARCS


class DayModel:
    """The model of one day.

    Args:
        problem: At most `MAX_TICKETS` tickets and `MAX_AGENTS` agents.
        target: Cost units; plans have to cost less.
        bound: No plan costs less.
    """

    def __init__(self, problem: Problem, target: int, bound: int) -> None:
        self._problem = problem
        self._target = target
        self._model = cp_model.CpModel()
        self._horizon = max(agent.latest_end for agent in problem.agents)
        self._served = [self._model.new_bool_var("") for _ in problem.tickets]
        self._starts = [self._start_of(number) for number in range(len(problem.tickets))]
        self._drives: list[dict[int, cp_model.IntVar]] = []
        self._cost: list[cp_model.LinearExprT] = []
        self._durations = fastest_durations(problem)
        self._tours = [self._tour(number) for number in range(len(problem.agents))]
        self._choose_tickets()
        if problem.span_cost:
            longest = self._model.new_int_var(0, self._horizon, "")
            self._model.add_max_equality(longest, [tour.duration for tour in self._tours])
            self._cost.append(problem.span_cost * longest)
        cost = sum(self._cost)
        self._model.add(cost <= target - 1)
        self._model.add(cost >= bound)
        self._model.minimize(cost)

    def _start_of(self, ticket: int) -> cp_model.IntVar:
        windows = self._problem.tickets[ticket].windows or ((0, self._horizon),)
        within = [(opens, min(closes, self._horizon)) for opens, closes in windows if opens <= self._horizon]
        return self._model.new_int_var_from_domain(cp_model.Domain.from_intervals(within or [(0, 0)]), "")

    # ---- the tour of an agent

    def _tour(self, number: int) -> _Tour:
        model, spec = self._model, self._problem.agents[number]
        tickets = [i for i, t in enumerate(self._problem.tickets) if t.admits(number)]
        nodes = [_Node(), *map(_Node, tickets)]
        nodes += [_Node(reload=place) for place in spec.reload_depots for _ in range(spec.max_reloads)]
        arcs = {
            (i, j): model.new_bool_var("")
            for i, origin in enumerate(nodes)
            for j, target in enumerate(nodes)
            if i != j and self._may_follow(number, origin, target)
        }
        used = model.new_bool_var("")
        drives = {node.ticket: model.new_bool_var("") for node in nodes if node.ticket is not None}
        visits = [used] + [
            drives[node.ticket] if node.ticket is not None else model.new_bool_var("") for node in nodes[1:]
        ]
        model.add_circuit(
            [(i, j, literal) for (i, j), literal in arcs.items()] + [(i, i, ~visit) for i, visit in enumerate(visits)]
        )
        self._drives.append(drives)
        leaves, ends = (model.new_int_var(spec.shift[0], spec.latest_end, "") for _ in range(2))
        duration = model.new_int_var(0, self._horizon if spec.max_duration is None else spec.max_duration, "")
        tour = _Tour(number, nodes, arcs, used, leaves, ends, duration)
        reloads = [visit for node, visit in zip(nodes, visits, strict=True) if node.reload is not None]
        model.add(sum(reloads) <= spec.max_reloads)
        if reloads:
            model.add(sum(drives.values()) >= used)
        else:
            model.add(sum(drives.values()) >= 1).only_enforce_if(used)
        self._time(tour, spec)
        self._load(tour, spec)
        self._limit(tour, spec, drives)
        self._lock(tour, spec, drives)
        self._price(tour, spec, drives)
        return tour

    def _may_follow(self, number: int, origin: _Node, target: _Node) -> bool:
        """Return whether a stop may come right after another."""
        if origin.ticket is None or target.ticket is None:
            return True
        tickets, problem = self._problem.tickets, self._problem
        first, second = tickets[origin.ticket], tickets[target.ticket]
        if problem.backhaul and not problem.partner_of:
            return not (first.load is LoadKind.PICKUP and second.load is LoadKind.DELIVERY)
        return problem.partner_of.get(origin.ticket) != target.ticket or second.pickup == origin.ticket

    def _place(self, spec: AgentSpec, node: _Node, *, is_end: bool) -> int | None:
        if node.ticket is not None:
            return self._problem.tickets[node.ticket].location
        return node.reload if node.reload is not None else (spec.end if is_end else spec.start)

    def _leg(self, spec: AgentSpec, origin: _Node, target: _Node) -> tuple[int, int, int]:
        """Return distance, travel time, and the setup at the target."""
        start, end = self._place(spec, origin, is_end=False), self._place(spec, target, is_end=True)
        distance = travel = setup = 0
        if start is not None and end is not None:
            distance = int(self._problem.distances[spec.profile][start, end])
            travel = int(self._durations[spec.profile][start, end])
        is_first = origin.ticket is None and origin.reload is None
        if target.ticket is not None and (is_first or start != end):
            setup = self._problem.tickets[target.ticket].setup
        return distance, travel, setup

    def _time(self, tour: _Tour, spec: AgentSpec) -> None:
        model = self._model
        for node in tour.nodes:
            is_trip = node.ticket is None
            at = tour.leaves if is_trip and node.reload is None else model.new_int_var(0, self._horizon, "")
            tour.arrives.append(at if node.ticket is None else self._starts[node.ticket])
            tour.departs.append(at if is_trip and node.reload is None else model.new_int_var(0, self._horizon, ""))
        pauses = [[model.new_bool_var("") for _ in tour.nodes] for _ in spec.breaks]
        # by break and node: whether it is taken on the leg that leaves the node
        for (i, j), literal in tour.arcs.items():
            origin, target = tour.nodes[i], tour.nodes[j]
            _, travel, setup = self._leg(spec, origin, target)
            free = self._free_at(tour, i)
            resting = sum(rest.duration * pause[i] for rest, pause in zip(spec.breaks, pauses, strict=True))
            arrival = tour.ends if j == 0 else tour.arrives[j]
            model.add(arrival >= free + travel + setup + resting).only_enforce_if(literal)
            if target.ticket is not None:
                model.add(tour.departs[j] == tour.departs[i]).only_enforce_if(literal)
                model.add(tour.departs[i] >= self._problem.tickets[target.ticket].release).only_enforce_if(literal)
            elif j:
                model.add(tour.departs[j] >= tour.arrives[j]).only_enforce_if(literal)
        model.add(tour.duration >= tour.ends - tour.leaves).only_enforce_if(tour.used)
        for number, pause in enumerate(pauses):
            self._take(tour, spec, number, pause)

    def _free_at(self, tour: _Tour, node: int) -> cp_model.LinearExpr:
        """Return when the agent goes on after a stop."""
        ticket = tour.nodes[node].ticket
        return tour.departs[node] if ticket is None else tour.arrives[node] + self._problem.tickets[ticket].service

    def _take(self, tour: _Tour, spec: AgentSpec, number: int, pause: list[cp_model.IntVar]) -> None:
        """Let a used agent take a break on one of its legs, or outside its route."""
        model, rest = self._model, spec.breaks[number]
        begins = model.new_int_var(*rest.window, "")
        before, after = model.new_bool_var(""), model.new_bool_var("")
        model.add(tour.ends <= rest.window[1]).only_enforce_if(before)
        model.add(tour.leaves >= rest.earliest_end).only_enforce_if(after)
        model.add_bool_or([*pause, before, after, ~tour.used])
        for i, literal in enumerate(pause):
            model.add(begins >= self._free_at(tour, i)).only_enforce_if(literal)
            leaving = [arc for (origin, _), arc in tour.arcs.items() if origin == i]
            model.add_bool_or(leaving).only_enforce_if(literal)
        for (i, j), arc in tour.arcs.items():
            arrival = tour.ends if j == 0 else tour.arrives[j]
            model.add(arrival >= begins + rest.duration).only_enforce_if([arc, pause[i]])

    def _load(self, tour: _Tour, spec: AgentSpec) -> None:
        """Follow what is on board to deliver, what was picked up, and shipments, of each dimension."""
        problem, model = self._problem, self._model
        for dimension, room in enumerate(spec.capacity):
            on_board = [[model.new_int_var(0, room, "") for _ in range(3)] for _ in tour.nodes]
            for parts in on_board:
                model.add(sum(parts) <= room)
            model.add(on_board[0][1] == 0)
            model.add(on_board[0][2] == 0)
            for (i, j), literal in tour.arcs.items():
                ticket = tour.nodes[j].ticket
                before, after = on_board[i], on_board[j]
                if ticket is None:
                    model.add(before[0] == 0).only_enforce_if(literal)
                    model.add(before[2] == (after[2] if j else 0)).only_enforce_if(literal)
                    if j:
                        model.add(after[1] == 0).only_enforce_if(literal)
                    continue
                work = problem.tickets[ticket]
                demand, is_pickup = work.demand[dimension], work.load is LoadKind.PICKUP
                change = [0, 0, 0]
                if ticket in problem.partner_of:
                    change[2] = -demand if problem.tickets[ticket].pickup is not None else demand
                else:
                    change[1 if is_pickup else 0] = demand if is_pickup else -demand
                for part in range(3):
                    model.add(after[part] == before[part] + change[part]).only_enforce_if(literal)

    def _limit(self, tour: _Tour, spec: AgentSpec, drives: dict[int, cp_model.IntVar]) -> None:
        problem, model = self._problem, self._model
        if spec.max_distance is not None:
            model.add(self._distance(tour, spec) <= spec.max_distance)
        if spec.max_stops is not None:
            model.add(sum(drives.values()) <= spec.max_stops)
        for low, high in problem.incompatible:
            if low in drives and high in drives:
                model.add_bool_or([~drives[low], ~drives[high]])
        for delivery, ticket in enumerate(problem.tickets):
            if ticket.pickup is not None:
                pair = [drives.get(ticket.pickup, 0), drives.get(delivery, 0)]
                model.add(pair[0] == pair[1])
                if delivery in drives and ticket.pickup in drives:
                    earliest = self._starts[ticket.pickup] + problem.tickets[ticket.pickup].service
                    model.add(self._starts[delivery] >= earliest).only_enforce_if(drives[delivery])
        counted = [(problem.tickets[i].demand, y) for i, y in drives.items() if problem.tickets[i].pickup is None]
        for dimension, least in enumerate(spec.min_load):
            given = sum(demand[dimension] * y for demand, y in counted)
            model.add(given >= least).only_enforce_if(tour.used)

    def _lock(self, tour: _Tour, spec: AgentSpec, drives: dict[int, cp_model.IntVar]) -> None:
        """Let an agent serve its locked tickets before all others, in their order."""
        for ticket in spec.locked:
            self._model.add(drives[ticket] == 1)
        for number, ticket in enumerate(spec.locked):
            later = [*spec.locked[number + 1 :], *(each for each in drives if each not in spec.locked)]
            for other in later:
                free = self._starts[ticket] + self._problem.tickets[ticket].service
                self._model.add(self._starts[other] >= free).only_enforce_if(drives[other])
            is_next = {i: node.ticket for i, node in enumerate(tour.nodes)}
            allowed = {None, *spec.locked[max(0, number - 1) : number]}
            for (i, j), arc in tour.arcs.items():
                if is_next[j] == ticket and (is_next[i] not in allowed or (number and i == 0)):
                    self._model.add(arc == 0)

    def _distance(self, tour: _Tour, spec: AgentSpec) -> cp_model.LinearExprT:
        return sum(self._leg(spec, tour.nodes[i], tour.nodes[j])[0] * literal for (i, j), literal in tour.arcs.items())

    def _price(self, tour: _Tour, spec: AgentSpec, drives: dict[int, cp_model.IntVar]) -> None:
        self._cost.append(spec.fixed_cost * tour.used)
        self._cost.append(spec.distance_cost * self._distance(tour, spec))
        self._cost.append(spec.time_cost * tour.duration)
        if spec.overtime_cost:
            over = self._model.new_int_var(0, spec.overtime, "")
            self._model.add(over >= tour.ends - spec.shift[1]).only_enforce_if(tour.used)
            self._cost.append(spec.overtime_cost * over)
        for ticket, literal in drives.items():
            self._cost.append(self._problem.tickets[ticket].switch_price(tour.agent) * literal)

    # ---- which tickets

    def _choose_tickets(self) -> None:
        model, problem = self._model, self._problem
        for number, (ticket, served) in enumerate(zip(problem.tickets, self._served, strict=True)):
            model.add(sum(drives[number] for drives in self._drives if number in drives) == served)
            if ticket.soft_close is not None and ticket.lateness_cost:
                late = model.new_int_var(0, self._horizon, "")
                model.add(late >= self._starts[number] - ticket.soft_close).only_enforce_if(served)
                self._cost.append(ticket.lateness_cost * late)
        for row in rows_of(problem, 1):
            chosen = sum(self._served[ticket] for ticket in row.tickets)
            model.add(chosen <= 1)
            if row.penalty is None:
                model.add(chosen >= 1)
            else:
                self._cost.append(row.penalty * (1 - chosen))
        for group in problem.groups:
            if group.kind is GroupKind.ALL:
                for member in group.tickets[1:]:
                    model.add(self._served[member] == self._served[group.tickets[0]])

    # ---- the solve

    def prove(self, seconds: float, cores: int, cancel: Cells) -> DayProof | None:
        """Return the bound, and the cheapest plan below the target; None where there is no time to find either."""
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = max(0.01, seconds)
        solver.parameters.num_workers = cores
        with stopped_by(cancel, solver):
            status = solver.solve(self._model)
        if status == cp_model.INFEASIBLE:
            return DayProof(self._target, None)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            return None
        bound = min(self._target, round(solver.best_objective_bound))
        if status == cp_model.UNKNOWN:
            return DayProof(bound, None)
        return DayProof(bound, Candidate(tuple(self._routes(solver))))

    def _routes(self, solver: cp_model.CpSolver) -> Iterable[Route]:
        for tour in self._tours:
            if solver.boolean_value(tour.used):
                after = {i: j for (i, j), literal in tour.arcs.items() if solver.boolean_value(literal)}
                stops, node = [], after[0]
                while node:
                    stops.append(_stop(tour.nodes[node]))
                    node = after[node]
                yield Route(tour.agent, tuple(stops))


def _stop(node: _Node) -> Stop:
    if node.ticket is not None:
        return Stop(StopKind.TICKET, node.ticket)
    assert node.reload is not None  # noqa: S101 — the start is no stop
    return Stop(StopKind.RELOAD, node.reload)


@contextmanager
def stopped_by(cancel: Cells, solver: cp_model.CpSolver) -> Iterator[None]:
    """Stop a solve as soon as it is cancelled, also before its first solution."""
    is_done = threading.Event()

    def watch() -> None:
        while not is_done.wait(_POLL_S):
            if cancel[0]:
                solver.stop_search()  # again until it is done: one that has not begun yet does not hear it

    watcher = threading.Thread(target=watch, name="prove-cancel", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()
