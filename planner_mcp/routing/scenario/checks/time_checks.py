"""Checks on times: windows, shifts, breaks, rush hours and releases that contradict themselves or each other.

Whether an agent can be anywhere in time is proved by `feasibility/unservable_tickets.py`.
"""

from collections.abc import Iterator
from itertools import chain, pairwise
from math import inf
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.checks.position_checks import is_on_globe
from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, Ticket
from planner_mcp.text import DAY_S, clock, clock_s, figure

_HOURS: Final = 24
_MINUTES: Final = 1440
"""The latest numbers that are rather hours, and minutes, of a day than seconds."""
_DIGITS: Final = 2359
"""The latest number that is rather the digits of an hour, as 1730 for 17:30."""
_MINUTE_S: Final = 60
"""Services and breaks below it were rather meant in minutes or hours."""


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
    """Yield tickets with windows that overlap: a problem has them joined."""
    for index, ticket in enumerate(scenario.tickets):
        windows = sorted(window for window in ticket.time_windows if window[0] <= window[1])
        if any(after[0] < before[1] for before, after in pairwise(windows)):
            yield Fault(f"/tickets/{index}/time_windows", "Two windows overlap.", "", "They count as one.", "warning")


def backward_shifts(scenario: Scenario) -> Iterator[Fault]:
    """Yield shifts that end before they start."""
    for index, agent in enumerate(scenario.agents):
        if agent.shift_end is not None and agent.shift_end < (agent.shift_start or 0.0):
            hint = "Swap the two, or write hours past midnight as 24:00 to 47:59."
            problem = "The shift ends before it starts."
            yield Fault(f"/agents/{index}/shift_end", problem, "a time after shift_start", hint, "logic")


def invalid_travel_periods(scenario: Scenario) -> Iterator[Fault]:
    """Yield travel periods that end before they start, or overlap."""
    travel_periods = scenario.travel.rush_hours
    for index, period in enumerate(travel_periods):
        path = f"/travel/rush_hours/{index}"
        if period.end <= period.start:
            hint = "Swap the two, or write hours past midnight as 24:00 to 47:59."
            yield Fault(f"{path}/end", "The travel period ends before it starts.", "a time after start", hint, "logic")
        elif any(other.start < period.end and period.start < other.end for other in travel_periods[:index]):
            yield Fault(path, "It overlaps with an earlier one.", "hours apart from each other", "Join them.", "logic")


def backward_breaks(scenario: Scenario) -> Iterator[Fault]:
    """Yield breaks whose latest start is before the earliest."""
    for index, agent in enumerate(scenario.agents):
        for at, break_spec in enumerate(agent.breaks):
            if break_spec.latest < break_spec.earliest:
                path = f"/agents/{index}/breaks/{at}/latest"
                problem = "The latest start of the break is before its earliest."
                yield Fault(path, problem, "a time after earliest", "Swap the two.", "logic")


def breaks_outside_shifts(scenario: Scenario) -> Iterator[Fault]:
    """Yield breaks that no route takes, since each starts after them or ends by their latest start; once for each way.

    A day under way is not checked: what happens moves shifts.
    """
    reported = set[str]()
    for index, agent in enumerate(() if scenario.held else scenario.agents):
        starts, ends = agent.shift_start or 0.0, inf if agent.shift_end is None else agent.shift_end + agent.overtime_s
        for at, rest in enumerate(agent.breaks):
            problem, hint = "", "Let its latest start be before the end of the shift."
            if rest.latest < starts or rest.earliest + rest.duration_s <= starts:
                problem, hint = "The shift begins after this break, so it is never taken.", "Move it into the shift."
                if agent.shift_end is not None and rest.latest + DAY_S < agent.shift_end:
                    hint = f"Past midnight write {clock(rest.earliest + DAY_S)} to {clock(rest.latest + DAY_S)}."
            elif rest.latest >= ends:
                problem = "A route that ends by the latest start of its break needs none, so this is never taken."
            if problem and problem not in reported:
                reported.add(problem)
                yield Fault(f"/agents/{index}/breaks/{at}", problem, "", hint, "warning")


def durations_as_minutes(scenario: Scenario) -> Iterator[Fault]:
    """Yield the longest service and the shortest break on the globe, where they take less than a minute."""
    if not is_on_globe(scenario):
        return
    service_s, ticket = max((t.service_time_s, -at) for at, t in enumerate(scenario.tickets))
    if 0 < service_s < _MINUTE_S:
        problem = f"The longest service takes {figure(service_s)} seconds."
        yield Fault(f"/tickets/{-ticket}/service_time_s", problem, "", _in_seconds(service_s), "warning")
    breaks = [
        (rest.duration_s, f"/agents/{index}/breaks/{at}/duration_s")
        for index, agent in enumerate(scenario.agents)
        for at, rest in enumerate(agent.breaks)
        if 0 < rest.duration_s < _MINUTE_S
    ]
    for duration_s, path in sorted(breaks)[:1]:
        yield Fault(path, f"The break takes {figure(duration_s)} seconds.", "", _in_seconds(duration_s), "warning")


def _in_seconds(number: float) -> str:
    """Return how to write a duration that was rather meant in minutes, or in hours, than in seconds."""
    if number < 1:
        return f"Write {figure(number * 3600)} for {figure(number)} hours."
    return f"Write {figure(number * 60)} for {figure(number)} minutes."


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
    latest = _suspicious_number(scenario)
    if misread := misread_number(latest):
        problem, hint = misread
        path = next((path for path, time in _times(scenario) if time == latest), "/tickets")
        yield Fault(path, problem, "", hint, "warning")


def times_with_offset(scenario: Scenario) -> Iterator[Fault]:
    """Yield what is made of UTC offsets: none is converted, so a time of UTC beside one of the place is hours off."""
    offset, path = scenario.written_times.utc_offset, "/planning_date"
    if offset is None:
        return
    if scenario.written_times.has_clocks:
        problem = "Times with a UTC offset stand beside times without one; all are read as of the same clock."
        yield Fault(path, problem, "", "Write all as local times of the place, without an offset.", "warning")
    elif not offset:
        problem = "All times are written in UTC, and so are those of the plan and of driver sheets."
        yield Fault(
            path, problem, "", "Where drivers keep another clock, write local times without an offset.", "warning"
        )


def misread_numbers(scenario: Scenario) -> tuple[str, str] | None:
    """Return what the latest number is taken for, and what to write, where all are rather minutes or hours of a day.

    Where times written as text hold it as seconds, and not as what it would rather be, it means what it says. Beside
    numbers that are seconds it does so too, unless it is before all of those times.
    """
    return misread_number(_suspicious_number(scenario))


def _suspicious_number(scenario: Scenario) -> float:
    """Return the latest number that is rather minutes, hours or digits of a time; infinity where there is none."""
    first, last = scenario.written_times.text_range or (inf, -inf)
    numbers = scenario.written_times.numbers
    if max(numbers, default=0.0) > _MINUTES and not all(map(_is_digits, numbers)):
        numbers = {time for time in numbers if first < inf and time < min(first, _MINUTES + 1)}
    latest = max(numbers, default=inf)
    has_hours = is_on_globe(scenario) or (first < inf and all(place.x is None for place in scenario.locations))
    is_as_written = first <= latest <= last < _intended_s(latest)
    return latest if has_hours and not is_as_written else inf


def misread_number(time: float) -> tuple[str, str] | None:
    """Return what a time written as a number is taken for, and what to write, where it is rather something else."""
    if time > _MINUTES and not _is_digits(time):
        return None
    return f"{figure(time)} is {clock_s(time)}: numbers are seconds.", f'Write "{clock(_intended_s(time))}".'


def _intended_s(time: float) -> float:
    """Return the time of day that a number of hours, of minutes, or of its digits would rather be."""
    if time > _MINUTES:
        return time // 100 * 3600 + time % 100 * 60
    return time * (3600 if time <= _HOURS else 60)


def _is_digits(time: float) -> bool:
    return time <= _DIGITS and time.is_integer() and time % 100 < 60


def has_numeric_times(scenario: Scenario, part: Agent | Ticket) -> bool:
    """Return whether a time of an agent or a ticket is among those that were written as numbers."""
    if isinstance(part, Ticket):
        times = [*chain.from_iterable(part.time_windows), part.release_time]
    else:
        breaks = ((break_spec.earliest, break_spec.latest) for break_spec in part.breaks)
        times = [part.shift_start, part.shift_end, *chain.from_iterable(breaks)]
    return not scenario.written_times.numbers.isdisjoint(time for time in times if time is not None)


def _times(scenario: Scenario) -> Iterator[tuple[str, float | None]]:
    """Yield every time of day there is, with its place."""
    for index, ticket in enumerate(scenario.tickets):
        path = f"/tickets/{index}"
        yield from ((f"{path}/time_windows/{at}", time) for at, each in enumerate(ticket.time_windows) for time in each)
        yield from ((f"{path}/soft_close", ticket.soft_close), (f"{path}/release_time", ticket.release_time))
    for index, agent in enumerate(scenario.agents):
        path = f"/agents/{index}"
        yield from ((f"{path}/shift_start", agent.shift_start), (f"{path}/shift_end", agent.shift_end))
        for at, break_spec in enumerate(agent.breaks):
            yield from ((f"{path}/breaks/{at}", break_spec.earliest), (f"{path}/breaks/{at}", break_spec.latest))
    for index, period in enumerate(scenario.travel.rush_hours):
        yield from ((f"/travel/rush_hours/{index}", time) for time in (period.start, period.end))
