"""Tables with a column for each day of the week (SPEC T5)."""

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.tables.columns.weekday_columns import with_weekdays
from planner_mcp.formats.tables.import_options import ImportedScenario
from tests.shared.formats.day_tables import imported_day, refused, table

MARKED = "id,address,Mo,Di,Mi\na,Weg 1,x,,x\nb,Weg 2,,x,\n"
HOURS = "id,address,Monday,Tuesday,Wednesday\na,Weg 1,8-12,13-17,closed\nb,Weg 2,9-17,closed,9-16\n"
TUESDAY = "2025-07-15"


def tickets(text: str, **options: object) -> list[str]:
    """Return the ids of the tickets of a day."""
    return [ticket["id"] for ticket in imported_day(text, **options).body["tickets"]]


def test_rows_of_other_weekdays_are_asked_about() -> None:
    """SPEC T5: customers of Monday were planned on Tuesday, as five columns of crosses were left out."""
    (asked,) = refused(MARKED)
    assert asked.problem == (
        'Column "Mo - Mi" is not used: '
        "some rows are of other days, passed over if it is used; it has texts (Mo, We, Tu)."
    )
    assert tickets(MARKED, columns={"Mo - Mi": "date"}) == ["b"]
    for mark in ("1", "√", "✓"):
        assert tickets(MARKED.replace("x", mark), columns={"Mo - Mi": "date"}) == ["b"]


def test_the_hours_of_each_day_are_those_of_the_planning_date() -> None:
    """SPEC T5: whoever answered `window` to one day of five had its hours on each day."""
    day = imported_day(HOURS)
    windows = [ticket["time_windows"] for ticket in day.body["tickets"]]
    assert windows == [[["13:00", "17:00"]], [["2025-07-16T09:00", "2025-07-16T16:00"]]]
    assert 'Columns of weekdays are read as one: "Monday - Wednesday".' in day.assumptions
    kept: ImportedScenario = imported_day(HOURS, columns=day.proposals["tickets"].fields)
    assert kept.body == day.body


@pytest.mark.parametrize(
    ("tuesday", "windows"),
    [
        ("8–12", [["08:00", "12:00"]]),
        ("8 to 12", [["08:00", "12:00"]]),
        ("-", [["2025-07-16T09:00", "2025-07-16T16:00"]]),
        ("x", [["00:00", "24:00"]]),
        ("24h", [["00:00", "24:00"]]),
    ],
)
def test_a_day_may_be_closed_or_open_for_all_of_it(tuesday: str, windows: list[list[str]]) -> None:
    """SPEC T5: one dash, or one cross, among the hours of a week had all of them left out without a word."""
    day = imported_day(f"id,address,Mo,Di,Mi\na,Weg 1,8-12,{tuesday},9-16\n")
    assert day.body["tickets"][0]["time_windows"] == windows


def test_hours_of_a_week_of_which_one_cannot_be_read_are_asked_about() -> None:
    """SPEC T5: one word among the hours of a week had all of them left out."""
    text = "id,address,Mo,Di,Mi\na,Weg 1,8-12,nach Absprache,9-16\n"
    (asked,) = refused(text)
    assert asked.problem.startswith('Column "Mo - Mi" is not used') and asked.accepted == "window or notes"
    with pytest.raises(InputError) as answered:
        imported_day(text, columns={"Mo - Mi": "window"})
    assert "nach Absprache" in answered.value.errors[0].problem


@pytest.mark.parametrize("header", ["ma,di,wo,do,vr,za,zo", "lu,ma,me,je,ve,sa,di", "lun,mar,mer,gio,ven,sab,dom"])
def test_days_of_one_letter_or_two_are_those_of_the_language_of_all(header: str) -> None:
    """SPEC T5: `ma` is Monday in Dutch and Tuesday in French, and Tuesday alone."""
    days = header.split(",")
    rows = "".join(f"{at},Weg {at}{',' * at}x{',' * (7 - at)}\n" for at in range(1, len(days) + 1))
    text = f"id,address,{header}\n{rows}"
    assert tickets(text, columns={f"{days[0]} - {days[-1]}": "date"}) == ["2"]


@pytest.mark.parametrize("text", ["id,address,Mo,Di\na,Weg 1,x,\n", "id,address,Mo,Di,Mi\na,Weg 1,12,-,3\n"])
def test_other_columns_of_such_names_stay_as_they_are(text: str) -> None:
    """SPEC T5: two words may be names of anything, and numbers are amounts of each day, which are asked about."""
    assert "Di" in with_weekdays(table(text), {}).headers


def test_a_day_that_the_caller_names_stays_as_it_is() -> None:
    """SPEC T5: whoever knows better names the field."""
    assert tickets(MARKED, columns={"Mo": "notes", "Di": "", "Mi": ""}) == ["a", "b"]


def test_the_hours_of_a_day_may_have_a_begin_and_an_end_of_their_own() -> None:
    """SPEC T5: the hours of Monday were those of each day, and Tuesday's were asked about."""
    text = "id,address,Mo von,Mo bis,Di von,Di bis\na,Weg 1,8:00,12:00,13:00,17:00\nb,Weg 2,9:00,11:00,10:00,\n"
    windows = [[["13:00", "17:00"]], [["10:00", "47:59"]]]
    for figures in (text, text.replace(":00", "")):
        assert [ticket["time_windows"] for ticket in imported_day(figures).body["tickets"]] == windows


def test_hours_of_weekdays_are_joined_with_their_ends_alone() -> None:
    """SPEC T5: the begins of a week were one column, and each of its ends was asked about as a time by itself."""
    text = "id,address,Lun apertura,Lun {0},Mar apertura,Mar {0}\na,Weg 1,8:00,12:00,13:00,17:00\n"
    assert imported_day(text.format("chiusura")).body["tickets"][0]["time_windows"] == [["13:00", "17:00"]]
    text = "id,address,Lun apertura,Lun xx,Mar apertura,Mar xx,Mer apertura,Mer xx\na,Weg 1,8,12,8,12,8,12\n"
    assert "Lun apertura" in with_weekdays(table(text), {}).headers


def test_agents_of_other_weekdays_are_noted() -> None:
    """SPEC T5: a driver who works on Mondays was sent out on Tuesday, and nothing said so."""
    note = "Agents of other weekdays than the planning date in {}, read all the same: 1."
    day = imported_day("id,address\na,Weg 1\n", "id,capacity,Mo,Di,Mi\nv,9,x,,x\nw,9,x,x,x\n")
    assert note.format("Mo - Mi") in day.assumptions
    day = imported_day("id,address\na,Weg 1\n", "id,capacity,Days\nv,9,Mon-Fri\nw,9,Wed\n")
    assert note.format("Days") in day.assumptions
    day = imported_day("id,address\na,Weg 1\n", "id,capacity,Zone\nv,9,NW\nw,9,SO\n")
    assert not any("other weekdays" in each for each in day.assumptions), "SO is the south-east too"
    day = imported_day("id,address\na,Weg 1\n", "id,capacity,Country\nv,9,FR\nw,9,FR\n")
    assert not any("other weekdays" in each for each in day.assumptions), "FR is France"
