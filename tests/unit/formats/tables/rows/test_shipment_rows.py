"""Shipments as dispatchers write them: both places in one row, or a row for each under one number (SPEC T5)."""

from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.day_tables import imported_day, proposed, refused, table

COURIER = (
    "Order No;Pickup address;Pickup from;Pickup to;Sender phone;Delivery address;Delivery from;Delivery to;Parcels\n"
    "1001;Ring 1, 79098 Freiburg;08:00;10:00;0761 1;Seeweg 9, 79104 Freiburg;09:00;12:00;3\n"
    "1002;Bergweg 2, 79104 Freiburg;09:00;11:00;;Ring 7, 79098 Freiburg;;17:00;1\n"
)
FURNITURE = (
    "Auftragsnr;Abholadresse;Abholzeitfenster;Lieferadresse;Lieferzeitfenster;Gewicht (kg)\n"
    "A1;Ring 1, 79098 Freiburg;8-10;Seeweg 9, 79104 Freiburg;10-14;120\n"
    "A2;Bergweg 2, 79104 Freiburg;9-11;Ring 7, 79098 Freiburg;12-16;80\n"
)
PATIENTS = (
    "Nº pedido;Dirección de recogida;Recogida desde;Dirección de entrega;Entrega hasta;Cantidad\n"
    "P1;Calle Mayor 1, 28013 Madrid;08:00;Calle Luna 9, 28004 Madrid;09:30;1\n"
    "P2;Calle Sol 4, 28012 Madrid;09:00;Calle Luna 9, 28004 Madrid;10:30;1\n"
)
COURIER_ZH = (
    "订单号,取货地址,取货时间段,送货地址,送货时间段,件数\n"
    "D1,上海市浦东新区世纪大道100号,8:00-10:00,上海市徐汇区漕溪北路8号,9:00-12:00,2\n"
    "D2,上海市静安区南京西路20号,9:00-11:00,上海市长宁区延安西路6号,12:00-18:00,5\n"
)


def tickets_of(text: str, **options: Any) -> list[dict[str, Any]]:
    """Return the tickets of a table, each without what nobody said."""
    read = imported_day(text, agents=({"id": "v", "capacity": 999},), **options)
    parse_scenario(read.body | {"agents": [{"id": "v", "capacity": 999}]})
    tickets: list[dict[str, Any]] = read.body["tickets"]
    return tickets


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (COURIER, "Pickup address"),
        (FURNITURE, "Abholadresse"),
        (PATIENTS, "Dirección de recogida"),
        (COURIER_ZH, "取货地址"),
    ],
    ids=["en", "de", "es", "zh"],
)
def test_a_row_with_two_addresses_is_a_shipment_for_who_answers_so(text: str, header: str) -> None:
    """SPEC T5: one question, whose answer brings the other columns of the place where goods are fetched."""
    asked = propose_mapping(table(text), "tickets", {}).open_columns
    assert [column.options[0] for column in asked] == ["pickup_address", "address"]
    assert asked[0].header == header
    first, second, *_ = tickets = tickets_of(text, columns={header: "pickup_address"})
    assert [ticket.get("kind") for ticket in tickets] == ["pickup", None] * 2
    assert (first["id"], second["pickup"]) == (f"{second['id']} pickup", first["id"])
    assert first["demand"] == second["demand"] > 0
    assert first["address"] != second["address"]
    assert first["time_windows"] != second["time_windows"]


def test_what_a_row_says_of_one_place_holds_for_that_place() -> None:
    """SPEC T5: a phone of the sender is not told to the driver at the door of the recipient."""
    first, second, third, fourth = tickets_of(COURIER, columns={"Pickup address": "pickup_address"})
    assert (first["phone"], second.get("phone")) == ("0761 1", None)
    assert first["time_windows"] == [["08:00", "10:00"]]
    assert second["time_windows"] == [["09:00", "12:00"]]
    assert third["time_windows"] == [["09:00", "11:00"]]
    assert fourth["time_windows"] == [["00:00", "17:00"]]


def test_what_columns_were_taken_for_gives_the_same_day_again() -> None:
    """SPEC T5: a mapping that is kept says which columns are of the place where goods are fetched."""
    mapping = propose_mapping(table(COURIER), "tickets", {"Pickup address": "pickup_address"})
    assert [mapping.fields[header] for header in ("Pickup from", "Pickup to", "Sender phone", "Delivery from")] == [
        *("pickup_opens", "pickup_closes", "pickup_phone", "opens")
    ]
    again = tickets_of(COURIER, columns=mapping.fields)
    assert again == tickets_of(COURIER, columns={"Pickup address": "pickup_address"})


def test_a_row_with_one_of_two_places_goes_from_or_to_the_depot() -> None:
    """SPEC T5: what has no place of pickup is on board from the depot, what has no other is brought there."""
    text = (
        "Order,Pickup lat,Pickup lon,Delivery lat,Delivery lon,Qty\n"
        "a,52.50,13.40,52.60,13.50,1\nb,,,52.61,13.51,2\nc,52.52,13.42,,,3\n"
    )
    (asked,) = propose_mapping(table(text), "tickets", {}).open_columns
    assert (asked.header, asked.options) == ("Pickup lat", ("pickup_lat", "notes"))
    tickets = tickets_of(text, columns={"Pickup lat": "pickup_lat"})
    assert [(each["id"], each.get("kind"), each.get("pickup"), each["demand"]) for each in tickets] == [
        ("a pickup", "pickup", None, 1),
        ("a", None, "a pickup", 1),
        ("b", None, None, 2),
        ("c", "pickup", None, 3),
    ]
    notices = imported_day(text, columns={"Pickup lat": "pickup_lat"}).assumptions
    assert "Rows with one of two places, whose goods come from the depot or go there: 2." in notices


def test_rows_without_ids_are_shipments_too() -> None:
    """SPEC T5: they are named after their row, the halves by one name."""
    text = (
        "From;To;Qty\nRing 1, 79098 Freiburg;Seeweg 9, 79104 Freiburg;1\n"
        "Bergweg 2, 79104 Freiburg;Ring 7, 79098 Freiburg;2\n"
    )
    assert [(each.header, each.options) for each in propose_mapping(table(text), "tickets", {}).open_columns] == [
        ("From", ("pickup_address", "address", "notes")),
        ("To", ("address", "notes")),
    ]
    tickets = tickets_of(text, columns={"From": "pickup_address"})
    assert [(each["id"], each["address"]) for each in tickets[:2]] == [
        ("row-2 pickup", "Ring 1, 79098 Freiburg"),
        ("row-2", "Seeweg 9, 79104 Freiburg"),
    ]


def test_lines_of_one_shipment_are_added_up() -> None:
    """SPEC T5: an order of two articles is fetched once and delivered once."""
    text = (
        "Order,Pickup address,Delivery address,Qty,Notes\n"
        'a,"Ring 1, 79098 Freiburg","Seeweg 9, 79104 Freiburg",2,oak\n'
        'a,"Ring 1, 79098 Freiburg","Seeweg 9, 79104 Freiburg",3,elm\n'
    )
    tickets = tickets_of(text, columns={"Pickup address": "pickup_address"})
    assert [(each["id"], each["demand"]) for each in tickets] == [("a pickup", 5), ("a", 5)]


def test_lines_of_both_halves_are_added_up() -> None:
    """SPEC T5: a row for each article and place."""
    row = "a,{},52.{},13.4,{},{}\n"
    lines = (row.format(*each) for each in (("Pickup", 5, 2, "oak"), ("Pickup", 5, 3, "elm"), ("Delivery", 6, 5, "")))
    first, second = tickets_of("Order,Type,lat,lon,Qty,Notes\n" + "".join(lines))
    assert (first["demand"], second["demand"], second["pickup"]) == (5, 5, "a pickup")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("Type", ("Pickup", "Delivery")),
        ("Art", ("Abholung", "Zustellung")),
        ("Tipo", ("Recogida", "Entrega")),
        ("类型", ("取货", "送货")),
    ],
)
def test_two_rows_of_one_number_are_a_shipment(header: str, words: tuple[str, str]) -> None:
    """SPEC T5: they were refused as two tickets of one id; an amount that one of them lacks is that of the other."""
    text = f"Order,{header},lat,lon,Qty\n7,{words[0]},52.5,13.4,2\n7,{words[1]},52.6,13.5,\n8,{words[1]},52.7,13.6,1\n"
    first, second, third = tickets_of(text)
    assert (first["id"], first["kind"], second["id"], second["pickup"]) == ("7 pickup", "pickup", "7", "7 pickup")
    assert (first["demand"], second["demand"]) == (2, 2)
    assert "pickup" not in third
    assert 'Pairs of rows with one id, read as shipments: 1; "7 pickup" is fetched.' in imported_day(text).assumptions


def test_a_number_that_two_rows_have_is_their_id_where_a_column_says_what_is_fetched() -> None:
    """SPEC T5: by a header that is no known word they were tickets of their own, from the depot and to it."""
    text = "Buchungsnr,Vorgang,lat,lon\nB7,Abholung,52.5,13.4\nB7,Hinbringen,52.6,13.5\n"
    first, second = tickets_of(text, columns={"Vorgang": "kind"})
    assert (first["id"], second["id"], second["pickup"]) == ("B7 pickup", "B7", "B7 pickup")


@pytest.mark.parametrize(("kind", "place"), [("Pickup", "52.6,13.5"), ("Return", "52.5,13.4")])
def test_what_is_taken_back_goes_to_the_depot(kind: str, place: str) -> None:
    """SPEC T5: clean linen out and dirty linen back at one door, or an old machine for a new one, is no shipment."""
    text = f"Order,Type,lat,lon,Qty\n7,Delivery,52.6,13.5,2\n7,{kind},{place},3\n"
    first, second = tickets_of(text)
    assert (first["id"], second["id"], second["kind"]) == ("7", "7 pickup", "pickup")
    assert "pickup" not in first
    assert (first["demand"], second["demand"]) == (2, 3)


@pytest.mark.parametrize(
    "ids", ["S1-P S1-D", "S1_pickup S1_delivery", "S1-A S1-B", "S1取 S1送", "S1-Abholung S1-Lieferung"]
)
def test_ids_that_all_come_in_pairs_are_asked_about(ids: str) -> None:
    """SPEC T5: they were two tickets, one to the depot and one from it."""
    fetched, brought = ids.split()
    text = f"Order;Address;Qty\n{fetched};Ring 1, 79098 Freiburg;3\n{brought};Seeweg 9, 79104 Freiburg;\n"
    (asked,) = propose_mapping(table(text), "tickets", {}).open_columns
    assert (asked.header, asked.options) == ("Order", ("shipment_half", "id"))
    first, second = tickets_of(text, columns={"Order": "shipment_half"})
    assert (first["id"], first["kind"], second["id"], second["pickup"]) == ("S1 pickup", "pickup", "S1", "S1 pickup")
    assert first["demand"] == second["demand"] == 3
    assert [each["id"] for each in tickets_of(text, columns={"Order": "id"})] == ids.split()


@pytest.mark.parametrize("ids", ["S1-P S2-D", "S1-P S1-P", "S1-X S1-Y", "S1-P S1-D S1-D", "Stop-A Stop-B"])
def test_other_ids_are_no_halves(ids: str) -> None:
    """SPEC T5: a half alone, another word, a third row; letters without a number before them may name two stops."""
    text = _orders(*ids.split())
    assert propose_mapping(table(text), "tickets", {}).open_columns == ()


def test_halves_are_paired_whatever_stands_beside_them() -> None:
    """SPEC T5: one row without its other half, or a line of totals, made deliveries of all that is picked up."""
    text = _orders("S1-P", "S1-D", "S2-P", "S3-D", "X9") + "Total;;5\n"
    read = imported_day(text, columns={"Order": "shipment_half"})
    assert [(each["id"], each.get("kind"), each.get("pickup")) for each in read.body["tickets"]] == [
        ("S1 pickup", "pickup", None),
        ("S1", None, "S1 pickup"),
        ("S2-P", "pickup", None),
        ("S3-D", None, None),
        ("X9", None, None),
    ]
    assert "Rows with one of two places, whose goods come from the depot or go there: 2." in read.assumptions


def test_a_total_below_halves_is_none_of_them() -> None:
    """SPEC T5: with it in the column of ids nobody was asked."""
    (asked,) = propose_mapping(table(_orders("S1-P", "S1-D") + "Total;;2\n"), "tickets", {}).open_columns
    assert asked.options == ("shipment_half", "id")


def test_a_third_row_of_a_shipment_is_refused() -> None:
    """SPEC T7: who calls them halves is told of those that are no pair."""
    with pytest.raises(InputError) as caught:
        imported_day(_orders("S1-P", "S1-D", "S1-Delivery"), columns={"Order": "shipment_half"})
    (fault,) = caught.value.errors
    assert (fault.path, fault.hint) == ("/4/Order", "Give each pickup and its delivery an id of their own.")


def test_a_half_that_is_called_a_return_goes_to_the_depot() -> None:
    """SPEC T5: as in a column of kinds."""
    delivered, returned = tickets_of(_orders("S1-Delivery", "S1-Return"), columns={"Order": "shipment_half"})
    assert (delivered["id"], "pickup" in delivered) == ("S1", False)
    assert (returned["id"], returned["kind"]) == ("S1 pickup", "pickup")


def _orders(*ids: str) -> str:
    rows = [f"{name};Ring {at}, 79098 Freiburg;1\n" for at, name in enumerate(ids, 1)]
    return "".join(["Order;Address;Qty\n", *rows])


def test_halves_that_a_column_joins_are_not_asked_about() -> None:
    """SPEC T5: one question about one thing."""
    rows = "S1-P;pickup;Ring 1, 79098 Freiburg;\nS1-D;delivery;Seeweg 9, 79104 Freiburg;S1-P\n"
    text = f"Order;Kind;Address;Ref\n{rows}"
    assert [each.header for each in propose_mapping(table(text), "tickets", {}).open_columns] == ["Ref"]


@pytest.mark.parametrize("kinds", ["Pickup Delivery", "P D", "Abholung Lieferung", "取货 送货"])
def test_halves_of_which_a_column_says_the_kind_are_not_asked_about(kinds: str) -> None:
    """SPEC T5: the column is the answer."""
    first, second = tickets_of(_orders_of_kinds(*kinds.split()))
    assert (first["id"], first["kind"], second["id"], second["pickup"]) == ("7 pickup", "pickup", "7", "7 pickup")


@pytest.mark.parametrize("kinds", ["Delivery Pickup", "Delivery Delivery", "Return Delivery"])
def test_halves_of_which_a_column_says_another_kind_are_asked_about(kinds: str) -> None:
    """SPEC T5: which of the two is right is not guessed."""
    (asked,) = propose_mapping(table(_orders_of_kinds(*kinds.split())), "tickets", {}).open_columns
    assert (asked.header, asked.options) == ("Order", ("shipment_half", "id"))


def _orders_of_kinds(first: str, second: str) -> str:
    return f"Order;Kind;Address;Qty\n7-A;{first};Ring 1, 79098 Freiburg;1\n7-B;{second};Seeweg 9, 79104 Freiburg;1\n"


def test_three_rows_of_one_number_are_no_pair() -> None:
    """SPEC T7: which of two places a pickup goes to is not guessed."""
    text = "Order,Type,lat,lon\n7,Pickup,52.5,13.4\n7,Delivery,52.6,13.5\n7,Delivery,52.7,13.6\n"
    (fault,) = refused(text)
    assert (fault.path, fault.hint) == ("/4/Order", "Give each pickup and its delivery an id of their own.")


def test_who_says_which_of_two_places_counts_is_asked_about_the_hours_of_the_other() -> None:
    """SPEC T5: times are never left out in silence."""
    mapping = propose_mapping(table(COURIER), "tickets", {"Pickup address": "notes"})
    assert {column.header for column in mapping.open_columns} == {"Pickup from", "Pickup to"}


def test_amounts_are_those_of_the_shipment_whatever_their_header() -> None:
    """SPEC T5: a weight called that of the pickup was left out with no question."""
    text = "id,Pickup address,Delivery address,Pickup weight (kg)\na,Ring 1,Seeweg 9,5\n"
    mapping = propose_mapping(table(text), "tickets", {"Pickup address": "pickup_address"})
    assert mapping.fields["Pickup weight (kg)"] == "demand"
    assert [each["demand"] for each in tickets_of(text, columns={"Pickup address": "pickup_address"})] == [5, 5]


def test_hours_to_load_in_are_no_time_that_loading_takes() -> None:
    """SPEC T5: below `Ladezeit` a window was asked for the unit of a stay."""
    text = (
        "Sendungsnr;Beladeort;Ladezeit;Entladeort;Entladezeit;Paletten\n"
        "S1;Ring 1, 79098 Freiburg;8-10;Seeweg 9, 79104 Freiburg;10-14;4\n"
    )
    first, second = tickets_of(text, columns={"Beladeort": "pickup_address"})
    assert (first["time_windows"], second["time_windows"]) == ([["08:00", "10:00"]], [["10:00", "14:00"]])
    assert proposed("id;Ort;Entladezeit", "a;Bonn;15").open_columns[0].options[0] == "service_min"


def test_names_of_two_places_are_asked_about() -> None:
    """SPEC T5: both were left out in silence, and every ticket was at a place of its own."""
    text = "Job;Pickup;Drop-off;Items\n1;Warehouse A;Shop 7;3\n2;Warehouse B;Shop 9;1\n"
    asked = propose_mapping(table(text), "tickets", {}).open_columns
    assert [(each.header, each.options) for each in asked] == [
        ("Pickup", ("pickup_location", "notes")),
        ("Drop-off", ("location", "notes")),
    ]
    (open_column,) = propose_mapping(table(text), "tickets", {"Pickup": "pickup_location"}).open_columns
    assert open_column.header == "Drop-off"
    tickets = tickets_of(text, columns={"Pickup": "pickup_location", "Drop-off": "location"})
    assert [each["location"] for each in tickets] == ["Warehouse A", "Shop 7", "Warehouse B", "Shop 9"]


def test_a_field_of_the_place_of_pickup_is_of_tickets_alone() -> None:
    """SPEC T7: what agents cannot have is refused with what they can."""
    with pytest.raises(InputError) as caught:
        propose_mapping(table("id,Home\nv,X\n"), "agents", {"Home": "pickup_address"})
    assert [fault.problem for fault in caught.value.errors] == ["There is no such field."]


@pytest.mark.parametrize(
    "text",
    [
        "Auftrag;Abholadresse;PLZ;Ort;Menge\n1;Ring 1;79098;Freiburg;2\n",
        "Order;Collection address;City;Postcode;Qty\n1;Ring 1;Freiburg;79098;2\n",
        "Order;Street;City;Pickup postcode;Qty\n1;Ring 1;Freiburg;79098;2\n",
        "Order;Pickup address;Lat;Lon;Qty\n1;Ring 1, 79098 Freiburg;48.0;7.8;2\n",
    ],
)
def test_parts_of_one_address_are_no_two_places(text: str) -> None:
    """SPEC T5: who only fetches goods has the word in one of the columns of the address, and is asked nothing."""
    mapping = propose_mapping(table(text), "tickets", {})
    assert mapping.open_columns == ()
    assert mapping.left_out == ()
    (ticket,) = tickets_of(text)
    assert "Ring 1" in ticket["address"]


@pytest.mark.parametrize(
    ("headers", "cells", "header"),
    [
        ("Order;Pickup street;Pickup city;Street;City", "a;Ring 1;Freiburg;Seeweg 9;Bonn", "Pickup street"),
        ("Auftrag;Abholstraße;Abhol-PLZ;Straße;PLZ", "a;Ring 1;79098;Seeweg 9;53111", "Abholstraße"),
        ("Order;Origin lat;Origin lon;lat;lon", "a;52.5;13.4;52.6;13.5", "Origin lat"),
    ],
)
def test_parts_that_both_places_have_are_asked_about(headers: str, cells: str, header: str) -> None:
    """SPEC T5: though only one of them is called after the pickup."""
    assert proposed(headers, cells).open_columns[0].header == header


def test_what_is_called_original_is_of_no_pickup() -> None:
    """SPEC T5: an amount called so was left out with no question."""
    mapping = proposed("id;Original address;Address;Original qty", "a;Ring 1, 79098 Bonn;Ring 2, 79098 Bonn;3")
    assert [column.header for column in mapping.open_columns] == ["Original address", "Address", "Original qty"]


@pytest.mark.parametrize("header", ["Country of origin", "Pays d'origine", "País de origen", "原产国"])
@pytest.mark.parametrize(
    ("headers", "place"),
    [
        ("Address", "Ring 1, 79098 Bonn"),
        ("Street;Town;Country", "Ring 1;Bonn;Germany"),
        ("Street;Town", "Ring 1;Bonn"),
        ("Delivery street;Delivery town", "Ring 1;Bonn"),
        ("lat;lon", "50.7;7.1"),
    ],
)
def test_where_goods_were_made_is_no_place_to_fetch_them(header: str, headers: str, place: str) -> None:
    """SPEC T5: a country beside a place was asked about, or taken for where that is; beside a pickup it is of that."""
    mapping = proposed(f"id;{headers};{header};kg", f"a;{place};China;3")
    assert (mapping.open_columns, mapping.left_out) == ((), (header,))


def test_a_country_beside_an_address_of_pickup_is_of_that_place() -> None:
    """SPEC T5: though its name may speak of the origin of goods."""
    headers, cells = "id;Address;Pickup address;Origin country", "a;Ring 1, 79098 Bonn;Ring 2, 53111 Bonn;Belgium"
    mapping = proposed(headers, cells, {"Pickup address": "pickup_address"})
    assert mapping.fields["Origin country"] == "pickup_address"


def test_a_row_with_two_places_is_a_shipment_whatever_its_kind_is_called() -> None:
    """SPEC T5: a courier calls all its orders pickups; a delivery that is one itself was refused."""
    text = "Order,Type,Pickup address,Delivery address\na,Pickup,Ring 1,Seeweg 9\nb,Delivery,Ring 2,Seeweg 8\n"
    tickets = tickets_of(text, columns={"Pickup address": "pickup_address"})
    assert [(each.get("kind"), each.get("pickup")) for each in tickets] == [
        *(("pickup", None), (None, "a pickup")),
        *(("pickup", None), (None, "b pickup")),
    ]


def test_a_fault_in_a_cell_of_both_halves_is_reported_once() -> None:
    """SPEC T7: the cell is one, though two tickets have its amount."""
    text = "Order,Pickup address,Delivery address,Qty\na,Ring 1,Seeweg 9,x\n"
    with pytest.raises(InputError) as caught:
        tickets_of(text, columns={"Pickup address": "pickup_address"})
    assert [fault.path for fault in caught.value.errors] == ["/2/Qty"]
