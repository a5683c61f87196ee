"""Checks on what is carried and who may carry it: demands, capacities, skills, limits, prices."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from planner_mcp import arrays as np
from planner_mcp.errors import Fault
from planner_mcp.routing.infeasibility_reasons import REASONS, InfeasibilityReason
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.fault_dependencies import FaultDependency
from planner_mcp.routing.scenario.checks.position_checks import is_on_globe
from planner_mcp.routing.scenario.checks.reference_checks import did_you_mean
from planner_mcp.routing.scenario.checks.shipment_checks import nonzero_demand, shipments
from planner_mcp.routing.scenario.checks.size_checks import MAX_DIMENSIONS
from planner_mcp.routing.scenario.scenario_model import (
    PRICE_OF_METRES,
    Group,
    Scenario,
    Ticket,
    has_travel_price,
    most_reloads,
)
from planner_mcp.routing.scenario.schema_faults import pointer
from planner_mcp.text import figure, plain

AMOUNT_TOLERANCE: Final = 1e-6
"""Above a capacity a demand is too large only by more than this: sums of decimals such as 0.1 are not exact."""
_SERVED: Final = "a ticket that some agent may serve"
_PRICES: Final = {
    "agents": ("fixed_cost", "overtime_cost_per_hour"),
    "tickets": ("penalty", "lateness_cost_per_hour"),
    "groups": ("penalty",),
}
"""Prices beside those by km and hour, by list."""
_Asked = tuple[tuple[str, float], ...]


class AgentCapability:
    """Which agents could take a ticket along at all: all of its amounts at once, and as many tickets as it brings.

    What else is on the route only takes room. Travel and hours are checked by `feasibility/unservable_tickets.py`.
    """

    def __init__(self, scenario: Scenario) -> None:
        names = dict.fromkeys(name for agent in scenario.agents for name in agent.capacity)
        self._column = {name: index for index, name in enumerate(names)}
        self._capacities = np.array([[agent.capacity.get(name, 0.0) for name in names] for agent in scenario.agents])
        self._most = np.array([np.inf if a.max_tickets is None else a.max_tickets for a in scenario.agents])
        self._shipped = {ticket.pickup for ticket in scenario.tickets}
        self._among = lru_cache(maxsize=256)(self._chosen)

    def with_capacity(self, ticket: Ticket, agents: frozenset[int]) -> tuple[int, ...]:
        """Return those of the agents that have the capacity for the ticket, in order."""
        return self._among(agents, tuple(ticket.demand.items()), 0)

    def capable(self, ticket: Ticket, agents: frozenset[int]) -> tuple[int, ...]:
        """Return those who may serve as many tickets, too: two where it is half of a shipment."""
        count = 1 + (ticket.pickup is not None or ticket.id in self._shipped)
        return self._among(agents, tuple(ticket.demand.items()), count)

    def _chosen(self, agents: frozenset[int], demand: _Asked, count: int) -> tuple[int, ...]:
        asked = np.array(sorted(agents), dtype=np.intp)
        is_capable = self._most[asked] >= count
        for name, amount in demand:
            least = amount - AMOUNT_TOLERANCE
            is_capable &= self._capacities[asked, self._column[name]] >= least if name in self._column else amount <= 0
        return tuple(asked[is_capable].tolist())


def _unservable(path: str, problem: str, accepted: str, hint: str, reason: InfeasibilityReason) -> Fault:
    """Return the fault of a ticket that no agent can serve, whatever else the agent serves."""
    return Fault(path, problem, accepted, hint, "logic", needs=(FaultDependency.ELIGIBILITY,), reason=reason)


def negative_amounts(scenario: Scenario) -> Iterator[Fault]:
    """Yield demands, capacities and smallest loads below zero."""
    parts = [(f"/agents/{i}/capacity", agent.capacity) for i, agent in enumerate(scenario.agents)]
    parts += [(f"/agents/{i}/min_load", agent.min_load) for i, agent in enumerate(scenario.agents) if agent.min_load]
    parts += [(f"/tickets/{i}/demand", ticket.demand) for i, ticket in enumerate(scenario.tickets)]
    for path, amount in parts:
        if min(amount.values()) < 0:
            is_demand = path.startswith("/tickets")
            hint = 'For goods collected on the way use kind "pickup".' if is_demand else "Write 0 for nothing."
            yield Fault(path, "The amount is negative.", "0 or more", hint, "logic")


def _dimensions(scenario: Scenario) -> list[str]:
    return list(dict.fromkeys(name for agent in scenario.agents for name in agent.capacity))


def total(amounts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sum of amounts by dimension."""
    sums: dict[str, float] = {}
    for amount in amounts:
        for name, value in amount.items():
            sums[name] = sums.get(name, 0.0) + value
    return sums


def unknown_dimensions(scenario: Scenario) -> Iterator[Fault]:
    """Yield demands in dimensions that no agent has."""
    known = _dimensions(scenario)
    accepted = "the dimensions of the agents: " + plain(", ".join(known), 100)
    for index, ticket in enumerate(scenario.tickets):
        if not nonzero_demand(ticket).keys() <= set(known):
            problem = "The demand is in a dimension no agent has a capacity for."
            hint = "Name the same dimensions."
            yield _unservable(f"/tickets/{index}/demand", problem, accepted, hint, InfeasibilityReason.CAPACITY)


def unknown_min_loads(scenario: Scenario) -> Iterator[Fault]:
    """Yield smallest loads in dimensions that the agent has no capacity for."""
    for index, agent in enumerate(scenario.agents):
        lacking = [name for name, least in (agent.min_load or {}).items() if least and not agent.capacity.get(name)]
        if lacking:
            problem = "The agent has no capacity in a dimension of its min_load."
            accepted = "dimensions of its capacity"
            yield Fault(f"/agents/{index}/min_load", problem, accepted, "Name the same dimensions.", "logic")


def oversized_demands(scenario: Scenario) -> Iterator[Fault]:
    """Yield demands above the capacity of every agent that may serve the ticket, alone or together."""
    eligibility, capability = Eligibility(scenario), AgentCapability(scenario)
    ranked = {
        name: sorted(enumerate(agent.capacity.get(name, 0.0) for agent in scenario.agents), key=lambda each: -each[1])
        for name in _dimensions(scenario)[:MAX_DIMENSIONS]
    }
    for index, ticket in enumerate(scenario.tickets):
        agents = eligibility.agents(ticket)
        is_sound = bool(agents) and nonzero_demand(ticket).keys() <= ranked.keys()
        for name, amount in ticket.demand.items() if agents else ():
            most = next((available for agent, available in ranked.get(name, ()) if agent in agents), amount)
            if amount > most + AMOUNT_TOLERANCE:
                problem = f"The demand is above the capacity ({figure(most)}) of every agent that may serve the ticket."
                dimension = () if name == "load" else (name,)  # `load` is also what a bare number means
                path, accepted = pointer(("tickets", index, "demand", *dimension)), f"at most {figure(most)}"
                yield _unservable(path, problem, accepted, "Split the ticket.", InfeasibilityReason.CAPACITY)
                is_sound = False
        if is_sound and not capability.with_capacity(ticket, agents):
            problem = "No agent that may serve the ticket has the capacity for all of its demand at once."
            path, accepted = f"/tickets/{index}/demand", "amounts that one agent can carry"
            hint = "Split the ticket, or raise a capacity."
            yield _unservable(path, problem, accepted, hint, InfeasibilityReason.CAPACITY)


def max_tickets_too_small(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets that every agent with the capacity for them has too small a max_tickets for."""
    eligibility, capability = Eligibility(scenario), AgentCapability(scenario)
    for index, ticket in enumerate(scenario.tickets):
        agents = eligibility.agents(ticket)
        if (large := capability.with_capacity(ticket, agents)) and not capability.capable(ticket, agents):
            _, problem, hint = REASONS[InfeasibilityReason.MAX_TICKETS].ticket
            if all(scenario.agents[at].max_tickets == 0 for at in large):
                problem, hint = (
                    "Every agent that could serve the ticket is out (max_tickets 0).",
                    "Let another serve it.",
                )
            yield _unservable(f"/tickets/{index}", problem, _SERVED, hint, InfeasibilityReason.MAX_TICKETS)


def missing_skills(scenario: Scenario) -> Iterator[Fault]:
    """Yield skills that no agent has."""
    known = {skill for agent in scenario.agents for skill in agent.skills}
    folded = {skill.casefold(): skill for skill in known}
    for index, ticket in enumerate(scenario.tickets):
        for at, skill in enumerate(ticket.skills):
            if skill not in known:
                path, problem = f"/tickets/{index}/skills/{at}", "No agent has this skill."
                hint = did_you_mean(folded.get(skill.casefold())) or "Give it to an agent."
                yield _unservable(path, problem, "a skill of an agent", hint, InfeasibilityReason.SKILL_OR_AGENT)


def tickets_without_eligible_agent(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets whose skills, agents and not_agents together leave nobody."""
    eligibility = Eligibility(scenario)
    skills = {skill for agent in scenario.agents for skill in agent.skills}
    names = {agent.id for agent in scenario.agents}
    for index, ticket in enumerate(scenario.tickets):
        is_known = set(ticket.skills) <= skills and set(ticket.agents or ()) <= names
        if is_known and not eligibility.agents(ticket):
            problem = "No agent may serve the ticket: none has all its skills and is allowed."
            hint = "Relax skills, agents or not_agents."
            yield _unservable(f"/tickets/{index}", problem, _SERVED, hint, InfeasibilityReason.SKILL_OR_AGENT)


def double_limits(scenario: Scenario) -> Iterator[Fault]:
    """Yield agents with two distance limits."""
    for index, agent in enumerate(scenario.agents):
        if agent.max_distance_km is not None and agent.max_distance_m is not None:
            problem = "The agent has max_distance_km and max_distance_m."
            yield Fault(f"/agents/{index}/max_distance_m", problem, "one of the two", "Remove one.", "logic")


_DIGITS: Final = 9
"""Decimals of a sum that are no noise of its addition."""
_TOO_MUCH: Final = {
    "delivery": "The delivery tickets need {} of {}, all agents together carry {}.",
    "pickup": "The pickup tickets need {} of {}, all agents together carry {}.",
}


def more_demand_than_capacity(scenario: Scenario) -> Iterator[Fault]:
    """Yield dimensions in which all deliveries, or all pickups, are more than all agents can take in all their trips.

    Shipments do not count: they may take the same room one after the other. Nor do agents that serve nothing.
    """
    total_capacity = total(
        {name: available * (1 + most_reloads(agent)) for name, available in agent.capacity.items()}
        for agent in scenario.agents
        if agent.max_tickets != 0
    )
    for kind in ("delivery", "pickup"):
        for name, need in total(_needed(scenario, kind)).items():
            if need > (available := total_capacity.get(name, need)) + AMOUNT_TOLERANCE:
                amounts = figure(round(need, _DIGITS)), plain(name, 40), figure(round(available, _DIGITS))
                problem = _TOO_MUCH[kind].format(*amounts)
                hint = "Add agents or reload_locations; otherwise some tickets stay unassigned."
                yield Fault("/agents", problem, "", hint, "warning")


def _needed(scenario: Scenario, kind: str) -> Iterator[Mapping[str, float]]:
    """Yield the demands of a kind, save of shipments; of alternatives the least, where no other kind would do."""
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    halves = {ticket.id for _, *both in shipments(scenario) for ticket in both}

    def counts(ticket: Ticket) -> bool:
        return ticket.kind == kind and ticket.id not in halves

    chosen: set[str] = set()
    for group in scenario.groups:
        members = [by_id[name] for name in dict.fromkeys(group.tickets) if name in by_id]
        if group.kind == "one_of" and members:
            if chosen.isdisjoint(group.tickets) and all(map(counts, members)):
                names = set.intersection(*(set(ticket.demand) for ticket in members))
                yield {name: min(ticket.demand[name] for ticket in members) for name in names}
            chosen.update(group.tickets)
    yield from (ticket.demand for ticket in scenario.tickets if counts(ticket) and ticket.id not in chosen)


def zero_penalty_tickets(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets that cost nothing to leave out."""
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    alternatives = {name for group in scenario.groups if _has_a_price(group, by_id) for name in group.tickets}
    for index, ticket in enumerate(scenario.tickets):
        if ticket.penalty == 0 and ticket.id not in alternatives:
            problem = "Leaving the ticket out costs nothing, so it will hardly be served."
            yield Fault(
                f"/tickets/{index}/penalty", problem, "", "Raise it, or remove it to want it served.", "warning"
            )


def _has_a_price(group: Group, by_id: Mapping[str, Ticket]) -> bool:
    """Return whether serving none of some alternatives costs something: the group's price, or the highest of theirs."""
    if group.kind != "one_of" or group.penalty is not None:
        return group.kind == "one_of" and group.penalty != 0
    return any(by_id[name].penalty != 0 for name in group.tickets if name in by_id)


def prices_beside_metres(scenario: Scenario) -> Iterator[Fault]:
    """Yield the first price of a day on the globe where nobody has one by km or hour: metres outweigh most sums."""
    if has_travel_price(scenario) or not is_on_globe(scenario):
        return
    if (path := next(_fixed_prices(scenario), None)) is not None:
        problem = "No agent has cost_per_km or cost_per_hour, so beside this a km costs 1000."
        yield Fault(path, problem, "", "Set cost_per_km of all agents.", "warning")


def agents_without_price(scenario: Scenario) -> Iterator[Fault]:
    """Yield the first agent that costs nothing on a day where others have prices: plans send it before all others."""
    if not has_travel_price(scenario):
        return
    for index, agent in enumerate(scenario.agents):
        is_free = agent.cost_per_km is None and agent.cost_per_hour is None and not agent.fixed_cost
        if is_free and agent.max_tickets != 0:
            problem = "It has no price by km or hour, as other agents have, so it drives free."
            hint = "Give it theirs; 0 where it is meant so."
            yield Fault(f"/agents/{index}/cost_per_km", problem, "", hint, "warning")
            return


def _fixed_prices(scenario: Scenario) -> Iterator[str]:
    """Yield the place of every price that is not by km or hour of a route."""
    for section, fields in _PRICES.items():
        for index, entry in enumerate(getattr(scenario, section)):
            yield from (f"/{section}/{index}/{field}" for field in fields if getattr(entry, field))
    for index, ticket in enumerate(scenario.tickets):
        if 0 < ticket.switch_cost < PRICE_OF_METRES:  # a preference that is worth more than a km is no small sum
            yield f"/tickets/{index}/switch_cost"
    if scenario.options.balance_cost_per_hour:
        yield "/options/balance_cost_per_hour"
