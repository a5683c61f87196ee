"""What a driver's calendar gets (SPEC T5), by the rules of RFC 5545."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from planner_mcp.render.driver_calendar import calendar, of_route
from tests.shared.scenarios.planned_days import plan_of

MADE: datetime = datetime(2026, 11, 23, 21, 0, 5, tzinfo=UTC)
NASTY = "Ann; Bob, \\N\r\nEND:VEVENT\nATTENDEE:x\x00\x7f"
DAY: dict[str, Any] = {
    "name": "Round",
    "planning_date": "2026-11-24",
    "depot": "D",
    "travel": {"detour": 1},
    "locations": [{"id": "D", "lat": 39.9, "lon": 116.4}, {"id": "A", "lat": 39.95, "lon": 116.4}],
    "agents": [{"id": "v1", "capacity": 9, "shift_start": "23:00"}, {"id": "v2", "capacity": 9}],
    "tickets": [
        {
            "id": "t1",
            "location": "A",
            "demand": 2,
            "name": "Ann",
            "phone": "12",
            "notes": "ring",
            "service_time_s": 3600,
        },
        {"id": "t2", "location": "A", "demand": 0, "address": "建国路" * 30},
    ],
}


def events(text: str) -> list[dict[str, str]]:
    """Return the properties of each event of a file, its lines unfolded."""
    parts = text.replace("\r\n ", "").split("BEGIN:VEVENT\r\n")[1:]
    return [dict(line.split(":", 1) for line in part.split("\r\nEND:VEVENT")[0].split("\r\n")) for part in parts]


def test_each_stop_is_an_event_on_the_drivers_clock() -> None:
    """SPEC T5: RFC 5545, sections 3.3.5 (floating times, past midnight too), 3.6.1 and 3.8.7.2 (DTSTAMP in UTC)."""
    event, other = events(calendar(DAY, plan_of(DAY, [0], [1]), made_at=MADE))
    assert event == {
        "DTSTAMP": "20261123T210005Z",
        "UID": event["UID"],
        "DTSTART": "20261124T230800",
        "DTEND": "20261125T000800",
        "SUMMARY": "v1: 1. Ann (t1)",
        "GEO": "39.950000;116.400000",
        "DESCRIPTION": "送货 2\\n12\\nring",
    }
    assert other["SUMMARY"] == "v2: 1. t2" and event["UID"] != other["UID"]


def test_an_event_ends_after_it_begins() -> None:
    """SPEC T5: RFC 5545, section 3.8.2.2, also of a stop of no time half past a minute."""
    (route, *_) = plan_of(DAY, [0], [1]).routes
    (visit,) = route.visits
    at = 28_890.0
    short = replace(route, visits=(replace(visit, arrival_s=at, start_s=at, departure_s=at),))
    (event,) = events(calendar(DAY, replace(plan_of(DAY, [0], [1]), routes=(short,)), made_at=MADE))
    assert (event["DTSTART"], event["DTEND"]) == ("20261124T080200", "20261124T080300")


def test_a_break_is_an_event_of_its_own_hours() -> None:
    """SPEC T5: who waits for her break from 11:00 has it from 12:00, as the sheet says."""
    (route, *_) = plan_of(DAY, [0], [1]).routes
    (visit,) = route.visits
    rest = replace(visit, kind="break", ticket_id=None, location=None, start_s=43_200.0, departure_s=45_000.0)
    waited = replace(route, visits=(replace(rest, arrival_s=39_600.0),))
    (event,) = events(calendar(DAY, replace(plan_of(DAY, [0], [1]), routes=(waited,)), made_at=MADE))
    assert (event["DTSTART"], event["DTEND"]) == ("20261124T120000", "20261124T123000")
    moment = replace(route, visits=(replace(rest, arrival_s=39_600.0, departure_s=43_200.0),))
    (event,) = events(calendar(DAY, replace(plan_of(DAY, [0], [1]), routes=(moment,)), made_at=MADE))
    assert event["DTEND"] == "20261124T120100", "an event ends after its begin (RFC 5545, section 3.6.1)"


def test_the_calendar_of_a_driver_has_no_stop_of_another() -> None:
    """SPEC T5: a file a driver; a later plan moves the same event."""
    plan = plan_of(DAY, [0], [1])
    part = of_route(plan, 2)
    assert part is not None and of_route(plan, 3) is None and of_route(plan, 0) is None
    (event,) = events(calendar(DAY, part, made_at=MADE))
    assert event["SUMMARY"] == "1. t2"
    assert event["UID"] == events(calendar(DAY, plan, made_at=MADE))[1]["UID"]


def test_lines_are_folded_within_75_octets_and_between_characters() -> None:
    """SPEC T5: RFC 5545, section 3.1."""
    text = calendar(DAY, plan_of(DAY, [0], [1]), made_at=MADE)
    lines = text.encode().split(b"\r\n")
    assert max(map(len, lines)) <= 75 and all(line.decode() for line in lines[:-1]) and lines[-1] == b""
    assert f"LOCATION:{'建国路' * 30}\r\n" in text.replace("\r\n ", "")


def test_no_text_of_a_caller_begins_a_line() -> None:
    """SPEC X3: no property is added and no event ended by a name."""
    tickets = [{**DAY["tickets"][0], "name": NASTY, "notes": NASTY}, DAY["tickets"][1]]
    text = calendar({**DAY, "tickets": tickets}, plan_of(DAY, [0], [1]), made_at=MADE)
    names = {re.split("[:;]", line)[0] for line in text.replace("\r\n ", "").split("\r\n") if line}
    allowed = {"BEGIN", "END", "VERSION", "PRODID", "CALSCALE", "X-WR-CALNAME"}
    assert names <= allowed | {"UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "LOCATION", "GEO", "DESCRIPTION"}
    assert text.count("\n") == text.count("\r\n") and text.count("END:VEVENT\r\n") == 2
    assert events(text)[0]["SUMMARY"] == "v1: 1. Ann\\; Bob\\, \\\\N\\nEND:VEVENT\\nATTENDEE:x (t1)"


def test_whoever_may_not_see_positions_gets_none() -> None:
    """SPEC R3: a rounded one would lead astray."""
    assert all(
        "GEO" not in event for event in events(calendar(DAY, plan_of(DAY, [0], [1]), made_at=MADE, is_exact=False))
    )
