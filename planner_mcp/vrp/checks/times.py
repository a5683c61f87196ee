"""Checks on times: windows, shifts and breaks that contradict each other, and tickets nobody can reach in time."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.vrp.checks.carriers import Carriers
from planner_mcp.vrp.checks.reach import Leg, Reach
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Agent, Scenario, Ticket, end_of, start_of

MOST_TOLD: Final = 100
"""Unreachable tickets after which the search for more ends; more would never be listed."""
SLACK_S: Final = 2.0
"""Forgiven when a direct trip is judged, because travel is rounded when the day is compiled."""


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


def late_pickups(scenario: Scenario) -> Iterator[Fault]:
    """Yield shipments that can be picked up only after they must be delivered."""
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    for index, ticket in enumerate(scenario.tickets):
        pickup = by_id.get(ticket.pickup or "")
        if pickup is None or not pickup.time_windows or not ticket.time_windows:
            continue
        ready = min(opens for opens, _ in pickup.time_windows) + pickup.service_time_s
        if ready > max(closes for _, closes in ticket.time_windows):
            problem = "The delivery closes before its pickup can be done."
            hint = "Widen this window or open the pickup earlier."
            yield Fault(f"/tickets/{index}/time_windows", problem, "a window after the pickup's", hint, "logic")


@dataclass(frozen=True, slots=True)
class Duty:
    """All that decides whether an agent can make a direct trip. Agents alike share one."""

    start: str | None
    end: str | None
    opens: float
    closes: float
    max_duration: float
    max_distance: float
    speed: float
    reloads: tuple[str, ...] = ()

    @staticmethod
    def of(scenario: Scenario, agent: Agent) -> "Duty":
        """Return the duty of an agent."""
        endless = float("inf")
        kilometres = endless if agent.max_distance_km is None else agent.max_distance_km * 1000
        return Duty(
            start_of(scenario, agent),
            end_of(scenario, agent),
            agent.shift_start or 0.0,
            endless if agent.shift_end is None else agent.shift_end + agent.overtime_s,
            endless if agent.max_duration_s is None else agent.max_duration_s,
            kilometres if agent.max_distance_m is None else agent.max_distance_m,
            agent.speed_factor,
            agent.reload_locations if agent.max_reloads != 0 else (),
        )


_OBSTACLES: Final[tuple[tuple[str, str, str], ...]] = (
    ("time_windows", "Its windows are outside every shift that could serve it.", "Move the window or a shift."),
    ("service_time_s", "Its service does not fit into any shift that could serve it.", "Shorten it or extend a shift."),
    ("location", "No agent can drive there in time, even directly.", "Widen the window or start a shift earlier."),
    ("location", "No agent can drive there and back within its shift.", "Extend a shift or start nearer."),
    ("location", "A direct trip is longer than max_duration_s of every agent.", "Raise max_duration_s."),
    ("location", "A direct trip is farther than the distance limit of every agent.", "Raise the distance limit."),
)
"""(field, problem, hint), from the hardest to the mildest: what keeps the agent that comes closest is what is told."""


def unreachable_tickets(
    scenario: Scenario, *, unfit: frozenset[int] = frozenset(), spared: frozenset[int] = frozenset()
) -> Iterator[Fault]:
    """Yield tickets that no agent could serve even with nothing else to do.

    Args:
        scenario: The day.
        unfit: Agents about whom something else is wrong; what they may serve is not judged.
        spared: Tickets that are not judged.
    """
    duties = [Duty.of(scenario, agent) for agent in scenario.agents]
    eligible, carriers = Eligible(scenario), Carriers(scenario)
    reach, mildest = Reach(scenario), Mildest()
    set_up = surely_set_up(scenario)
    found = 0
    for index, ticket in enumerate(scenario.tickets):
        agents = eligible.agents(ticket)
        if index in spared or not unfit.isdisjoint(agents):
            continue
        candidates = dict.fromkeys(duties[agent] for agent in carriers.able(ticket, agents))
        setup = ticket.setup_time_s if ticket.location in set_up else 0.0
        obstacle = mildest.obstacle(candidates, partial(_in_the_way, ticket, setup, reach))
        if obstacle is not None:
            field, problem, hint = _OBSTACLES[obstacle]
            yield Fault(f"/tickets/{index}/{field}", problem, "a ticket that some agent can serve", hint, "logic")
            found += 1
        if found >= MOST_TOLD:
            return


def surely_set_up(scenario: Scenario) -> frozenset[str]:
    """Return where services begin with their setup: behind another ticket or a reload at the place it is not spent."""
    crowd = Counter(ticket.location for ticket in scenario.tickets)
    crowd.update(place for agent in scenario.agents for place in agent.reload_locations)
    return frozenset(ticket.location for ticket in scenario.tickets if crowd[ticket.location] == 1)


class Mildest:
    """What keeps the duty that comes closest; asks first the one that could last, because it can most other times."""

    def __init__(self) -> None:
        self._able: Duty | None = None

    def obstacle(self, duties: Collection[Duty], judge: Callable[[Duty], int | None]) -> int | None:
        """Return the mildest obstacle over all duties, None where there is none for one of them, or no duty."""
        if self._able is not None and self._able in duties and judge(self._able) is None:
            return None
        worst = -1
        for duty in duties:
            if (obstacle := judge(duty)) is None:
                self._able = duty
                return None
            worst = max(worst, obstacle)
        return worst if worst >= 0 else None


def _in_the_way(ticket: Ticket, setup: float, reach: Reach, duty: Duty) -> int | None:
    """Return the obstacle of a direct trip, or, where others may be shorter, of the best trip over other stops."""
    out, back = reach.leg(duty.start, ticket.location), reach.leg(ticket.location, duty.end)
    fetched = [out[1], *(reach.leg(depot, ticket.location)[1] for depot in duty.reloads)]
    obstacle = _obstacle(ticket, setup, duty, (out, back, min(fetched)))
    if obstacle is None or not reach.may_detour:
        return obstacle
    out, back = reach.way_to(ticket.location, duty.start), reach.way_from(ticket.location, duty.end)
    fetched = [out[1], *(reach.way_to(ticket.location, depot)[1] for depot in duty.reloads)]
    return _obstacle(ticket, setup, duty, (out, back, min(fetched)))


def _obstacle(ticket: Ticket, setup: float, duty: Duty, trip: tuple[Leg, Leg, float]) -> int | None:
    """Return what a trip meets: the way out, the way back, the time from where the goods are."""
    windows = sorted(ticket.time_windows) or [(0.0, float("inf"))]
    if windows[-1][1] < duty.opens or windows[0][0] > duty.closes:
        return 0
    work = setup + ticket.service_time_s
    if duty.opens + work > duty.closes + SLACK_S:
        return 1
    (out_m, out_s), (back_m, back_s), fetched_s = trip
    released = ticket.release_time or 0.0
    ready = max(duty.opens + out_s / duty.speed, released + fetched_s / duty.speed) + setup
    start = next((max(ready, opens) for opens, closes in windows if ready <= closes + SLACK_S), None)
    if start is None:
        return 2
    if start + ticket.service_time_s + back_s / duty.speed > duty.closes + SLACK_S:
        return 3
    if (out_s + back_s) / duty.speed + work > duty.max_duration + SLACK_S:
        return 4
    return 5 if out_m + back_m > duty.max_distance + SLACK_S else None
