"""Prices as integers, and the penalties of wanted tickets.

Owns the cost scale: the smallest that keeps every price exact (the least common multiple of their denominators). It is
lowered in three cases:
1. The routes of a plan would cost more than 2^52, which a float cannot hold exactly.
2. The caller's penalties would exceed 2^60, which engines could not add up.
3. M (below) would be clamped for the sake of digits that are not significant: digits without which every price is still
   accurate to a thousandth.
Where a price is off by more than a thousandth after all, the plan says so.

Penalties. A wanted ticket of priority p costs `M · 2^(p-1)` when left out. M is one more than the largest cost of a
plan, including the penalties of every optional ticket. So neither a detour of any length nor other tickets outweigh one
served ticket. The penalties of all wanted tickets must sum to 2^61 at most, so M is clamped to 2^61 divided by the sum
of their weights `2^(p-1)`: 1.4e13 units at 10,000 tickets of the default priority. Only where a plan can cost more than
that is the guarantee weakened; where the caller's penalties alone cause it, the plan says so.

A ticket that `held.promised` names, since an earlier plan serves it, weighs as much more as the least of them needs to
outweigh all other wanted tickets together, whatever their priority.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, inf, lcm
from typing import Final

from planner_mcp.routing.compilation.scenario_extent import Extent, longest_s
from planner_mcp.routing.scenario.scenario_model import PRICE_OF_METRES, Agent, Scenario, Ticket, has_travel_price

_MAX_PRECISION: Final = 10**8
"""Largest cost scale per unit in a metre or second. Finer prices are rounded: 1 an hour by 2 parts in 100,000."""
_EXACT_IN_FLOAT: Final = 2**52
_ALL_PENALTIES: Final = 2**61
_ALL_PRICED: Final = 2**60
"""Limit of the sum of the caller's penalties: engines add them to those of wanted tickets in 64 bits."""
_MAX_PROMISE_FACTOR: Final = 1024
"""Above it promised tickets outweigh that many others of their priority, not all."""
_REPORTED_ROUNDING: Final = Fraction(1, 1000)
"""Relative rounding of a price above which the plan reports it."""


@dataclass(frozen=True, slots=True)
class IntegerPrices:
    """The integer prices of one problem."""

    cost_scale: int
    scale: int
    default_per_km: Fraction
    """Cost per km of an agent without prices: 1000, so that cost is distance, where no price is given; else 0."""
    most_wanted: int
    """M of the module docstring."""
    is_outweighed: bool = False
    """Whether the caller's own penalties exceed M after clamping."""
    promise_factor: int = 1
    """What a promised ticket weighs more than others of its priority."""

    def amount(self, price: float) -> int:
        """Return a sum of money in cost units."""
        return round(exact(price) * self.cost_scale) if price else 0

    def per_km(self, price: float | None) -> int:
        """Return cost units per distance unit."""
        rate = self.default_per_km if price is None else exact(price)
        return round(rate / (1000 * self.scale) * self.cost_scale)

    def per_hour(self, price: float) -> int:
        """Return cost units per time unit."""
        return round(exact(price) / (3600 * self.scale) * self.cost_scale) if price else 0

    def wanted(self, priority: int, *, is_promised: bool = False) -> int:
        """Return the penalty of a wanted ticket of a priority."""
        return (self.most_wanted << (priority - 1)) * (self.promise_factor if is_promised else 1)


@lru_cache(1024)
def exact(price: float) -> Fraction:
    """Return the decimal number the caller wrote. Cached, since few different values occur often, zero most of all."""
    return Fraction(repr(price))


def _sum(prices: Iterable[float]) -> Fraction:
    """Return the exact sum. Zeros are skipped, because adding fractions is slow."""
    return sum((exact(price) for price in prices if price), Fraction(0))


def integer_prices_of(scenario: Scenario, scale: int, extent: Extent) -> IntegerPrices:
    """Return the prices of a scenario.

    Args:
        scenario: A checked scenario.
        scale: Units per metre or second.
        extent: Bounds of the length and duration of any plan.
    """
    default = Fraction(0 if has_travel_price(scenario) else PRICE_OF_METRES)
    units = [price for _, price in _unit_prices(scenario, scale, default) if price]
    most = _most_a_plan_costs(scenario, extent, scale, default)
    penalties = [*(ticket.penalty for ticket in scenario.tickets), *(group.penalty for group in scenario.groups)]
    priced = [penalty for penalty in penalties if penalty]
    left_out = _sum(priced)
    promised = frozenset(scenario.held.promised) if scenario.held else frozenset[str]()
    factor = _promise_factor(scenario, promised)
    weights = sum((factor if t.id in promised else 1) << (t.priority - 1) for t in _wanted(scenario))
    clamp = _ALL_PENALTIES // max(1, weights)
    finest = min(_MAX_PRECISION * scale, int(clamp / (most + left_out + 1)))
    significant = ceil(1 / (2 * _REPORTED_ROUNDING * min(units, default=Fraction(1))))
    wanted_scale = min(lcm(*(price.denominator for price in units)), max(_MAX_PRECISION, finest, significant))
    cost_scale = max(1, min(wanted_scale, int(_EXACT_IN_FLOAT / (most + 1)), int(_ALL_PRICED / (left_out + 1))))
    rounded_up = Fraction(len(priced), 2)
    wanted = min(ceil((most + left_out) * cost_scale + rounded_up) + 1, clamp)
    is_outweighed = weights > 0 and left_out * cost_scale >= wanted
    return IntegerPrices(cost_scale, scale, default, wanted, is_outweighed, factor)


def _promise_factor(scenario: Scenario, promised: frozenset[str]) -> int:
    """Return by how much a promised ticket must weigh more, so that the least of them outweighs all others together."""
    if not promised:
        return 1
    others = sum(1 << (ticket.priority - 1) for ticket in _wanted(scenario) if ticket.id not in promised)
    least = min((1 << (ticket.priority - 1) for ticket in _wanted(scenario) if ticket.id in promised), default=1)
    return min(_MAX_PROMISE_FACTOR, others // least + 1)


def shortfalls(prices: IntegerPrices) -> Iterator[str]:
    """Yield a sentence where a wanted ticket may be left out in favour of optional ones."""
    if prices.is_outweighed:
        yield "The sum of penalties is so large that a ticket without one may be left out for tickets that have one."


def roundings(scenario: Scenario, prices: IntegerPrices) -> Iterator[str]:
    """Yield a sentence that lists the prices whose rounding exceeds `_REPORTED_ROUNDING`."""
    worst: dict[str, Fraction] = {}
    for name, price in _unit_prices(scenario, prices.scale, prices.default_per_km):
        if price:
            exact = price * prices.cost_scale
            worst[name] = max(worst.get(name, Fraction(0)), abs(round(exact) - exact) / exact)
    rounded = {name: share for name, share in worst.items() if share > _REPORTED_ROUNDING}
    listed = ", ".join(f"{name} by up to {float(100 * share):.3g} %" for name, share in rounded.items())
    if listed:
        yield f"Prices are rounded, because others, or the longest legs, are so large: {listed}."


def _wanted(scenario: Scenario) -> Iterator[Ticket]:
    """Return the tickets without a penalty from the caller, their own or that of their ONE_OF group."""
    groups = (group for group in scenario.groups if group.kind == "one_of" and group.penalty is not None)
    priced = {name for group in groups for name in group.tickets}
    return (ticket for ticket in scenario.tickets if ticket.penalty is None and ticket.id not in priced)


def _unit_prices(scenario: Scenario, scale: int, default: Fraction) -> Iterator[tuple[str, Fraction]]:
    """Yield (field, price per unit) for every different price."""
    agents, tickets = scenario.agents, scenario.tickets
    sums = {
        "fixed_cost": {agent.fixed_cost for agent in agents},
        "penalty": {ticket.penalty or 0.0 for ticket in tickets} | {group.penalty or 0.0 for group in scenario.groups},
        "switch_cost": {ticket.switch_cost for ticket in tickets},
    }
    hourly = {
        "cost_per_hour": {agent.cost_per_hour or 0.0 for agent in agents},
        "overtime_cost_per_hour": {agent.overtime_cost_per_hour for agent in agents},
        "lateness_cost_per_hour": {ticket.lateness_cost_per_hour for ticket in tickets},
        "balance_cost_per_hour": {scenario.options.balance_cost_per_hour},
    }
    yield from ((name, exact(price)) for name, prices in sums.items() for price in sorted(prices))
    yield from ((name, exact(price) / (3600 * scale)) for name, prices in hourly.items() for price in sorted(prices))
    yield from (
        ("cost_per_km", price / (1000 * scale)) for price in sorted({_per_km(each, default) for each in agents})
    )


def _per_km(agent: Agent, default: Fraction) -> Fraction:
    return default if agent.cost_per_km is None else exact(agent.cost_per_km)


def _most_a_plan_costs(scenario: Scenario, extent: Extent, scale: int, default: Fraction) -> Fraction:
    """Return an upper bound of the cost of the routes of any plan, in the caller's currency."""
    horizon_s = Fraction(extent.horizon, scale)
    hours = [_hours(agent, horizon_s) for agent in scenario.agents]
    paid = (_hourly(agent, time) for agent, time in zip(scenario.agents, hours, strict=True))
    routes = sorted(paid, reverse=True)[: len(scenario.tickets)]
    max_rate = max(_per_km(agent, default) for agent in scenario.agents)
    driving = Fraction(extent.distance, 1000 * scale) * max_rate
    balance = max(hours) * exact(scenario.options.balance_cost_per_hour)
    ends = [None if agent.shift_end is None else agent.shift_end + agent.overtime_s for agent in scenario.agents]
    latest_end = horizon_s if None in ends else exact(max(end for end in ends if end is not None))
    late = (ticket for ticket in scenario.tickets if ticket.lateness_cost_per_hour)
    lateness = sum((_lateness(ticket, latest_end) for ticket in late), Fraction(0))
    fixed = _sum(agent.fixed_cost for agent in scenario.agents)
    return fixed + _sum(ticket.switch_cost for ticket in scenario.tickets) + driving + sum(routes) + balance + lateness


def _hours(agent: Agent, horizon_s: Fraction) -> Fraction:
    """Return an upper bound of the duration of a route of the agent, in hours."""
    longest = longest_s(agent)
    return (horizon_s if longest == inf else min(horizon_s, exact(longest))) / 3600


def _hourly(agent: Agent, hours: Fraction) -> Fraction:
    """Return an upper bound of the cost of the duration of a route."""
    overtime = min(hours, exact(agent.overtime_s) / 3600) * exact(agent.overtime_cost_per_hour)
    return hours * exact(agent.cost_per_hour or 0.0) + overtime


def _lateness(ticket: Ticket, latest_end: Fraction) -> Fraction:
    """Return an upper bound of the lateness cost of a ticket, by when every route has ended, in seconds."""
    if ticket.soft_close is None:
        return Fraction(0)
    closes = max((close for _, close in ticket.time_windows), default=inf)
    latest = latest_end if closes == inf else min(latest_end, exact(closes))
    return max(Fraction(0), latest - exact(ticket.soft_close)) / 3600 * exact(ticket.lateness_cost_per_hour)
