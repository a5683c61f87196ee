"""Checks on times: windows, shifts, breaks, rush hours and releases that contradict themselves or each other.

Whether an agent can be anywhere in time is `checks/trips.py`'s.
"""

from collections.abc import Iterator
from itertools import chain, pairwise
from math import inf
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.text import clock, clock_s, figure
from planner_mcp.vrp.checks.places import is_on_globe
from planner_mcp.vrp.day.model import Agent, Scenario, Ticket

_HOURS: Final = 24
_MINUTES: Final = 1440
"""The latest numbers that are rather hours, and minutes, of a day than seconds."""


def backward_windows(scenario: Scenario) -> Iterator[Fault]:
    """Yield windows that close before they open."""
    for index, ticket in enumerate(scenario.tickets):
        for at, (opens, closes) in enumerate(ticket.time_windows):
            if opens > closes:
                path = f"/tickets/{index}/time_windows/{at}"
                hint = "Swap the two, or write hours past midnight as 24:00 to 47:59."
                yield Fault(
                    path, "The window closes before it opens.", "[open, close] with open ≤ close", hint, "logic"
                )


def overlapping_windows(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets with windows that overlap."""
    for index, ticket in enumerate(scenario.tickets):
        windows = sorted(window for window in ticket.time_windows if window[0] <= window[1])
        if any(after[0] < before[1] for before, after in pairwise(windows)):
            path = f"/tickets/{index}/time_windows"
            yield Fault(path, "Two windows overlap.", "windows apart from each other", "Join them.", "logic")


def backward_shifts(scenario: Scenario) -> Iterator[Fault]:
    """Yield shifts that end before they start."""
    for index, agent in enumerate(scenario.agents):
        if agent.shift_end is not None and agent.shift_end < (agent.shift_start or 0.0):
            hint = "Swap the two, or write hours past midnight as 24:00 to 47:59."
            problem = "The shift ends before it starts."
            yield Fault(f"/agents/{index}/shift_end", problem, "a time after shift_start", hint, "logic")


def odd_rushes(scenario: Scenario) -> Iterator[Fault]:
    """Yield rush hours that end before they start, or overlap."""
    rushes = scenario.travel.rush_hours
    for index, rush in enumerate(rushes):
        path = f"/travel/rush_hours/{index}"
        if rush.end <= rush.start:
            hint = "Swap the two, or write hours past midnight as 24:00 to 47:59."
            yield Fault(f"{path}/end", "The rush ends before it starts.", "a time after start", hint, "logic")
        elif any(other.start < rush.end and rush.start < other.end for other in rushes[:index]):
            yield Fault(path, "It overlaps with an earlier one.", "hours apart from each other", "Join them.", "logic")


def backward_breaks(scenario: Scenario) -> Iterator[Fault]:
    """Yield breaks whose latest start is before the earliest."""
    for index, agent in enumerate(scenario.agents):
        for at, rest in enumerate(agent.breaks):
            if rest.latest < rest.earliest:
                path = f"/agents/{index}/breaks/{at}/latest"
                yield Fault(
                    path, "The break must start before it may.", "a time after earliest", "Swap the two.", "logic"
                )


def late_releases(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets that are ready only after their last window."""
    for index, ticket in enumerate(scenario.tickets):
        closes = max((close for _, close in ticket.time_windows), default=None)
        if closes is not None and ticket.release_time is not None and ticket.release_time > closes:
            path = f"/tickets/{index}/release_time"
            problem = "The ticket is released after its last window has closed."
            hint = "Release it earlier or widen its window."
            yield Fault(path, problem, "a time before the last window closes", hint, "logic")


def numbers_as_minutes(scenario: Scenario) -> Iterator[Fault]:
    """Yield the latest time written as a number, where it would be the first minutes of a day on the globe."""
    if said := misread_numbers(scenario):
        problem, hint = said
        latest = max(scenario.numbers)
        path = next((path for path, time in _times(scenario) if time == latest), "/tickets")
        yield Fault(path, problem, "", hint, "warning")


def misread_numbers(scenario: Scenario) -> tuple[str, str] | None:
    """Return what the latest number is taken for, and what to write, where all are rather minutes or hours of a day.

    Where times written as text hold it as seconds, and not as what it would rather be, it means what it says.
    """
    latest = max(scenario.numbers, default=inf)
    if latest > _MINUTES or not is_on_globe(scenario):
        return None
    meant = latest * (3600 if latest <= _HOURS else 60)
    first, last = scenario.texts or (inf, -inf)
    if first <= latest <= last < meant:
        return None
    return f"{figure(latest)} is {clock_s(latest)}: numbers are seconds.", f'Write "{clock(meant)}".'


def says_numbers(scenario: Scenario, part: Agent | Ticket) -> bool:
    """Return whether a time of an agent or a ticket is among those that were written as numbers."""
    if isinstance(part, Ticket):
        times = [*chain.from_iterable(part.time_windows), part.release_time]
    else:
        rests = ((rest.earliest, rest.latest) for rest in part.breaks)
        times = [part.shift_start, part.shift_end, *chain.from_iterable(rests)]
    return not scenario.numbers.isdisjoint(time for time in times if time is not None)


def _times(scenario: Scenario) -> Iterator[tuple[str, float | None]]:
    """Yield every time of day there is, with its place."""
    for index, ticket in enumerate(scenario.tickets):
        path = f"/tickets/{index}"
        yield from ((f"{path}/time_windows/{at}", time) for at, each in enumerate(ticket.time_windows) for time in each)
        yield from ((f"{path}/soft_close", ticket.soft_close), (f"{path}/release_time", ticket.release_time))
    for index, agent in enumerate(scenario.agents):
        path = f"/agents/{index}"
        yield from ((f"{path}/shift_start", agent.shift_start), (f"{path}/shift_end", agent.shift_end))
        for at, rest in enumerate(agent.breaks):
            yield from ((f"{path}/breaks/{at}", rest.earliest), (f"{path}/breaks/{at}", rest.latest))
    for index, rush in enumerate(scenario.travel.rush_hours):
        yield from ((f"/travel/rush_hours/{index}", time) for time in (rush.start, rush.end))
