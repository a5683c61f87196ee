"""Cells are read in one way, or asked about (SPEC T5, T7)."""

from typing import Literal

import pytest

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import CellStyle
from planner_mcp.formats.tables.cells.duration_parsing import duration_in
from planner_mcp.formats.tables.cells.number_parsing import amount_in, number_in, priority_in
from planner_mcp.formats.tables.cells.time_parsing import date_in, side_in, time_in
from planner_mcp.formats.tables.cells.window_parsing import next_day_end, windows_in
from planner_mcp.formats.tables.columns.column_style import style_of
from planner_mcp.formats.tables.columns.column_values import values_of


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1,200", ".", 1200),
        ("1,200", ",", 1.2),
        ("1.200", ",", 1200),
        ("12.5", "", 12.5),
        ("12,5", "", 12.5),
        ("-1,200,000.5", "", -1200000.5),
        ("4.0", "", 4),
        ("1，200", ".", 1200),
        ("1,500,000", "", 1500000),
        ("1'200", "", 1200),
        ("1 200,5", "", 1200.5),
        ("0,750", "", 0.75),
    ],
)
def test_numbers_are_read_as_their_column_is_written(text: str, decimal: Literal["", ".", ","], number: float) -> None:
    """SPEC T5: with marks, blanks or apostrophes between thousands."""
    assert number_in(text, "demand", "/2/qty", CellStyle(decimal)) == number


@pytest.mark.parametrize("text", ["1,500", "1.500", "1,2,3", "1_000", "1e5", "nan", "much", "--5"])
def test_what_may_be_two_numbers_or_none_is_reported_with_its_value(text: str) -> None:
    """SPEC T7: what was seen stands in the message."""
    fault = number_in(text, "demand", "/2/qty")
    assert isinstance(fault, Fault) and f'"{text}"' in fault.problem


@pytest.mark.parametrize(
    "text", ["3 x 25 kg", "2 Pal. / 300 kg", "2-3 pallets", "1/2 t", "5+3 boxes", "9 lb 8 oz", "3 boxes + 1 pallet"]
)
def test_a_unit_behind_a_second_number_is_not_that_of_the_first(text: str) -> None:
    """SPEC T7: three times 25 kg would be loaded as 3 kg; the column is one of amounts all the same."""
    fault = amount_in(text, "demand", "/2/qty")
    assert isinstance(fault, Fault) and f'"{text}"' in fault.problem
    assert values_of([text, text]).kind == "amounts"


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        *(("120 kg (4 Kartons)", 120), ("2 big pallets", 2), ("0.5 m3", 0.5), ("12 kg 3 boxes", 12)),
        *(("5 boxes 2nd floor", 5), ("10 kg 2.OG", 10), ("2 箱 3楼", 2)),
    ],
)
def test_what_stands_behind_a_unit_does_not_count(text: str, amount: float) -> None:
    """SPEC T5: nor do words before it, or the digit of a unit."""
    read = amount_in(text, "demand", "/2/qty")
    assert not isinstance(read, Fault) and read[0] == amount


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("two pallets", 2),
        ("drei Kartons", 3),
        ("cinq palettes", 5),
        ("vijf pallets", 5),
        ("eine Palette", 1),
        ("两箱", 2),
        ("十二件", 12),
    ],
)
def test_amounts_in_words_are_numbers_of_what_stands_behind(text: str, amount: float) -> None:
    """SPEC T5: a day was refused for such a cell."""
    read = amount_in(text, "demand", "")
    assert not isinstance(read, Fault)
    assert (read[0], read[1] is None) == (amount, False)
    assert values_of([text]).kind == "amounts"


def test_a_latitude_has_no_thousands() -> None:
    """SPEC T7: 39,953 is one place on the globe."""
    assert number_in("39,953", "lat", "/2/a", has_thousands=False) == 39.953


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15 min", 900),
        ("0:15", 900),
        ("00:15:00", 900),
        ("1h30", 5400),
        ("1小时20分", 4800),
        ("半小时", 1800),
        ("一刻钟", 900),
        ("一个半小时", 5400),
        ("十五分钟", 900),
        ("dreiviertel Stunde", 2700),
        ("anderthalb Stunden", 5400),
        ("un quart d’heure", 900),
        ("1 heure et demie", 5400),
        ("media hora", 1800),
        ("half an hour", 1800),
        ("eine Minute", 60),
        ("15'", 900),
        ("1,5 Std.", 5400),
        ("90 s", 90),
        ("1 h 30 min", 5400),
        ("20", 1200),
        ("7,5", 450),
    ],
)
def test_durations_are_read_with_their_unit(text: str, seconds: float) -> None:
    """SPEC T5: hours and minutes of a spreadsheet, words of five languages, numbers in the unit of their column."""
    assert duration_in(text, "/2/stop", unit_s=60) == seconds


def test_clocks_beside_durations_are_durations() -> None:
    """SPEC T5: of such a column only the sides of a window were asked about."""
    assert values_of(["90 min", "0:30", "1h", ""]).kind == "durations"
    assert values_of(["8h", "0:30", "9:15"]).kind == "times"


@pytest.mark.parametrize(("text", "unit_s"), [("quick", 60), ("15", 0), ("15 kg", 60), ("-5", 60), ("1:75", 60)])
def test_what_is_no_duration_is_refused(text: str, unit_s: float) -> None:
    """SPEC T7: nor is a number whose unit nobody knows."""
    fault = duration_in(text, "/2/stop", unit_s=unit_s)
    assert isinstance(fault, Fault) and f'"{text}"' in fault.problem


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2025/7/15 8:00", "2025-07-15T08:00:00"),
        ("2025-7-15 08:30:15", "2025-07-15T08:30:15"),
        ("2025年7月15日 8:00", "2025-07-15T08:00:00"),
        ("8:00 AM", "08:00"),
        ("12:15:30 a.m.", "00:15:30"),
        ("12:00pm", "12:00"),
        ("11：59 PM", "23:59"),
        ("2025-07-15T08:00:00+08:00", "2025-07-15T08:00:00+08:00"),
        ("15.07.2025 08:00", "2025-07-15T08:00:00"),
        ("9am", "09:00"),
        ("上午9点", "09:00"),
        ("9点半", "09:30"),
        ("下午3点", "15:00"),
        ("8h30", "08:30"),
        ("8 Uhr", "08:00"),
        ("13.07.2025 8:30", "2025-07-13T08:30:00"),
        ("45900", 45900),
        ("28800", 28800),
    ],
)
def test_times_of_spreadsheets_are_read(text: str, time: str | float) -> None:
    """SPEC T5: as CSV of a Chinese or an American spreadsheet has them; what has another order is left to be told."""
    assert time_in(text, "/2/open") == time


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("45853", "{} may mean seconds, or a day that lost its format."),
        ("45853.375", "{} may mean seconds, or a day that lost its format."),
        ("0.75", "{} may mean hours or seconds."),
        ("2025-07-15", "{} is a day, and no time."),
        ("2025年7月15日", "{} is a day, and no time."),
        ("soon", "{} is not a time."),
        ("25:70", "{} is not a time."),
        ("7/8/2025 8:00", "Day and month may be exchanged in {}."),
    ],
)
def test_what_is_no_time_is_refused_as_such(text: str, problem: str) -> None:
    """SPEC T7: a day that lost its format is not 12:44, and a day alone is no number."""
    parsed_value = time_in(text, "/2/open", style_of([text], "2025-07-15"))
    assert (parsed_value.problem if isinstance(parsed_value, Fault) else "") == problem.format(f'"{text}"')


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2025/7/5", "2025-07-05"),
        ("2025-07-05T00:00:00", "2025-07-05"),
        ("2025-07-05 08:00", ""),
        ("5.7.2025", "2025-07-05"),
        ("5/7/2025", ""),
    ],
)
def test_a_day_is_read_where_its_order_is_clear(text: str, day: str) -> None:
    """Our choice: midnight is how a spreadsheet writes a day alone."""
    assert date_in(text) == day


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("08:00-12:00", [["08:00", "12:00"]]),
        ("8：00～12：00", [["08:00", "12:00"]]),
        ("08:00 至 10:00；14:00到16:00:30", [["08:00", "10:00"], ["14:00", "16:00:30"]]),
        ("-", []),
        ("不限", []),
        ("Any", []),
        ("9-12", [["09:00", "12:00"]]),
        ("9:00~11:00", [["09:00", "11:00"]]),
        ("上午9点-下午3点", [["09:00", "15:00"]]),
        ("下午2点-4点", [["14:00", "16:00"]]),
        ("1-3pm", [["13:00", "15:00"]]),
        ("10-2pm", [["10:00", "14:00"]]),
        ("0800-1200", [["08:00", "12:00"]]),
        ("von 8 bis 12 Uhr und 14-17", [["08:00", "12:00"], ["14:00", "17:00"]]),
        ("de 9h à 12h", [["09:00", "12:00"]]),
        ("entre las 9 y las 12", [["09:00", "12:00"]]),
        ("between 9 and 12", [["09:00", "12:00"]]),
        ("from 10", [["10:00", "47:59"]]),
        ("ab 10 Uhr", [["10:00", "47:59"]]),
        ("10点以后", [["10:00", "47:59"]]),
        ("until noon", [["00:00", "12:00"]]),
        ("12点前", [["00:00", "12:00"]]),
        ("jusqu'à 12h", [["00:00", "12:00"]]),
        ("2025-07-15 08:00-12:00", [["2025-07-15T08:00", "2025-07-15T12:00"]]),
        ("AM", [["00:00", "12:00"]]),
        ("上午", [["00:00", "12:00"]]),
        ("Nachmittags", [["12:00", "18:00"]]),
        ("après-midi", [["12:00", "18:00"]]),
        ("l'après-midi", [["12:00", "18:00"]]),
        ("tarde", [["12:00", "18:00"]]),
        ("le matin", [["00:00", "12:00"]]),
        ("por la mañana", [["00:00", "12:00"]]),
        ("Por la tarde", [["12:00", "18:00"]]),
        ("am Vormittag", [["00:00", "12:00"]]),
        ("上午送达", [["00:00", "12:00"]]),
        ("tussen 9 en 12 uur", [["09:00", "12:00"]]),
        ("nach 10 Uhr", [["10:00", "47:59"]]),
        ("van 8 tot 12", [["08:00", "12:00"]]),
        ("tot 12:00", [["00:00", "12:00"]]),
        ("na 10", [["10:00", "47:59"]]),
        ("entro le 12", [["00:00", "12:00"]]),
        ("od 8 do 12", [["08:00", "12:00"]]),
        ("'s ochtends", [["00:00", "12:00"]]),
        ("das 08h às 10h", [["08:00", "10:00"]]),
        ("até às 18h", [["00:00", "18:00"]]),
        ("9:00 AM – 1:00 PM, 14:00 to 15:00;", [["09:00", "13:00"], ["14:00", "15:00"]]),
    ],
)
def test_a_window_in_one_cell_is_read(text: str, windows: list[list[str]]) -> None:
    """SPEC T5: as most exports of orders have it."""
    assert windows_in(text, "/2/window") == windows


@pytest.mark.parametrize(
    ("text", "planned", "windows"),
    [
        ("am 15.7. ab 10 Uhr", "2025-07-15", [["2025-07-15T10:00", "47:59"]]),
        ("Di. 15.7. 14-18 Uhr", "2025-07-15", [["2025-07-15T14:00", "2025-07-15T18:00"]]),
        ("Tue 15/07/2025 9-12", "2025-07-15", [["2025-07-15T09:00", "2025-07-15T12:00"]]),
        ("7月15日 上午", "2025-07-15", [["2025-07-15T00:00", "2025-07-15T12:00"]]),
        ("am 2.1. 8-9 Uhr", "2025-12-30", [["2026-01-02T08:00", "2026-01-02T09:00"]]),
        ("29.12. 8-9 Uhr", "2026-01-02", [["2025-12-29T08:00", "2025-12-29T09:00"]]),
    ],
)
def test_a_day_without_its_year_is_near_the_planning_date(text: str, planned: str, windows: list[list[str]]) -> None:
    """SPEC T5: such appointments were left out, as texts that nobody knows."""
    assert windows_in(text, "/2/window", CellStyle(planning_date=planned)) == windows
    assert values_of([text]).kind == "windows"


@pytest.mark.parametrize(
    "text",
    [
        "evening",
        "晚上",
        "早上",
        "08:00",
        "08:00-12:00-14:00",
        ";",
        "08:00-12:00; later",
        "nicht 15.7. 8-12",
        "Do 12:00",
    ],
)
def test_what_is_no_window_is_refused(text: str) -> None:
    """SPEC T7: a day without its windows would be another's."""
    parsed_value = windows_in(text, "/2/window")
    assert isinstance(parsed_value, Fault) and (parsed_value.path, parsed_value.problem) == (
        "/2/window",
        f'"{text}" is no time window.',
    )


TUESDAY, SATURDAY, SUNDAY = "2025-07-15", "2025-07-19", "2025-07-20"


@pytest.mark.parametrize(
    ("text", "day", "windows"),
    [
        ("Mo-Fr 9-17", TUESDAY, [["09:00", "17:00"]]),
        ("周一至周五 9:00-17:00", TUESDAY, [["09:00", "17:00"]]),
        ("周一至五 9:00-12:00、13:00-17:00", TUESDAY, [["09:00", "12:00"], ["13:00", "17:00"]]),
        ("工作日 9-18", SATURDAY, [["2025-07-21T09:00", "2025-07-21T18:00"]]),
        ("每天 9:00-18:00", SUNDAY, [["09:00", "18:00"]]),
        ("Mon–Fri 08:00–18:00, Sat 9–12", SATURDAY, [["09:00", "12:00"]]),
        ("Monday to Friday from 9am to 5pm", TUESDAY, [["09:00", "17:00"]]),
        ("9-17 Mo-Fr", TUESDAY, [["09:00", "17:00"]]),
        ("Di-Do 8-12", TUESDAY, [["08:00", "12:00"]]),
        ("Lu-Di 8-12", SUNDAY, [["08:00", "12:00"]]),
        ("Ma-Di 8-12", SUNDAY, [["08:00", "12:00"]]),
        ("Fr-Mo 8-12", SUNDAY, [["08:00", "12:00"]]),
        ("Mo, Mi, Fr: 8:00-12:00", TUESDAY, [["2025-07-16T08:00", "2025-07-16T12:00"]]),
        ("Sun closed; Mon-Sat 10-20", SUNDAY, [["2025-07-21T10:00", "2025-07-21T20:00"]]),
        ("周末休息", TUESDAY, []),
        ("Mo-Fr 9-17 PH off", TUESDAY, [["09:00", "17:00"]]),
        ("Mo-Sa 8-18; Su, PH 10-14", SUNDAY, [["10:00", "14:00"]]),
        ("8-18; PH closed", SUNDAY, [["08:00", "18:00"]]),
        ("PH off; Mo-Fr 9-17", TUESDAY, [["09:00", "17:00"]]),
        ("Mo-Fr 9-17, feiertags 10-12", TUESDAY, [["09:00", "17:00"]]),
        ("周一至周五 9:00-17:00 节假日休息", TUESDAY, [["09:00", "17:00"]]),
        ("Mo-Fr", TUESDAY, []),
        ("Mo-Fr", SATURDAY, [["2025-07-21T00:00", "2025-07-21T23:59"]]),
    ],
)
def test_hours_by_weekday_are_those_of_the_planning_date(text: str, day: str, windows: list[list[str]]) -> None:
    """SPEC T5: or those of the next day that is open, when nobody can be served today."""
    assert windows_in(text, "/2/window", CellStyle(planning_date=day)) == windows


def test_a_window_that_is_refused_says_how_to_write_that_there_is_no_limit() -> None:
    """SPEC T7: of ASAP nobody knew what to make."""
    refused = windows_in("ASAP", "/2/window")
    assert isinstance(refused, Fault)
    assert "any where there is no limit" in refused.hint
    assert windows_in("any", "/2/window") == []


def test_a_letter_is_a_half_of_the_day_in_a_window_alone() -> None:
    """SPEC T5: `6a-11a` are hours; a house number `12a` is no time."""
    assert windows_in("6a-11a", "/2/window") == [["06:00", "11:00"]]
    assert windows_in("9a-5p", "/2/window") == [["09:00", "17:00"]]
    assert isinstance(time_in("12a", "/2/from"), Fault)


@pytest.mark.parametrize(
    ("text", "day", "accepted"),
    [
        ("Mo-Fr 9-17", "", "planning_date as YYYY-MM-DD"),
        ("Mo-Fr 9-17; Sa noonish", TUESDAY, "Mo-Fr 09:00-17:00; Sa 10:00-14:00"),
        ("Mon-Sun closed", TUESDAY, "Mo-Fr 09:00-17:00; Sa 10:00-14:00"),
    ],
)
def test_hours_by_weekday_that_are_not_clear_are_refused(text: str, day: str, accepted: str) -> None:
    """SPEC T5, T7: never silence, also about the days that do not count today."""
    fault = windows_in(text, "/2/window", CellStyle(planning_date=day))
    assert isinstance(fault, Fault)
    assert fault.accepted == accepted
    assert text in fault.problem


@pytest.mark.parametrize(
    ("opens", "closes", "end"),
    [("22:00", "06:00", "30:00"), ("14:00", "02:00", "26:00"), ("22:00", "00:00", "24:00")],
)
def test_hours_over_midnight_end_on_the_next_day(opens: str, closes: str, end: str) -> None:
    """SPEC T5: night shifts, as people write them."""
    assert next_day_end(opens, closes) == end


@pytest.mark.parametrize(
    ("opens", "closes"),
    [("08:00", "12:00"), ("17:00", "08:00"), ("11:00", "09:00"), ("22:00", "30:00"), (79200, 21600), ("22:00", "x")],
)
def test_hours_that_are_rather_a_mistake_stay_as_they_are(opens: str, closes: str) -> None:
    """SPEC T5: a day that is written backwards is refused later, with its place."""
    assert next_day_end(opens, closes) is None


@pytest.mark.parametrize(
    ("text", "priority"), [("7", 7), ("High", 7), ("sehr  normal", None), ("élevée", 7), ("紧急", 9), ("A", 7)]
)
def test_priorities_are_numbers_or_words(text: str, priority: int | None) -> None:
    """SPEC T5, T7: a word that is none says which numbers and words are accepted."""
    read = priority_in(text, "/2/Prio")
    if priority is None:
        assert isinstance(read, Fault)
        assert read.accepted == "1 (least) to 9 (most), or low, normal, high, urgent"
    else:
        assert read == priority


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("08:00-12:00\n14:00-16:00", [["08:00", "12:00"], ["14:00", "16:00"]]),
        ("8-12 Uhr\r\n14-16 Uhr", [["08:00", "12:00"], ["14:00", "16:00"]]),
        ("from 8:00\nto 12:00", [["08:00", "12:00"]]),
        ("Mo-Fr 8-12\n13-17", [["08:00", "12:00"], ["13:00", "17:00"]]),
    ],
)
def test_lines_of_a_cell_are_windows_of_their_own(text: str, windows: list[list[str]]) -> None:
    """SPEC T5: unless they are one together."""
    assert windows_in(text, "/2/slot", CellStyle(planning_date="2025-07-15")) == windows


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("2025-07-19 22:00-30:00", [["2025-07-19T22:00", "2025-07-20T06:00"]]),
        (
            "2025-07-19 9-12; 2025-07-21 8-9",
            [["2025-07-19T09:00", "2025-07-19T12:00"], ["2025-07-21T08:00", "2025-07-21T09:00"]],
        ),
        ("Sa 20:00-24:00", [["2025-07-19T20:00", "2025-07-20T00:00"]]),
        ("Sa ab 10", [["2025-07-19T10:00", "2025-07-20T23:59"]]),
        ("2025-07-15 ab 10", [["2025-07-15T10:00", "47:59"]]),
        ("31.02.2025 20:00-24:00", [["2025-02-31T20:00", "2025-02-31T24:00"]]),
    ],
)
def test_windows_of_later_days_have_their_day(text: str, windows: list[list[str]]) -> None:
    """SPEC T5: hours past midnight are of the day after; a day that there is not stays as it was written."""
    assert windows_in(text, "/2/slot", CellStyle(planning_date="2025-07-15")) == windows


@pytest.mark.parametrize(
    ("cells", "times"),
    [
        (("8", "8.5", "8.25"), ["08:00", "08:30", "08:15"]),
        (("17.75", "8,25"), ["17:45", "08:15"]),
        (("8.25", "8.50", "9"), ["08:25", "08:50", "09:00"]),
        (("8.15", "8.5", "9"), ["08:15", "08:30", "09:00"]),
    ],
)
def test_hours_with_decimals_are_quarters_where_one_of_a_column_is(cells: tuple[str, ...], times: list[str]) -> None:
    """SPEC T5: beside 8.5 a cell of 8.25 is a quarter past; other columns have hours and minutes."""
    style = style_of(cells, "2025-07-15")
    assert [time_in(cell, "/2/open", style) for cell in cells] == times


@pytest.mark.parametrize(
    ("cell", "window"),
    [
        ("午前中", ["00:00", "12:00"]),
        ("午後", ["12:00", "18:00"]),
        ("午前9時-午後3時", ["09:00", "15:00"]),
        ("9時〜12時", ["09:00", "12:00"]),
        ("12時まで", ["00:00", "12:00"]),
        ("manhã", ["00:00", "12:00"]),
        ("odpoledne", ["12:00", "18:00"]),
        ("förmiddag", ["00:00", "12:00"]),
    ],
)
def test_windows_of_more_languages_are_read(cell: str, window: list[str]) -> None:
    """SPEC T5: tables whose headers are known are not refused for their halves of the day."""
    assert windows_in(cell, "", CellStyle()) == [window]


@pytest.mark.parametrize(
    "text",
    [
        "07-Dec-2026",
        "7-Dec-26",
        "December 7, 2026",
        "Mo, 7. Dezember 2026",
        "lundi 7 décembre 2026",
        "7 de dic. de 2026",
        "07/Dec/26",
        "07.Dez.2026",
    ],
)
def test_a_day_may_name_its_month(text: str) -> None:
    """SPEC T5: a list of two days was planned as one, for such days were texts."""
    assert date_in(text) == "2026-12-07"
    assert time_in(f"{text} 8:30 AM", "") == "2026-12-07T08:30:00"
    assert date_in("7 Dec 26") == "2026-12-07", "the last two figures are no hours"


@pytest.mark.parametrize("text", ["2 set", "3 out", "mar 8-12", "may", "7 Dec 8"])
def test_a_word_that_may_be_a_month_makes_no_day_without_a_year(text: str) -> None:
    """SPEC T5: two sets are an amount, and mar is a Tuesday in French."""
    assert not date_in(text)


@pytest.mark.parametrize("text", ["1-4", "after 3", "until 5", "2:00-4:00", "Mo-Fr 1-4", "9am-11am and 1-4"])
def test_an_hour_of_either_half_of_the_day_is_refused_beside_am_and_pm(text: str) -> None:
    """SPEC T5: a shop open from one to four was planned at night; 8-10 is a morning."""
    problem = f'"{text}" may be of the morning or of the afternoon.'
    style = style_of(["8 AM - 12 PM", text], "2026-12-07")
    read = windows_in(text, "", style)
    assert isinstance(read, Fault) and read.problem == problem
    assert "am" in text or isinstance(windows_in(text, "", style_of([text], "2026-12-07")), list)
    assert windows_in("8-10", "", style) == [["08:00", "10:00"]]
    assert windows_in("1-4pm", "", style) == [["13:00", "16:00"]]
    assert windows_in("6:00-14:00", "", style) == [["06:00", "14:00"]], "hours of 24 are of one half"


def test_a_begin_of_either_half_of_the_day_is_refused_beside_am_and_pm() -> None:
    """SPEC T5: so it is in a column of times, with minutes or without."""
    for text in ("1:30", "2"):
        read = time_in(text, "", style_of(["8:00 AM", text], ""))
        assert isinstance(read, Fault) and read.accepted == "am or pm, as in other cells"


@pytest.mark.parametrize("text", ["6 a 10", "de 6 a 10", "6 a las 10"])
def test_a_word_of_one_letter_between_two_hours_is_no_half_of_the_day(text: str) -> None:
    """SPEC T5: `6-10` beside a Spanish `6 a 10` was refused."""
    assert windows_in("6-10", "", style_of([text, "6-10"], "")) == [["06:00", "10:00"]]


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("Morning (8am-12pm)", ["08:00", "12:00"]),
        ("Abends (18-20 Uhr)", ["18:00", "20:00"]),
        ("上午（9-12）", ["09:00", "12:00"]),
        ("Afternoon (1-5)", ["13:00", "17:00"]),
        ("PM (until 5)", ["00:00", "17:00"]),
        ("Abend (ab 6)", ["18:00", "47:59"]),
        ("下午（1-5点）", ["13:00", "17:00"]),
    ],
)
def test_hours_may_stand_behind_the_part_of_the_day_that_they_are(text: str, window: list[str]) -> None:
    """SPEC T5: forms offer them so; they are hours of that part, not from one in the night."""
    assert windows_in(text, "") == [window]


@pytest.mark.parametrize("text", ["closed (12-14)", "Di (9-11)", "Huber (2)"])
def test_other_words_before_hours_in_brackets_are_not_passed_over(text: str) -> None:
    """SPEC T5: hours at which nobody is there, or of another day, are no window."""
    read = windows_in(text, "", CellStyle(planning_date="2026-12-07"))
    assert read != [["09:00", "11:00"]] and (isinstance(read, Fault) or "2026-12-08" in read[0][0])


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("9u30-11u", [["09:30", "11:00"]]),
        ("voor 12u", [["00:00", "12:00"]]),
        ("nicht vor 10 Uhr", [["10:00", "47:59"]]),
        ("niet na 15u", [["00:00", "15:00"]]),
        ("bis spätestens 11 Uhr", [["00:00", "11:00"]]),
        ("9-11 or 14-16", [["09:00", "11:00"], ["14:00", "16:00"]]),
        ("8–9 oder 17–18 Uhr", [["08:00", "09:00"], ["17:00", "18:00"]]),
        ("10 or later", [["10:00", "47:59"]]),
        ("8\u201112", [["08:00", "12:00"]]),
    ],
)
def test_windows_of_belgium_and_of_two_halves_are_read(text: str, windows: list[list[str]]) -> None:
    """SPEC T5: all of them were refused, as was a hyphen that breaks no line."""
    assert windows_in(text, "") == windows


@pytest.mark.parametrize(
    "text", ["from 8, until 12", "bis 12 Uhr, ab 8 Uhr", "nicht vor 8, nicht nach 12", "not before 8 and not after 12"]
)
def test_a_begin_and_an_end_that_are_named_apart_are_one_window(text: str) -> None:
    """SPEC T5: as two windows, from eight and until twelve, they left every hour of the day."""
    assert windows_in(text, "") == [["08:00", "12:00"]]
    assert windows_in("until 9, from 14", "") == [["00:00", "09:00"], ["14:00", "47:59"]]


def test_from_six_to_six_is_no_window() -> None:
    """SPEC T5: it is half a day, and was an appointment at six; one at 06:00-06:00 stays one."""
    assert isinstance(windows_in("6-6", ""), Fault) and isinstance(windows_in("8-8 Uhr", ""), Fault)
    assert windows_in("8-8pm", "") == [["08:00", "20:00"]]
    assert windows_in("0-0", "") == [["00:00", "00:00"]], "all day"
    assert windows_in("06:00-06:00", "") == [["06:00", "06:00"]]


def test_a_number_before_u_is_an_amount_outside_of_windows_and_times() -> None:
    """SPEC T5: 12 u is twelve pieces too, which were asked about as times; a begin of 9u is one."""
    assert values_of(["12u", "3 u"]).kind == "amounts"
    assert side_in("9u", "", is_end=False) == "09:00"
