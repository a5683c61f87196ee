"""Amounts of tickets and capacities of agents: marks, units, and which is held against which (SPEC T5)."""

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.tables.columns.unit_columns import with_units
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.formats.tables.table_import import TableImport
from tests.shared.formats.day_tables import day_of, imported_day, refused, table


@pytest.mark.parametrize(
    ("header", "cells", "amounts"),
    [
        ("Bruttogewicht", ("ca. 10 kg", "ungefähr 12,5 kg"), [10, 12.5]),
        ("Weight", ("approx. 10 kg", "~ 8"), [10, 8]),
        ("预计重量", ("约10公斤", "12公斤左右"), [10, 12]),
        ("Poids", ("env. 1 200 kg", "30 kg"), [1200, 30]),
    ],
)
def test_an_estimate_is_an_amount_and_a_note_says_so(header: str, cells: tuple[str, str], amounts: list[float]) -> None:
    """SPEC T5: a column of them was left out as text, and nothing was carried."""
    day = day_of(f"id;address;{header}\nA1;x;{cells[0]}\nA2;y;{cells[1]}\n", are_agents_made_up=True)
    day.agents.append({"id": "v", "capacity": 1e6})
    tickets = day.scenario()["tickets"]
    assert [each["demand"] for each in tickets] == amounts
    assert f'Estimates in "{header}" such as "{cells[0]}" are read as they stand.' in day.notices


@pytest.mark.parametrize("cell", ["1,2,3", "1_000", "1e5", "5 apples"])
def test_what_is_no_number_is_reported_with_its_value(cell: str) -> None:
    """SPEC T7: row, column, and the value that was seen."""
    day = day_of(f"id;place;qty\na;A;{cell}\n")
    assert [(fault.path, cell in fault.problem) for fault in day.faults][:1] in (
        [("/2/qty", True)],
        [("columns", True)],
    )


@pytest.mark.parametrize(
    ("cells", "amounts"),
    [
        (("12,5", "3"), [12.5, 3]),
        (("1.200,5", "1.200"), [1200.5, 1200]),
        (("1,200.5", "1,200"), [1200.5, 1200]),
        (("0,750", "1,500"), [0.75, 1.5]),
        (("1'200", "1 200,5"), [1200, 1200.5]),
        (("1,500,000", "2,500"), [1500000, 2500]),
        (("12 kg", "0,5 t"), [12, 500]),
    ],
)
def test_the_decimal_mark_is_that_of_the_whole_column(cells: tuple[str, str], amounts: list[float]) -> None:
    """SPEC T5: one cell that is clear settles those that are not."""
    day = day_of("id;place;qty\na;A;{}\nb;B;{}\n".format(*cells))
    body = day.scenario()
    assert [ticket["demand"] for ticket in body["tickets"]] == amounts


@pytest.mark.parametrize("cell", ["1,500", "1，500", "1.500"])
def test_a_mark_that_nothing_settles_is_asked_about_once(cell: str) -> None:
    """SPEC T7: tenfold loads would be planned; another column of the file settles it, and so does the caller."""
    day = day_of(f"id;place;qty\na;A;{cell}\nb;B;{cell}\n")
    assert [(fault.path, cell.replace("，", ",")[1:] in fault.problem.replace("，", ",")) for fault in day.faults] == [
        ("decimal", True)
    ]
    for mark, amount in ((",", 1.5), (".", 1500)):
        day = day_of(f"id;place;qty\na;A;{cell}\n", decimal=mark)
        expected = amount if "." not in cell else {1.5: 1500, 1500: 1.5}[amount]
        assert day.scenario()["tickets"][0]["demand"] == expected
    day = day_of(f"id;lat;lon;qty\na;48,1371;11,5754;{cell}\n")
    assert day.scenario()["tickets"][0]["demand"] == (1500 if "." in cell else 1.5)


def test_a_mark_is_asked_about_between_commas_where_columns_show_both() -> None:
    """SPEC T7: `3,5` beside it says that 1,200 may be 1.2, whatever the coordinates are written with."""
    for volume, asked in (('"3,5"', ["decimal"]), ("3.5", [])):
        day = day_of(f'id,lat,lon,kg,m3\na,48.1371,11.5754,"1,200",{volume}\n')
        assert [fault.path for fault in day.faults] == asked


def test_a_number_of_a_workbook_that_ends_in_a_zero_is_asked_about() -> None:
    """SPEC T7: it is text there, perhaps of a German program: 1.500 kg would be planned as 1.5."""
    for cell, asked in (("1.500", ["decimal"]), ("1.500 kg", ["decimal"]), ("1.125", [])):
        day = TableImport()
        day.add_tickets(Table(("id", "place", "qty"), ((2, {"id": "a", "place": "A", "qty": cell}),)), {})
        assert [fault.path for fault in day.faults] == asked


def test_amounts_without_a_unit_beside_tonnes_are_reported() -> None:
    """SPEC T5, T7: 500 of them were perhaps kilograms; a header that says the unit settles it."""
    notes = {}
    for header in ("qty", "weight (kg)"):
        day = day_of(f"id;place;{header}\na;A;500\nb;B;1,2 t\n")
        notes[header] = [note for note in day.assumed() if "without a unit" in note]
    assert notes == {"qty": ['Amounts without a unit in "qty" are read in that of "1,2 t".'], "weight (kg)": []}


def test_agents_without_a_capacity_are_reported() -> None:
    """SPEC T5: they carry nothing, and would stay at home in silence."""
    day = day_of(agents="id,capacity\nv,9\nw,\n")
    day.settle()
    assert ([agent["capacity"] for agent in day.agents], day.assumed()) == (
        [9, 0],
        ["Agents without a capacity, for which 0 is taken: 1."],
    )


def test_amounts_and_capacities_are_brought_to_one_unit() -> None:
    """SPEC T5: tonnes on a van that is measured in kilograms would fit a thousandfold; its driver reads kilograms."""
    notice = '"重量(吨)" and "载重(kg)" are brought to one unit.'
    for heading, demand, notices in (
        ("载重(kg)", {"weight_kg": 12000}, [notice]),
        ("载重（吨）", 12, []),
        ("载重", 12, ['"重量(吨)" and "载重": numbers are taken as they stand.']),
    ):
        day = day_of("订单号,地点,重量(吨)\na,A,12\n", f"车辆,{heading}\nv,2000\n")
        body = day.scenario()
        assert (body["tickets"][0]["demand"], day.assumed()) == (demand, notices)


@pytest.mark.parametrize(
    ("column", "name", "demand", "said"),
    [
        ("weight\na,A,10 lbs", "weight_kg", 4.5359237, " are brought to one unit."),
        ("重量(吨)\na,A,2", "weight_kg", 2000, " are brought to one unit."),
        ("weight (kg)\na,A,500", "payload_t", 0.5, " are brought to one unit."),
        ("weight (kg)\na,A,500", "weight_kg", 500, ""),
        ("weight (t)\na,A,2", "weight", 2, ": numbers are taken as they stand."),
        ("qty\na,A,2", "weight_kg", 2, ""),
        ("boxes\na,A,2", "volume_m3", 2, ""),
    ],
)
def test_amounts_are_brought_to_the_unit_that_given_capacities_are_called_by(
    column: str, name: str, demand: float, said: str
) -> None:
    """SPEC T5: 12 lb were 12 kg of a van that carries 100; a name without a unit says nothing of it."""
    day = imported_day(f"id,place,{column}\n", agents=({"id": "v", "capacity": {name: 9}},))
    assert day.body["tickets"][0]["demand"] == {name: pytest.approx(demand)}
    quoted = f'"{column.partition(chr(10))[0]}" and "{name}"'
    assert [each.removeprefix(quoted) for each in day.assumptions if quoted in each] == ([said] if said else [])


def test_which_of_two_weights_a_vehicle_is_limited_by_is_asked() -> None:
    """SPEC T5, T7: the weight of a case for that of the order would overload every vehicle in silence."""
    orders, fleet = "id,location,kg per case,Total weight (kg)\na,A,12.25,98\n", "van,Payload (kg)\nv,900\n"
    for capacities in ((), ({"weight_kg": 900},)):
        day = day_of(orders)
        if capacities:
            day.agents += [{"id": "v", "capacity": each} for each in capacities]
        else:
            day.add_agents(table(fleet), {})
        with pytest.raises(InputError) as caught:
            day.scenario()
        (fault,) = caught.value.errors
        assert (fault.path, fault.choices) == ("columns", ("kg per case", "Total weight (kg)"))
    day = day_of(orders, fleet, chosen={"Total weight (kg)": "demand", "kg per case": "notes"})
    (ticket,) = day.scenario()["tickets"]
    assert (ticket["demand"], ticket["notes"]) == (98, "kg per case 12.25")


def test_weight_and_volume_are_both_held_against_the_fleet() -> None:
    """SPEC T5: boxes that no vehicle counts are kept for the driver."""
    day = day_of("订单号,地点,重量(kg),体积(m³),箱数\na,A,12,0.5,3\n", "车牌号,核载(吨),容积(方)\nv,2,8\n")
    body = day.scenario()
    (ticket,), (agent,) = body["tickets"], body["agents"]
    assert ticket["demand"] == {"weight_kg": 12, "volume_m3": 0.5}, "what is called kg is kg, whatever vehicles are in"
    assert (agent["capacity"], ticket["notes"]) == ({"weight_kg": 2000, "volume_m3": 8}, "箱数 3")
    assert 'Kept as notes, for no capacity limits it: "箱数".' in day.assumed()


def test_boxes_are_not_held_against_kilograms() -> None:
    """SPEC T7: nor two amounts against one capacity that nobody said the measure of."""
    day = day_of("订单号,地点,箱数\na,A,12\n", "车牌号,载重(kg)\nv,2000\n")
    day.settle()
    assert [(fault.path, '"箱数"' in fault.problem) for fault in day.faults] == [("columns", True)]


def test_a_fleet_that_nobody_named_carries_all_there_is() -> None:
    """SPEC T5: tonnes beside grams do not exceed a vehicle that was assumed."""
    orders = "Order;Lat;Lon;Weight\nA1;52.5;13.4;500 g\nA2;52.6;13.4;2 t\n"
    read = imported_day(orders, agents=(), default_agents=({"id": "van", "capacity": 1e6},))
    assert [ticket["demand"] for ticket in read.body["tickets"]] == [500, 2_000_000]
    assert read.body["agents"][0]["capacity"] == 2_000_500


@pytest.mark.parametrize("headers", ["Deliver kg;Return kg", "送货件数;退货件数"])
def test_two_amounts_of_one_unit_both_count_for_a_fleet_that_nobody_named(headers: str) -> None:
    """SPEC T5: the last one was the demand, and what is delivered no more than a note; a fleet that is named asks."""
    orders = f"Order;Lat;Lon;{headers}\nA1;52.5;13.4;5;2\nA2;52.6;13.4;3;\n"
    read = imported_day(orders, agents=(), default_agents=({"id": "van", "capacity": 4},))
    first, second = headers.split(";")
    assert [ticket["demand"] for ticket in read.body["tickets"]] == [{first: 5, second: 2}, {first: 3, second: 0}]
    assert read.body["agents"][0]["capacity"] == {first: 8, second: 4}
    assert [fault.path for fault in refused(orders)] == ["columns"]


def test_a_weight_that_is_held_against_a_volume_is_taken_as_it_stands() -> None:
    """SPEC T5: who names both says that they are of one kind, whatever their headers say."""
    day = day_of("Order;Lat;Lon;Weight (t)\nA1;52.5;13.4;3\n", chosen={"Weight (t)": "demand"})
    day.add_agents(table("Vehicle;Volume (m3)\nV1;9\n"), {"Volume (m3)": "capacity"})
    body = day.scenario()
    assert (body["tickets"][0]["demand"], body["agents"][0]["capacity"]) == (3, 9)


@pytest.mark.parametrize(
    ("headers", "units", "amounts"),
    [
        ("Weight,Unit", ("KG", "g"), [12, 0.3, 5]),
        ("Gewicht,GEH", ("KG", "TO"), [12, 300_000, 5]),
        ("Qty,UoM", ("EA", "PAL"), [12, 300, 5]),
    ],
)
def test_units_in_a_column_of_their_own_are_those_of_the_amounts(
    headers: str, units: tuple[str, str], amounts: list[float]
) -> None:
    """SPEC T5: 300 grams beside 12 kilograms were a load of 312; with an unknown unit numbers stay as they are.

    A row without a unit, such as that of a total, changes nothing in the others.
    """
    rows = f"id,place,{headers}\na,A,12,{units[0]}\nb,B,300,{units[1]}\nc,C,5,\n"
    day = imported_day(rows, agents=({"id": "v", "capacity": 9e6},))
    assert [ticket["demand"] for ticket in day.body["tickets"]] == amounts
    assert any("is read as the unit of" in notice for notice in day.assumptions) is ("EA" not in units)


@pytest.mark.parametrize(("header", "cell"), [("id", "1001"), ("zip", "10115"), ("lat", "52.5"), ("phone", "030 12")])
def test_numbers_that_are_no_amounts_take_no_unit_from_the_next_column(header: str, cell: str) -> None:
    """SPEC T5: lists that say the unit before the amount had tickets called 1001 KG."""
    rows = with_units(table(f"{header},Unit,Qty\n{cell},KG,12\n")).rows
    assert rows[0][1] == {header: cell, "Unit": "KG", "Qty": "12"}


def test_units_of_capacities_may_have_a_column_of_their_own() -> None:
    """SPEC T5: a lorry of 12 t carried 12 kg, beside a van of 800 kg."""
    day = imported_day("id,place,Weight,Unit\na,A,12,kg\n", "id,capacity,Unit\na,12,t\nb,800,kg\n")
    assert [agent["capacity"] for agent in day.body["agents"]] == [{"weight_kg": 12_000}, {"weight_kg": 800}]
    assert day.body["tickets"][0]["demand"] == {"weight_kg": 12}


@pytest.mark.parametrize("header", ["Weight (t)", "Weight (g)", "Milk (l)"])
def test_a_rare_unit_beside_a_capacity_without_one_is_noted(header: str) -> None:
    """SPEC T5: half a tonne filled half a kilo of a van of 1000, and nothing said so."""
    text, note = f"id,place,{header}\na,A,0.5\n", "numbers are taken as they stand."
    given = imported_day(text, agents=({"id": "v", "capacity": 1000},))
    assert f'"{header}" and the capacity of the agents: {note}' in given.assumptions
    assert f'"{header}" and "Capacity": {note}' in imported_day(text, "id,Capacity\nv,1000\n").assumptions
    assert not any(note in each for each in imported_day("id,place,Weight (kg)\na,A,1\n").assumptions)


def test_amounts_are_held_against_the_compartments_that_are_called_so() -> None:
    """SPEC T5: each of three limited one of three, and no answer to the question about them was accepted."""
    orders, amounts = "id,place,Dry kg,Chilled kg\na,A,30,20\nb,B,12,\n", [(30, 20), (12, 0)]
    given = ({"id": "v", "capacity": {"Dry kg": 500, "Chilled kg": 200}},)
    for day in (imported_day(orders, agents=given), imported_day(orders, "id,Dry kg,Chilled KG\nv,500,200\n")):
        assert [tuple(ticket["demand"].values()) for ticket in day.body["tickets"]] == amounts
        assert {*day.body["tickets"][0]["demand"]} == {*day.body["agents"][0]["capacity"]} == {"Dry kg", "Chilled kg"}
        assert [*day.body["agents"][0]["capacity"].values()] == [500, 200]
    (fault,) = refused("id,place,Weight kg,Total weight kg\na,A,3,20\n", "id,Weight kg\nv,500\n")
    assert "limits one of them" in fault.problem, "one capacity may be that of the other column"


def test_what_goes_into_one_compartment_loads_no_other() -> None:
    """SPEC T5: dry goods were held against the room for chilled ones, which came last."""
    orders = "id,place,Dry kg\na,A,30\n"
    day = imported_day(orders, "id,Dry kg,Chilled kg\nv,500,800\n")
    assert (day.body["tickets"][0]["demand"], day.body["agents"][0]["capacity"]) == (30, 500)
    assert 'Limits nothing, for no ticket has such an amount: "Chilled kg".' in day.assumptions
    day = imported_day(orders, agents=({"id": "v", "capacity": {"dry_kg": 500, "chilled_kg": 20}},))
    assert day.body["tickets"][0]["demand"] == {"dry_kg": 30}
