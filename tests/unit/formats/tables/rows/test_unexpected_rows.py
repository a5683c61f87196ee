"""Rows that are no tickets (SPEC T5, T7)."""

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.rows.unexpected_rows import (
    absent_notices,
    crew_notices,
    inactive_notices,
    other_date_notices,
)
from tests.shared.formats.day_tables import day_of, imported_day, table

NOWHERE = "The row has no place."


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("id,place,qty\na,A,1\nb,B,2.5\nTotal:,,3.5\n", [4]),
        ("id,place,qty\na,A,1\nb,B,2\n,合计,3\n", [4]),
        ("id,qty\na,1\nb,2\n,3\n", [4]),
        ("no,id,qty\n1,a,1\n2,b,2\nGrand total,,3\n", [4]),
        ("id,qty\na,1\nb,2\nsubtotal,3\nc,4\nd,5\nsubtotal,9\ntotal,12\n", [4, 7, 8]),
        ("address,qty,skills\nX,1,\nY,2,cold\n,3,\n", [4]),
        ("id,place,qty\na,A,1\nb,B,2\nSumme,,17\n", [4]),
        ("id,place,qty\na,A,1\nb,B,2\n,Razem,3\n", [4]),
        ("id,place,qty\na,A,1\nb,B,2\n,Totaal,3\n", [4]),
        ("id,place,qty\na,A,1\nb,B,2\n,Totale,3\n", [4]),
        ("Lieferung,place,qty\n80012345,A,1\n80012346,B,2\nSumme,,3\n", [4]),
        ("id,place,qty\na,A,1\nb,B,2\nTotal: 2 orders,,3\n", [4]),
        ("Stop,address,qty\na,Ring 1,1\nb,Ring 2,2\nTotal 2 stops,,3\n", [4]),
        ("单号,地址,件数\na,建国路1号,1\nb,建国路2号,2\n合计（2单）,,3\n", [4]),
        ("id,address,boxes\na,Ring 1,1\nb,Ring 2,2\nTotal boxes,3,\n", [4]),
        ("id,address,boxes\na,Ring 1,1\nb,Ring 2,2\nTotal,3,\n", [4]),
        ("address,boxes\nRing 1,1\nRing 2,2\nTotal boxes,3\n", [4]),
    ],
)
def test_a_total_below_a_table_is_passed_over_and_reported(text: str, lines: list[int]) -> None:
    """SPEC T5: a total is no order that is as heavy as all of them."""
    day = day_of(text)
    assert day.faults == []
    assert [notice for notice in day.assumed() if "passed over" in notice] == [
        f"Row {line} adds up those above it and is passed over." for line in lines
    ]
    assert len(day.tickets) == len(text.splitlines()) - 1 - len(lines)


def test_notes_below_the_totals_are_passed_over_and_reported() -> None:
    """SPEC T5: what colours mean, or who printed the list, is no order; a row with more may be one."""
    head, foot = "id,place,qty\na,A,1\nb,B,2\nTotal,,3\n", "yellow = paid,,\n,,printed on Monday\n"
    day = day_of(head + foot)
    assert (day.faults, [ticket["id"] for ticket in day.tickets]) == ([], ["a", "b"])
    assert 'Lines below the totals, passed over: 2 ("yellow = paid", "printed on Monday").' in day.assumed()
    for late in ("c,C,1\n", "c,,1\n", "A-4,,\n"):
        day = day_of(head + foot + late)
        assert NOWHERE in {fault.problem for fault in day.faults}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("id,place,qty\na,A,1\nb,B,2\nPrinted on Monday,,\n", [("/4", NOWHERE)]),
        ("id,lat,lon\na,39.9,116.4\nb,,\n", [("/3", NOWHERE)]),
        ("id,place,qty\na,A,1\nb,B,2\nTotal Energies,,5\n", [("/4", NOWHERE)]),
    ],
)
def test_a_row_without_a_place_is_reported_by_its_number(text: str, faults: list[tuple[str, str]]) -> None:
    """SPEC T7: it may be an order whose place was forgotten."""
    day = day_of(text)
    assert [(fault.path, fault.problem) for fault in day.faults] == faults


@pytest.mark.parametrize(
    "text",
    [
        "id,place,qty\na,A,1\nb,B,1\nTotal,C,5\n",
        "id,place,qty\na,A,1\nb,B,2\nc,C,3\n",
        "lat,lon,qty\n39.9,116.4,1\n39.8,116.4,2\n39.7,116.4,3\n",
        "qty\n1\n1\n2\n",
        "id,qty\nTotal,1\nb,1\n",
        "id,place,qty\na,,1\nb,,2\n",
        "id,place,qty\na,A,0\nb,B,0\ntotal,C,0\n",
        "Stop,address,qty\na,Ring 1,1\nb,Ring 2,2\nTotal Energies,Ring 3,3\n",
        "Stop,qty\na,1\nb,2\nTotal Energies,3\n",
        "id,address,qty\na,Ring 1,1\nb,Ring 2,2\nTotal Energies,5,\n",
    ],
)
def test_a_row_that_may_be_a_ticket_is_one(text: str) -> None:
    """SPEC T5: a shop may be called Total, a load be as large as those above it; without any place each is its own."""
    day = day_of(text)
    assert day.faults == []


def test_a_total_is_no_vehicle() -> None:
    """SPEC T7: as large as all others together."""
    day = day_of(agents="车牌,容量\nv,5\nw,7\n合计,12\n")
    assert [agent["id"] for agent in day.agents] == ["v", "w"]


@pytest.mark.parametrize(
    "text",
    [
        "capacity,skills\n100,\n100,cold\n200,\n",
        "driver,capacity\n,10\n,10\n,20\n",
        "driver,capacity\nann,10\n,10\n,20\n",
    ],
)
def test_a_vehicle_as_large_as_those_above_is_one_where_others_have_no_name_either(text: str) -> None:
    """SPEC T5: a fleet may be a table of sizes; a wish that one of them has is no name."""
    day = day_of(agents=text)
    assert (day.faults, len(day.agents)) == ([], 3)


def test_orders_of_another_day_are_reported() -> None:
    """SPEC T5: a table of a week has a column of days that is left out."""
    read = table("id,place,date,made,note\na,A,2025-07-15,2025/7/15,x\nb,B,2025/7/16,2025/7/15,2025-07-16\n")
    notices = list(other_date_notices(read, propose_mapping(read, "tickets", {"note": ""}), "2025-07-15"))
    assert notices == ["Rows with another day than the planning date in date, read all the same: 1."]
    read = table("id,place,note\na,A,15/07/2025\nb,B,09/07/2025\n")  # the 15th shows the order of both
    notices = list(other_date_notices(read, propose_mapping(read, "tickets", {"note": ""}), "2025-07-15"))
    assert notices == ["Rows with another day than the planning date in note, read all the same: 1."]


def test_a_point_that_may_separate_thousands_is_reported() -> None:
    """SPEC T5: where cells are parted by semicolons, 1.200 may be a ton; other columns settle it, and it is said."""
    notice = '1.200 in "qty" is read with the mark "." before decimals.'
    for mark, notices in ((";", [notice]), (",", [])):
        day = day_of("id;lat;lon;qty\na;39.953;116.405;1.200\n".replace(";", mark))
        assert day.assumed() == notices


DAYS = "id,place,{},kg\na,A,16.07.2025,5\nb,B,17.07.2025,7\nc,C,,1\n"


@pytest.mark.parametrize("header", ["Datum", "Appt date", "预约日期", "Fecha de visita", "Next due", "Termin"])
def test_days_of_which_some_are_planned_are_asked_about(header: str) -> None:
    """SPEC T5: who is expected on Thursday is not to be visited on Wednesday."""
    (fault,) = day_of(DAYS.format(header), planning_date="2025-07-16").faults
    assert (fault.path, fault.accepted, fault.kind) == ("columns", "date", "missing")
    assert "some rows are of other days, passed over if it is used" in fault.problem
    assert day_of(DAYS.format(header), chosen={header: ""}, planning_date="2025-07-16").faults == []


@pytest.mark.parametrize(
    "header",
    ["Bestelldatum", "order date", "下单日期", "Last visit", "Letzte Reinigung", "Printed", "Erfasst am", "创建日期"],
)
def test_days_of_orders_are_not_asked_about(header: str) -> None:
    """SPEC T5: they say nothing of the visit."""
    assert day_of(DAYS.format(header), planning_date="2025-07-16").faults == []


def test_rows_of_other_days_are_passed_over_where_a_column_is_named_as_their_day() -> None:
    """SPEC T5: one without a day may be served on any; amounts stay with their rows."""
    day = day_of(DAYS.format("Datum"), chosen={"Datum": "date"}, planning_date="2025-07-16")
    day.add_agents(table("id,kg\nv,9\n"), {})
    body = day.scenario(name="x", planning_date="2025-07-16")
    assert [(ticket["id"], ticket["demand"]) for ticket in body["tickets"]] == [("a", 5), ("c", 1)]
    assert "Rows of another day than the planning date in Datum, passed over: 1." in day.assumed()


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        ("07/16/2025", ["a"]),
        ("07/08/2025", []),
        ("16.07.", ["a"]),
        ("2025-07-16 09:30", ["a"]),
        ("soon", []),
        ("16.07. or 17.07.", []),
    ],
)
def test_the_day_of_a_row_is_read_as_the_column_writes_it(cell: str, ids: list[str]) -> None:
    """SPEC T7: one that may be two days, or none, is refused by its cell."""
    day = day_of(f"id,place,Datum\na,A,{cell}\n", chosen={"Datum": "date"}, planning_date="2025-07-16")
    assert [fault.problem for fault in day.faults] == ([] if ids else [f'"{cell}" is no day.'])
    assert [ticket["id"] for ticket in day.tickets][: len(ids)] == ids


def test_a_table_without_a_row_of_the_day_says_so() -> None:
    """SPEC T7: and not that it has no rows."""
    with pytest.raises(InputError, match="No row is of the planning date"):
        imported_day("id,place,Datum\na,A,2025-07-17\n", columns={"Datum": "date"})


@pytest.mark.parametrize(
    "header", ["Carers needed", "Anzahl Monteure", "People required", "Nb techniciens", "所需人数"]
)
def test_tickets_for_several_people_are_named(header: str) -> None:
    """SPEC T5: nobody plans two agents for one visit; it was asked whether their number is an amount."""
    read = table(f"id,place,{header}\na,A,1\nb,B,2\nc,C,\n")
    mapping = propose_mapping(read, "tickets", {})
    assert (mapping.open_columns, mapping.left_out) == ((), (header,))
    assert [each[-3:] for each in crew_notices(read, mapping)] == [" 1."]


@pytest.mark.parametrize("header", ["Anzahl Personen", "nb personnes", "人数"])
def test_numbers_of_people_may_be_those_of_passengers(header: str) -> None:
    """SPEC T5: whoever drives people is asked whether their number is the amount, as about any other number."""
    read = table(f"id,place,{header}\na,A,1\nb,B,2\nc,C,4\n")
    (asked,) = propose_mapping(read, "tickets", {}).open_columns
    assert "demand" in asked.options


def test_inactive_rows_and_absent_agents_are_named() -> None:
    """SPEC T5: a visit that nobody wants any more, or that nobody can make, is planned only with a note."""
    read = table("id,place,Status\na,A,Confirmed\nb,B,Cancelled\nc,C,storniert\n")
    notices = list(inactive_notices(read, propose_mapping(read, "tickets", {})))
    assert notices == ["Rows that are called cancelled, done or on hold in Status, read all the same: 2."]
    read = table("id,place,On hold?,erledigt\na,A,N,False\nb,B,Y,True\nc,C,,x\n")
    notices = list(inactive_notices(read, propose_mapping(read, "tickets", {})))
    assert [each[-3:] for each in notices] == [" 1.", " 2."]
    staff = table("id,Anwesend\nv,x\nw,Urlaub\n")
    notices = list(absent_notices(staff, propose_mapping(staff, "agents", {}), ""))
    assert notices == ["Agents that are called absent in Anwesend, read all the same: 1."]
    for header in ("Verfügbar", "Available?", "可用"):
        fleet = table(f"Kennz.,{header}\nA-K 11,ja\nA-K 12,no\nA-K 13,\n")
        mapping = propose_mapping(fleet, "agents", {})
        notices = list(absent_notices(fleet, mapping, ""))
        assert (mapping.fields["Kennz."], [each[-3:] for each in notices]) == ("id", [" 1."])


@pytest.mark.parametrize("cells", ["Lun-Ven|Mar, Gio|Mer", "ma-vr|di|woensdag, vrijdag", "pn-pt|wt, czw|sroda"])
def test_weekdays_in_italian_dutch_and_polish_are_days(cells: str) -> None:
    """SPEC T5: what is collected on Wednesdays was planned on a Tuesday."""
    rows = "".join(f'{at},P,"{cell}"\n' for at, cell in enumerate(cells.split("|")))
    (fault,) = day_of(f"id,place,Giorni\n{rows}", planning_date="2026-12-01").faults
    assert fault.accepted == "date"


@pytest.mark.parametrize(
    "header", ["Double-up", "Zwei Kräfte", "Doppelbesetzung", "Two carers", "Dubbelbemanning", "2-Mann"]
)
def test_visits_of_two_that_say_yes_are_named(header: str) -> None:
    """SPEC T5: one nurse was sent to lift a patient whom two lift, without a word."""
    read = table(f"id,place,{header}\na,A,ja\nb,B,no\nc,C,\n")
    assert [each[-3:] for each in crew_notices(read, propose_mapping(read, "tickets", {}))] == [" 1."]


@pytest.mark.parametrize(
    ("names", "empty"),
    [("Paul,,,Anna,", 3), ("Paul,,Anna,Paul,,", 3), ("Paul,Paul,,,", 0), (",,Anna,,", 0), ("Paul,Anna,Paul,", 0)],
)
def test_drivers_who_stand_only_in_the_first_row_of_their_block_are_named(names: str, empty: int) -> None:
    """SPEC T5: cells that were merged name one driver in the first row, and any driver served the rows below."""
    rows = "".join(f"{at},P,{name}\n" for at, name in enumerate(names.split(",")))
    agents = ({"id": "Paul", "capacity": 9}, {"id": "Anna", "capacity": 9})
    day = imported_day(f"id,place,Driver\n{rows}", agents=agents, columns={"Driver": "only_agents"})
    advice = "If a value holds for the rows below it, write it into each of them."
    notice = f'Rows with no value in "Driver": {empty}. {advice}'
    assert [each for each in day.assumptions if "Driver" in each] == ([notice] if empty else [])
