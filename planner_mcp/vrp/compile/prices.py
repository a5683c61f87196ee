"""Prices as integers, and the penalty that makes a ticket wanted.

Owns the cost scale. It is the smallest that keeps every price exact (the least common multiple of their denominators),
lowered where a whole day's cost would pass 2^52, so that costs stay exact in a float too, and where M below would have
to be clamped for the sake of digits nobody reads.

Penalties. A wanted ticket of priority p costs `M · 2^(p-1)` when left out. M is one more than the most a whole plan can
cost, so no detour, however long, outweighs one served ticket. The sum over all tickets stays under 2^61: M is clamped
to `2^61 / (256 · n)`. At 5000 tickets that is 1.8e12 units; only days that cost more than this weaken the promise.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, lcm
from typing import Final

from planner_mcp.vrp.compile.travel import Travel
from planner_mcp.vrp.day.model import Agent, Scenario

_MOST_PRECISE: Final = 10**8
"""Largest cost scale for each unit in a metre or second. Finer prices are rounded: 1 an hour by 2 parts in 100,000."""
_EXACT_IN_FLOAT: Final = 2**52
_ALL_PENALTIES: Final = 2**61


@dataclass(frozen=True, slots=True)
class Prices:
    """Integer prices of one problem."""

    cost_scale: int
    scale: int
    default_per_km: Fraction
    """What an agent without prices pays: 1000, so that cost is distance, where nobody names a price; else nothing."""
    most_wanted: int
    """M of the module docstring."""

    def amount(self, price: float) -> int:
        """Return a sum of money in cost units."""
        return round(_exact(price) * self.cost_scale) if price else 0

    def per_km(self, price: float | None) -> int:
        """Return cost units per distance unit."""
        rate = self.default_per_km if price is None else _exact(price)
        return round(rate / (1000 * self.scale) * self.cost_scale)

    def per_hour(self, price: float) -> int:
        """Return cost units per time unit."""
        return round(_exact(price) / (3600 * self.scale) * self.cost_scale) if price else 0

    def wanted(self, priority: int) -> int:
        """Return the penalty of a ticket that should be served whenever it can be."""
        return self.most_wanted << (priority - 1)


@lru_cache(1024)
def _exact(price: float) -> Fraction:
    """Return the decimal number the caller wrote. Few different ones stand in many places, zero most of all."""
    return Fraction(repr(price))


def _sum(prices: Iterable[float]) -> Fraction:
    """Return the exact sum. Adding fractions is slow, and most prices are nothing."""
    return sum((_exact(price) for price in prices if price), Fraction(0))


def price_list(scenario: Scenario, travel: Travel, horizon: int) -> Prices:
    """Return the prices of a scenario.

    Args:
        scenario: As checked.
        travel: Its matrices; `travel.scale` units make a metre or a second.
        horizon: Last time unit any route may reach.
    """
    is_priced = any(a.cost_per_km is not None or a.cost_per_hour is not None for a in scenario.agents)
    default = Fraction(0 if is_priced else 1000)
    most = _most_a_plan_costs(scenario, travel, horizon, default)
    wish = lcm(*(price.denominator for price in _unit_prices(scenario, travel.scale, default)))
    clamp = _ALL_PENALTIES // (256 * len(scenario.tickets))
    finest = min(_MOST_PRECISE * travel.scale, int(clamp / (most + 1)))
    cost_scale = max(1, min(wish, max(_MOST_PRECISE, finest), int(_EXACT_IN_FLOAT / (most + 1))))
    return Prices(cost_scale, travel.scale, default, min(ceil(most * cost_scale) + 1, clamp))


def _rates(scenario: Scenario, agent: Agent, default: Fraction) -> tuple[Fraction, Fraction]:
    """Return the agent's price of 1000 distance units and of an hour, lateness aside."""
    per_km = default if agent.cost_per_km is None else _exact(agent.cost_per_km)
    hourly = _exact(agent.cost_per_hour or 0.0) + _exact(agent.overtime_cost_per_hour)
    return per_km, hourly + _exact(scenario.options.balance_cost_per_hour)


def _unit_prices(scenario: Scenario, scale: int, default: Fraction) -> list[Fraction]:
    """Return every price, per unit, that should stay exact."""
    sums = {agent.fixed_cost for agent in scenario.agents}
    sums |= {price for ticket in scenario.tickets for price in (ticket.penalty or 0.0, ticket.switch_cost)}
    sums |= {group.penalty or 0.0 for group in scenario.groups}
    hourly = {agent.cost_per_hour or 0.0 for agent in scenario.agents}
    hourly |= {agent.overtime_cost_per_hour for agent in scenario.agents}
    hourly |= {ticket.lateness_cost_per_hour for ticket in scenario.tickets}
    hourly.add(scenario.options.balance_cost_per_hour)
    lengths = {_rates(scenario, agent, default)[0] for agent in scenario.agents}
    found = [_exact(price) for price in sums]
    found += [_exact(price) / (3600 * scale) for price in hourly]
    return found + [price / (1000 * scale) for price in lengths]


def _most_a_plan_costs(scenario: Scenario, travel: Travel, horizon: int, default: Fraction) -> Fraction:
    """Return an upper bound of any plan that serves everything, in the caller's currency."""
    rates = [_rates(scenario, agent, default) for agent in scenario.agents]
    used = min(len(scenario.agents), len(scenario.tickets))
    legs = len(scenario.tickets) + used + 2 * used
    longest = Fraction(max(int(table.max(initial=0)) for table in travel.distances), 1000 * travel.scale)
    hours = Fraction(horizon, 3600 * travel.scale)
    fixed = _sum(agent.fixed_cost for agent in scenario.agents)
    lateness = _sum(ticket.lateness_cost_per_hour for ticket in scenario.tickets)
    switches = _sum(ticket.switch_cost for ticket in scenario.tickets)
    driving = legs * longest * max(km for km, _ in rates)
    return fixed + switches + driving + used * hours * max(hour for _, hour in rates) + lateness * hours
