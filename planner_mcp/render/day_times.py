"""Times of a plan as people read them: hours of the planning day, with the date where a plan runs past it."""

from dataclasses import dataclass
from datetime import date, timedelta

from planner_mcp.render.page_words import Words
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.shown_scenario import ShownScenario, ShownTicketFields
from planner_mcp.routing.scenario.window_text import one_side, windows_of
from planner_mcp.text import DAY_S, clock, nearest_minute


@dataclass(frozen=True, slots=True)
class DayTimes:
    """How times of one plan are written."""

    planning_date: date
    has_dates: bool
    """Whether the plan runs past midnight, so that an hour alone may be of two days."""
    words: Words

    @staticmethod
    def of(scenario: ShownScenario, plan: Plan, words: Words) -> "DayTimes":
        """Return how the times of a plan are written."""
        last_s = max((route.end_s for route in plan.routes), default=0.0)
        return DayTimes(date.fromisoformat(scenario["planning_date"]), nearest_minute(last_s) >= DAY_S / 60, words)

    def moment(self, seconds: float) -> str:
        """Return seconds after midnight of the planning day as "08:30", or "07-16 08:30" where the plan has dates."""
        if not self.has_dates:
            return clock(seconds)
        days, rest_s = divmod(nearest_minute(seconds) * 60, DAY_S)
        return f"{self.planning_date + timedelta(days=days):%m-%d} {clock(rest_s)}"

    def span(self, start_s: float, end_s: float) -> str:
        """Return two moments with a dash."""
        return f"{self.moment(start_s)}–{self.moment(end_s)}"

    def windows(self, ticket: ShownTicketFields) -> list[str]:
        """Return the time windows of a stored ticket."""
        return [self._window(*window) for window in windows_of(ticket, self.planning_date.isoformat())]

    def _window(self, opens_s: float, closes_s: float) -> str:
        if side := one_side(opens_s, closes_s):
            return self.words[side].format(self.moment(opens_s if side == "from" else closes_s))
        return self.span(opens_s, closes_s)

    @property
    def day(self) -> str:
        """The planning date with its day of the week."""
        return f"{self.planning_date.isoformat()} ({self.words['days'].split(',')[self.planning_date.weekday()]})"
