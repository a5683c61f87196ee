"""Rows of the depot among those of tickets (SPEC T5)."""

import pytest

from tests.shared.formats.day_tables import imported_day

STOPS = "a,39.91,116.41,1,\nb,39.92,116.42,2,\n"
SAID = "is read as the depot, not as a ticket. To keep it as a ticket, name the depot yourself."


@pytest.mark.parametrize("word", ["Depot", "Warehouse", "LAGER", "Dépôt", "Almacén", "仓库"])
@pytest.mark.parametrize(
    "form", ["{0},39.9,116.4,0,\n{1}", "{1}{0},39.9,116.4,,\n", "{0},39.9,116.4,,\n{1}{0},39.9,116.4,,\n"]
)
def test_a_row_called_a_depot_at_an_end_of_the_list_is_the_depot(word: str, form: str) -> None:
    """SPEC T5: it was a stop of demand 0, and agents started nowhere."""
    day = imported_day(f"id,lat,lon,qty,from\n{form.format(word, STOPS)}")
    assert [(ticket["id"], ticket["demand"]) for ticket in day.body["tickets"]] == [("a", 1), ("b", 2)]
    (place,) = (place for place in day.body["locations"] if place["id"] == day.body["depot"])
    assert (place["lat"], place["lon"], place["name"]) == (39.9, 116.4, word)
    assert [each for each in day.assumptions if f'"{word}"' in each and each.endswith(SAID)]
    assert not [each for each in day.assumptions if "without a demand" in each]


@pytest.mark.parametrize(
    "tickets",
    [
        "name,address,qty\nWarehouse,Ring 1,0\na,Ring 2,1\n",
        "location,address,qty\nDepot,Ring 1,0\na,Ring 2,1\n",
        "id,kind,address,qty\n1,Depot,Ring 1,\n2,Delivery,Ring 2,1\n",
        "编号,地点,地址,qty\n1,仓库,Ring 1,0\n2,b,Ring 2,1\n",
    ],
)
def test_it_may_be_called_so_by_name_place_or_kind_and_have_an_address(tickets: str) -> None:
    """SPEC T5: wherever the word stands; its address is looked up like those of tickets."""
    body = imported_day(tickets).body
    assert ([ticket["address"] for ticket in body["tickets"]], body["locations"][0]["address"]) == (
        ["Ring 2"],
        "Ring 1",
    )
    assert body["depot"] == body["locations"][0]["id"]


def test_what_a_depot_has_no_use_for_is_named() -> None:
    """SPEC T5: its hours are no shift, and what its notes ask for is seen by nobody."""
    day = imported_day("id,lat,lon,qty,from,notes\nDepot,39.9,116.4,0,06:00,check the alarm\na,39.91,116.41,1,,\n")
    assert "Columns not used for the depot in row 2: from, notes." in day.assumptions


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (f"Depot,39.9,116.4,0,\n{STOPS}", {"depot": "39.8,116.3"}),
        (f"Depot,39.9,116.4,0,\n{STOPS}", {"agents": ({"id": "v", "capacity": 9, "start_location": "a"},)}),
        (f"Depot,39.9,116.4,3,\n{STOPS}", {}),
        (f"a,39.93,116.4,3,\nDepot,39.9,116.4,,\n{STOPS}", {}),
        (f"Depot,39.9,116.4,0,\n{STOPS}Depot,39.8,116.4,0,\n", {}),
        ("Depot,39.9,116.4,0,\n", {}),
    ],
    ids=["a depot is given", "agents start elsewhere", "a load", "in the middle", "two places", "alone"],
)
def test_a_row_called_a_depot_that_may_be_a_stop_is_one(rows: str, options: dict[str, object]) -> None:
    """SPEC T5: whoever starts at home calls at the warehouse first."""
    day = imported_day(f"id,lat,lon,qty,from\n{rows}", **options)
    assert len(day.body["tickets"]) == rows.count("\n")
    assert not [each for each in day.assumptions if each.endswith(SAID)]


def test_a_depot_somebody_works_at_or_delivers_to_is_a_stop() -> None:
    """SPEC T5: a shop may be called Depot."""
    for header, cell in (("Service min", "20"), ("skills", "lift"), ("kind", "delivery")):
        body = imported_day(f"id,lat,lon,{header}\nDepot,39.9,116.4,{cell}\na,39.91,116.4,\n").body
        assert len(body["tickets"]) == 2


@pytest.mark.parametrize("cells", ["0,0", "0,", ",0", ","])
def test_each_amount_stays_with_its_ticket_where_a_depot_stands_above(cells: str) -> None:
    """SPEC T5: the second of two amounts was that of the ticket above."""
    table = f"id,lat,lon,kg,boxes\nDepot,39.9,116.4,{cells}\na,39.91,116.41,1,7\nb,39.92,116.42,2,8\n"
    day = imported_day(table, agents=({"id": "v", "capacity": {"kg": 9, "boxes": 90}},))
    assert [ticket["demand"] for ticket in day.body["tickets"]] == [{"kg": 1, "boxes": 7}, {"kg": 2, "boxes": 8}]
    assert not [each for each in day.assumptions if "without a demand" in each]


def test_a_depot_that_other_rows_are_fetched_from_by_its_id_is_a_stop() -> None:
    """SPEC T5: their other half was gone, so the day was refused."""
    body = imported_day("id,pickup_ticket,lat,lon,qty\nDepot,,39.9,116.4,\na,Depot,39.91,116.41,1\n").body
    assert [(ticket["id"], ticket.get("pickup")) for ticket in body["tickets"]] == [("Depot", None), ("a", "Depot")]
