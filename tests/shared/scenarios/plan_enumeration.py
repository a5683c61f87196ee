"""Every plan of a day of a few tickets, rests and reloads included: what the prices of small days are proved by.

It shares nothing with the enumeration that `auto` uses; what is feasible is the verifier's word.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, permutations, product

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import AgentSpec, Candidate, Problem, Route, Stop, StopKind
from planner_mcp.routing.verification.plan_verification import verify

Stops = tuple[Stop, ...]


def cheapest(problem: Problem) -> Candidate:
    """Return the best of all plans that the verifier accepts; nobody serving anybody is one of them."""
    plans = sorted(every_plan(problem), key=lambda plan: price(problem, plan))
    return next(plan for plan in plans if verify(problem, build_plan(problem, plan)) == [])


def every_plan(problem: Problem) -> Iterator[Candidate]:
    """Yield every way to give each ticket to an agent, or to nobody, with every order and every stop in between."""
    for holders in product([None, *range(len(problem.agents))], repeat=len(problem.tickets)):
        hands = [[t for t, holder in enumerate(holders) if holder == number] for number in range(len(problem.agents))]
        choices = [list(_routes(spec, hand)) for spec, hand in zip(problem.agents, hands, strict=True)]
        for chosen in product(*choices):
            yield Candidate(tuple(Route(number, stops) for number, stops in enumerate(chosen) if stops))


def _routes(agent: AgentSpec, tickets: Sequence[int]) -> Iterator[Stops]:
    """Yield what the agent may do with its tickets; nothing without any."""
    if not tickets:
        return iter([()])
    taken = [rests for size in range(len(agent.breaks) + 1) for rests in combinations(range(len(agent.breaks)), size)]
    return chain.from_iterable(
        _woven(agent, order, rests, agent.max_reloads) for order in permutations(tickets) for rests in taken
    )


def _woven(agent: AgentSpec, tickets: Sequence[int], rests: Sequence[int], reloads: int) -> Iterator[Stops]:
    """Yield the tickets and rests in their order, and reloads anywhere, in a row too, or left out."""
    if not tickets and not rests:
        yield ()
    if tickets:
        yield from _after(Stop(StopKind.TICKET, tickets[0]), _woven(agent, tickets[1:], rests, reloads))
    if rests:
        yield from _after(Stop(StopKind.BREAK, rests[0]), _woven(agent, tickets, rests[1:], reloads))
    for place in agent.reload_depots if reloads else ():
        yield from _after(Stop(StopKind.RELOAD, place), _woven(agent, tickets, rests, reloads - 1))


def _after(stop: Stop, ways: Iterator[Stops]) -> Iterator[Stops]:
    return ((stop, *way) for way in ways)
