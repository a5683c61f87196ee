"""Which field each column of a table is taken for, and what is asked (SPEC T5)."""

from itertools import combinations

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.tables.columns.column_mapping import split_by_table
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.columns.column_values import values_of
from planner_mcp.formats.tables.table_import import TableImport
from tests.shared.formats.day_tables import day_of, proposed, table


def test_headers_that_only_resemble_a_word_are_reported_as_guesses() -> None:
    """SPEC T5: a proposed mapping, to be looked at; whoever knows better says so."""
    proposal = proposed("Order ID,Quantitty,Place,Colour", "a,3,A,red")
    assert proposal.fields == {"Order ID": "id", "Quantitty": "demand", "Place": "location"}
    assert proposal.guessed == ("Quantitty",)
    assert proposal.left_out == ("Colour",)
    assert proposal.looks == {"Colour": "texts (red)"}
    chosen = proposed("Order ID,Place,Colour", "a,A,red", {"Colour": "notes", "Place": ""})
    assert chosen.fields == {"Colour": "notes", "Order ID": "id"}
    for wrong in ({"Size": "id"}, {"Place": "colour"}):
        with pytest.raises(InputError):
            proposed("Order ID,Place", "a,A", wrong)


def test_a_choice_goes_to_the_table_that_has_the_column() -> None:
    """SPEC T5: to the tickets where both have it, unless agents alone know the field."""
    chosen = {"Nr": "id", "Last": "capacity", "Foo": "", "Boss": "name", "Art": "nothing"}
    tickets, agents = split_by_table(chosen, ("Nr", "Last", "Foo", "Art"), ("Nr", "Last", "Foo", "Boss"))
    assert tickets == {"Nr": "id", "Foo": "", "Art": "nothing"}
    assert agents == {"Last": "capacity", "Boss": "name"}
    with pytest.raises(InputError):
        split_by_table({"Bar": ""}, ("Nr",), ("Last",))


def test_a_known_word_goes_before_one_that_resembles_it() -> None:
    """SPEC T5: the number of an order is its id, whatever stands in front of it."""
    assert proposed("order_code,order_id", "x,a").fields == {"order_id": "id"}


@pytest.mark.parametrize(
    ("header", "cell", "field"),
    [
        ("服务时间(分钟)", "15", "service_min"),
        ("服务时间（分钟/单）", "15", "service_min"),
        ("Service time (est.) (min)", "15", "service_min"),
        ("Service time (s)", "15", "service_s"),
        ("service_hr", "0.25", "service_h"),
        ("Service time (std.)", "0.25", "service_h"),
        ("Standzeit Min.", "15", "service_min"),
        ("服务时间", "0:15", "service_min"),
        ("Stop time", "15 min", "service_min"),
        ("Durée d'arrêt", "1h30", "service_min"),
        ("服务时间", "900", "service_s"),
    ],
)
def test_the_unit_of_a_service_time_is_that_of_its_header_or_its_cells(header: str, cell: str, field: str) -> None:
    """SPEC T5: a quarter of an hour is not 15 seconds."""
    assert proposed(f"id,{header}", f"a,{cell}").fields[header] == field


@pytest.mark.parametrize("cell", ["15", "0.25", "120"])
@pytest.mark.parametrize("header", ["Service time", "服务时间", "Stop time", "卸货时长", "Standzeit", "Duración"])
def test_fifteen_is_never_silently_fifteen_seconds(header: str, cell: str) -> None:
    """SPEC T5, T7: "15 what?" is asked; the argument that answers is named."""
    day = day_of(f"id,place,qty,{header}\na,A,1,{cell}\n")
    (fault,) = day.faults
    assert (fault.path, fault.accepted) == ("columns", "service_min or service_s or service_h")
    assert f'Column "{header}" is not used' in fault.problem and cell in fault.problem
    day = day_of(f"id,place,qty,{header}\na,A,1,{cell}\n", chosen={header: "service_min"})
    assert (day.faults, day.tickets[0]["service_time_s"]) == ([], float(cell) * 60)


@pytest.mark.parametrize("cells", [("3", "4"), ("早上", "晚上"), ("soon", "later")])
def test_a_column_called_after_windows_that_has_none_is_asked_about(cells: tuple[str, str]) -> None:
    """SPEC T5: a slot may be a number; another column that has windows is taken in its place."""
    day = TableImport()
    text = "id,place,qty,slot,时段\na,A,1,{},08:00-12:00\nb,B,1,{},不限\n".format(*cells)
    proposal = day.add_tickets(table(text), {})
    assert proposal.fields["时段"] == "window"
    (fault,) = day.faults
    assert fault.path == "columns" and 'Column "slot" is not used' in fault.problem and cells[0] in fault.problem
    assert [each.get("time_windows") for each in day.tickets] == [[["08:00", "12:00"]], None]


def test_a_sentence_that_names_a_half_of_the_day_is_no_window() -> None:
    """SPEC T5: what a customer asks for stays a note."""
    assert values_of(["morning, please ring", "afternoon, by the back door"]).kind == "texts"


def test_a_column_of_two_kinds_equally_often_is_read_in_one_way() -> None:
    """SPEC T5: the same file is read in the same way, in whatever process."""
    one_of_each = {"times": "09:30", "durations": "15 min", "amounts": "12 kg", "numbers": "7", "places": "Hauptstr. 5"}
    for first, second in combinations(one_of_each, 2):
        assert values_of([one_of_each[second], one_of_each[first]]).kind == first, (first, second)


@pytest.mark.parametrize("header", ["Kd.-Nr.", "N° client", "客户信息 门店编号", "Customer ID"])
def test_numbers_of_customers_name_tickets_also_above_a_total(header: str) -> None:
    """SPEC T5: the row that adds up the others has none; such tickets were named by their rows."""
    text = f"Nr,{header},Nom,lat,lon,kg\n1,K-1,Éclair,48.8,2.3,5\n2,K-2,Ôtel,48.9,2.4,6\n,,Total,,,11\n"
    day = day_of(text)
    assert [(ticket["id"], ticket["name"]) for ticket in day.tickets] == [("K-1", "Éclair"), ("K-2", "Ôtel")]
    twice = proposed(f"{header},Nom,lat,lon,kg", "K-1,Éclair,48.8,2.3,5\nK-1,Éclair,48.8,2.3,5\n,,,,10")
    assert header not in twice.fields, "what names two rows names none"
    assert "Kundennummer" not in proposed("Kundennummer,lat,lon", "7,48.8,2.3\n7,48.9,2.4").fields
    assert proposed("Order,lat,lon", "7,48.8,2.3\n7,48.9,2.4").fields["Order"] == "id", (
        "two orders of one number are a mistake"
    )


def test_short_clock_times_may_be_durations() -> None:
    """SPEC T5: whoever is asked what 0:15 is can say that it is how long a stop takes."""
    (column,) = proposed("id,lat,lon,Abladen", "a,48.1,11.5,0:15").open_columns
    assert column.options == ("service_min", "opens", "closes")


def test_numbers_that_may_be_degrees_are_asked_about_as_coordinates() -> None:
    """SPEC T5: in a language that we have no words of, whoever knows can say where the places are."""
    mapping = proposed("Szerokość,Długość,Waga [kg]", "52.2360,21.0080,120\n52.2290,121.0030,85")
    offered = {column.header: column.options[:2] for column in mapping.open_columns}
    assert offered == {"Szerokość": ("lat", "lon"), "Długość": ("lon", "notes")}
    day = TableImport()
    day.add_depot("52.23,21.01")
    assert not day.lacks_coordinates(day.add_tickets(table("Nr,Szerokość\n1,52.2360\n2,52.2290\n"), {})), "it is asked"


@pytest.mark.parametrize(
    ("header", "cell"),
    [("营业时间", "周一至周五 9:00-17:00"), ("Hours", "Mo-Fr 9-17"), ("Info", "Mon-Fri 08:00-18:00, Sat 9-12")],
)
def test_hours_by_weekday_are_a_window_whatever_their_header(header: str, cell: str) -> None:
    """SPEC T5: by the values below it."""
    assert proposed(f"id,Place,{header}", f'a,A,"{cell}"').fields[header] == "window"


def test_headers_of_a_goods_system_are_known() -> None:
    """SPEC T5: short German names of its fields, as its exports write them."""
    headers = "VBELN;NAME1;STRAS;PSTLZ;ORT01;UHRVON;UHRBIS;BRGEW;TELF1"
    mapping = proposed(headers, "80001;Muster GmbH;Torstr. 1;10115;Berlin;08:00;12:00;12,5;030 1234567")
    fields = ["id", "name", "address", "address", "address", "opens", "closes", "demand", "phone"]
    assert list(mapping.fields.values()) == fields


def test_one_field_is_named_for_one_column() -> None:
    """SPEC T7: two columns of latitudes are refused, two parts of an address are not."""
    text = table("Order;A;B\nA1;52.5;52.6\n")
    with pytest.raises(InputError) as error:
        propose_mapping(text, "tickets", {"A": "lat", "B": "lat"})
    assert [fault.problem for fault in error.value.errors] == ["Several columns are named lat."]
    assert propose_mapping(text, "tickets", {"A": "address", "B": "address"}).fields["B"] == "address"


@pytest.mark.parametrize(
    ("headers", "cells"),
    [
        ("Länge cm;Breite cm", "12,5;8"),
        ("Länge (cm);Breite (cm)", "12,5;8"),
        ("Breite [m]", "1,25"),
        ("Länge;Breite;Höhe", "12,5;8;10"),
        ("Breite;Länge;Tiefe", "80;60;40"),
        ("Länge;Breite", "120;60"),
        ("Länge;Breite", "1,20;0,80"),
    ],
)
def test_the_size_of_goods_is_no_position(headers: str, cells: str) -> None:
    """SPEC T5: a box of 120 by 80 cm was delivered at 80° N 120° E, and nothing said so."""
    mapping = proposed(f"Nr;Anschrift;{headers}", f"A1;Ring 5, 79098 Freiburg;{cells}")
    assert not {"lat", "lon"} & {*mapping.fields.values()}
    assert [each.header for each in mapping.open_columns] == headers.split(";")


@pytest.mark.parametrize("cells", ["-22,57;17,08", "1.2864;103.8172", "-1.2864;36.8172"])
def test_places_outside_europe_are_positions_below_german_headers_too(cells: str) -> None:
    """SPEC T5: nothing is as wide as a negative number, or measured to four decimals."""
    mapping = proposed("Nr;Breite;Länge", f"A1;{cells}")
    assert (mapping.fields["Breite"], mapping.fields["Länge"]) == ("lat", "lon")


@pytest.mark.parametrize("header", ["Zeitfenster", "Wann"])
def test_a_hyphen_before_an_hour_and_its_minutes_is_until(header: str) -> None:
    """SPEC T5: -12.30 is no amount."""
    assert proposed(f"Nr;Anschrift;{header}", "A1;Ring 5, 79098 Freiburg;-12.30").fields[header] == "window"


def test_three_boxes_that_are_taken_back_are_no_hour() -> None:
    """SPEC T7: beside 4 they made a column of boxes one of windows, and it was 4 that was no time."""
    text = table("Order;Address;Boxes\n1;Ring 5, 79098 Freiburg;4\n2;Ring 7, 79098 Freiburg;-3\n")
    assert propose_mapping(text, "tickets", {}).fields["Boxes"] == "demand"


def test_a_height_beside_a_position_is_that_of_the_place() -> None:
    """SPEC T5: degrees have decimals."""
    mapping = proposed("Nr;Breite;Länge;Höhe", "A1;47,9959;7,8522;278")
    assert (mapping.fields["Breite"], mapping.fields["Länge"]) == ("lat", "lon")


def test_hours_from_and_to_in_italian() -> None:
    """SPEC T5: `alle` below which no minutes are other than 00 and 30 was asked about, without its meaning."""
    mapping = proposed("Ordine;Consegna dalle;alle", "A1;9.00;12.30")
    assert (mapping.fields["Consegna dalle"], mapping.fields["alle"]) == ("opens", "closes")


@pytest.mark.parametrize(
    ("headers", "row", "address"),
    [
        (
            "Billing Street,Billing City,Shipping Street,Shipping Address1,Shipping City",
            "1 A,Leeds,9 Ship Rd,9 Ship Rd,York",
            "9 Ship Rd, York",
        ),
        ("Rechnungsadresse,Lieferstraße,Liefer-PLZ,Lieferort", "Weg 1,Ring 2,01067,Dresden", "Ring 2, 01067 Dresden"),
        ("Rue de livraison,Rue de facturation", "2 rue B,1 rue A", "2 rue B"),
        ("发票地址,收货地址", "建国路1号,世纪大道2号", "世纪大道2号"),
        ("城市,地址", "上海,上海市浦东新区世纪大道2号", "上海市浦东新区世纪大道2号"),
        ("城市,详细地址", "上海,南京路2号", "上海南京路2号"),
        ("省份,城市,地址", "广东,深圳,科技园1号", "广东深圳科技园1号"),
        ("Straße,Nr.,PLZ,Ort", "Ringstr.,7a,10117,Berlin", "Ringstr. 7a, 10117 Berlin"),
        ("Address 1,Address 2", '"Weg 1, 10115 Berlin","Weg 1, 10115 Berlin"', "Weg 1, 10115 Berlin"),
        ("Straße,PLZ,Ort", "Am Markt,10117,Berlin", "Am Markt, 10117 Berlin"),
        ("Buyer Address 1,Buyer City,Ship To Address 1,Ship To City", "1 A St,Leeds,9 Ship Rd,York", "9 Ship Rd, York"),
        ("billing_address_1,billing_city", "1 Bill St,Leeds", "1 Bill St, Leeds"),
        ("Postcode (Billing),Street (Shipping),Postcode (Shipping)", "94032,Ring 8,94034", "Ring 8, 94034"),
        ("Postcode (Billing),Ship To Street,Ship To Town", "94032,Ring 8,Ulm", "Ring 8, Ulm"),
        ("Service street,Service city,Service ZIP code", "1 Main St,Mesa,85203", "1 Main St, Mesa, 85203"),
        ("Site,Billing Address", '"12 High St, Leeds","1 A St, London"', "12 High St, Leeds"),
        ("Kund,Lieferadresse,Postnr,Ort", "Ek,Storgatan 4,582 23,Linköping", "Storgatan 4, 582 23 Linköping"),
        ("address_1,address_2,city,postcode,country", "Weg 5,2. OG,Bonn,53111,DE", "Weg 5, 2. OG, Bonn, 53111, DE"),
    ],
)
def test_an_address_is_that_of_the_goods_with_all_its_parts(headers: str, row: str, address: str) -> None:
    """SPEC T5: with that of the bill it was in two towns; a column `Nr.` was lost, and a postcode was its number."""
    day = day_of(f"{headers}\n{row}\n")
    assert (day.tickets[0]["address"], day.tickets[0].get("notes")) == (address, None)


@pytest.mark.parametrize(
    ("header", "cell", "asked"),
    [
        ("Scheduled Date", "2025-07-15 09:30:00", ["opens or closes"]),
        ("Datum", "15.07.2025 14:00", ["opens or closes"]),
        ("Order date", "2025-07-14 08:11:00", []),
        ("Date", "2025-07-15", []),
    ],
)
def test_hours_below_a_header_of_days_are_asked_about(header: str, cell: str, asked: list[str]) -> None:
    """SPEC T5: an appointment was left out as a date; when an order was made, and days alone, are no hours."""
    mapping = proposed(f"id,place,{header}", f"a,A,{cell}")
    assert [column.fault().accepted for column in mapping.open_columns] == asked


def test_places_below_start_and_end_are_where_vehicles_begin_and_end() -> None:
    """SPEC T5: names of depots are no times; left out, every vehicle began at its first ticket."""
    day = day_of(agents="Vehicle,Load,Start,End,Shift\nV1,9,North,Hub,8-17\nV2,9,South,Hub,8-17\n")
    ends = [(agent["start_location"], agent["end_location"], agent["shift_start"]) for agent in day.agents]
    assert (day.faults, ends) == ([], [("North", "Hub", "08:00"), ("South", "Hub", "08:00")])


def test_the_name_and_the_phone_of_a_stop_are_those_of_its_recipient() -> None:
    """SPEC T5: no goods and no buyer in the name; a number in the second of two columns of phones is not lost."""
    headers = "buyer-name,product-name,Customer Email,Full Name,First Name,buyer-phone,Telephone,Mobile"
    day = day_of(f"id,{headers}\na,Bob,Tea,a@x.example,Ann Roe,Ann,+1,,+49 2\nb,Bob,Tea,,Tom Doe,,+1,+49 3,+49 4\n")
    assert [(each["name"], each["phone"]) for each in day.tickets] == [
        ("Ann Roe", "+49 2"),
        ("Tom Doe", "+49 3, +49 4"),
    ]


@pytest.mark.parametrize(
    ("headers", "row", "field"),
    [
        ("ID,Order ID,Lat,Lon", ",A1,52.5,13.4", "id"),
        ("Order,Lat,Lon,Open,From", "A,52.5,13.4,,08:00", "opens"),
        ("Order,Lat,Lon,Service time (min),Duration (min)", "A,52.5,13.4,,10", "service_min"),
    ],
)
def test_a_column_that_nobody_filled_takes_no_field_from_another(headers: str, row: str, field: str) -> None:
    """SPEC T5: templates have such columns; beside them ids were dropped, and hours asked about."""
    mapping = proposed(headers, row)
    names, at = headers.split(","), row.split(",").index("")
    assert (mapping.open_columns, mapping.left_out) == ((), (names[at],))
    assert mapping.fields[names[at + 1]] == field


@pytest.mark.parametrize(
    "headers",
    [
        "Absenderadresse,Empfängeradresse",
        "Sender Address,Receiver Address",
        "发件地址,收件地址",
        "Shipper street,Consignee street",
        "Ophaaladres,Bezorgadres",
    ],
)
def test_which_of_two_whole_addresses_counts_is_asked(headers: str) -> None:
    """SPEC T5: lists of couriers have those of sender and receiver; joined they were one address in two towns.

    Who answers with the one that counts says nothing of the other.
    """
    rows = table(f'id,{headers}\na,"Weg 1, Berlin","Ring 2, 01067 Dresden"\n')
    assert [column.header for column in propose_mapping(rows, "tickets", {}).open_columns] == headers.split(",")
    for header in headers.split(","):
        answered = propose_mapping(rows, "tickets", {header: "address"})
        assert answered.open_columns == ()
        assert [each for each, name in answered.fields.items() if name == "address"] == [header]


@pytest.mark.parametrize(
    ("encoding", "headers"),
    [
        ("utf-8", "Ordernummer;Klant;Straat;Plaats;Vroegste levertijd;Uiterste levertijd;Lostijd (min);Gewicht (kg)"),
        ("utf-8", "N. ordine;Cliente;Indirizzo;Città;Consegnare dalle;Consegnare entro;Tempo di scarico (min);Peso"),
        ("cp1250", "Nr zamówienia;Klient;Adres;Miasto;Dostawa od;Dostawa do;Czas rozładunku (min);Ilość palet"),
    ],
)
def test_headers_are_known_in_dutch_italian_and_polish(encoding: str, headers: str) -> None:
    """SPEC T5: also in the encoding that spreadsheets of Central Europe write."""
    read = table(f"{headers}\na;Bo;X 1;Y;08:00;12:00;10;5\n", encoding)
    fields = propose_mapping(read, "tickets", {}).fields
    assert list(fields.values()) == ["id", "name", "address", "address", "opens", "closes", "service_min", "demand"]


@pytest.mark.parametrize(
    ("headers", "cells"),
    [("Straße;Hnr.;Ort", "Ring;12a;Ulm"), ("Straat;Huisnr;Plaats", "Kade;3-2;Utrecht"), ("Addr1;Addr2", "Ring 1;Ulm")],
)
def test_every_part_of_an_address_is_read(headers: str, cells: str) -> None:
    """SPEC T5: tickets lay anywhere in their street, for the number was taken for a time, a window or a note."""
    assert {*proposed(headers, cells).fields.values()} == {"address"}


def test_a_contact_of_digits_is_a_phone() -> None:
    """SPEC T5: the driver read `Hôtel du Lac 06 11 22 33 44` as the name of the stop."""
    mapping = proposed("Client;Contact", "Hôtel du Lac;06 11 22 33 44")
    assert mapping.fields == {"Client": "name", "Contact": "phone"}


def test_a_service_of_a_day_or_more_is_asked_about() -> None:
    """SPEC T5: parcels of a 24h service stood a day at each door."""
    (asked,) = proposed("id;Service", "a;24h").open_columns
    assert (asked.header, asked.options[-1]) == ("Service", "notes")
    assert proposed("id;Service", "a;3h").fields["Service"] == "service_min"


@pytest.mark.parametrize("header", ["Max duration (min)", "Max distance (m)", "Max distance miles"])
def test_a_limit_of_agents_in_another_unit_is_asked_about(header: str) -> None:
    """SPEC T5: 480 minutes were 480 hours, and miles were kilometres."""
    mapping = propose_mapping(table(f"id,capacity,{header}\na,9,480\n"), "agents", {})
    assert [column.header for column in mapping.open_columns] == [header]


@pytest.mark.parametrize(("header", "cell"), [("WO #", "WO-1"), ("Sales order", "SO-12"), ("Tour no", "MO-3")])
def test_a_number_behind_a_weekday_is_no_hour(header: str, cell: str) -> None:
    """SPEC T5: WO-1 was a Wednesday until one, and only a window could be answered."""
    assert proposed(f"{header};address", f"{cell};Weg 1").open_columns == ()


@pytest.mark.parametrize("header", ["下单时间", "付款时间", "创建时间", "Order time", "Timestamp"])
def test_when_an_order_was_made_is_no_question(header: str) -> None:
    """SPEC T5: it is said under what is left out, as such days are."""
    mapping = proposed(f"id;{header}", "a;2025-07-14 20:11:00")
    assert (mapping.left_out, mapping.open_columns) == ((header,), ())


def test_numbered_begins_and_ends_are_windows() -> None:
    """SPEC T5: Routific writes a second window so; the question about it offered what could not be answered."""
    text = "id;address;From;To;From 2;To 2\na;Weg 1;8:00;10:00;14:00;16:00\nb;Weg 2;;;9:00;\nc;Weg 3;8:00;12:00;;\n"
    windows = [ticket["time_windows"] for ticket in day_of(text).tickets]
    assert windows == [[["08:00", "10:00"], ["14:00", "16:00"]], [["09:00", "47:59"]], [["08:00", "12:00"]]]
    fields = proposed("id;Öffnung von;Öffnung bis;Öffnung 2 von;Öffnung 2 bis", "a;8:00;10:00;14:00;16:00").fields
    assert [*fields.values()] == ["id", "opens", "closes", "opens", "closes"]


def test_begins_and_ends_that_are_named_come_in_pairs() -> None:
    """SPEC T5: of two begins and one end nobody knows which window has it."""
    text = "id;A;B;C;D\na;8:00;10:00;14:00;16:00"
    named = {"A": "opens", "B": "closes", "C": "opens", "D": "closes"}
    assert day_of(text, chosen=named).tickets[0]["time_windows"] == [["08:00", "10:00"], ["14:00", "16:00"]]
    with pytest.raises(InputError) as refused:
        day_of(text, chosen=named | {"D": ""})
    assert refused.value.errors[0].problem == "Columns named opens are 2, and those named closes 1."


def test_a_begin_whose_end_is_missing_is_asked_about() -> None:
    """SPEC T5: the end of the second window was taken for that of the first, and the second had none."""
    asked = proposed("id;address;From 1;From 2;To 2", "a;Weg 1;8:00;14:00;15:00").open_columns
    assert [(each.header, each.options) for each in asked] == [
        ("From 1", ("opens", "notes")),
        ("From 2", ("opens", "notes")),
    ]


def test_two_windows_in_which_goods_are_fetched_are_read_again_as_they_were() -> None:
    """SPEC T5: the mapping that an import kept was refused by the next one."""
    text = "id;P;D;Pickup from;Pickup to;Pickup from 2;Pickup to 2\na;Weg 1;Weg 2;8:00;9:00;14:00;15:00\n"
    fields = propose_mapping(table(text), "tickets", {"P": "pickup_address", "D": "address"}).fields
    windows = [["08:00", "09:00"], ["14:00", "15:00"]]
    assert day_of(text, chosen=fields).tickets[0]["time_windows"] == windows
    with pytest.raises(InputError) as refused:
        day_of(text, chosen={**fields, "Pickup to 2": ""})
    assert refused.value.errors[0].problem == "Columns named pickup_opens are 2, and those named pickup_closes 1."


def test_hours_to_load_in_are_of_where_goods_are_fetched_in_dutch_too() -> None:
    """SPEC T5: once the place of loading was named, the hours there counted for where goods go."""
    mapping = proposed(
        "Ophaaladres;Bezorgadres;Laadtijd tot",
        "Kade 7, 3511 AB Utrecht;Plein 1, 3511 AC Utrecht;10:00",
        {"Ophaaladres": "pickup_address"},
    )
    assert mapping.fields["Laadtijd tot"] == "pickup_closes"


def test_positions_of_which_nothing_shows_the_order_are_noted() -> None:
    """SPEC T5: 13.4, 52.5 is Berlin written the other way round, or a place in the sea."""
    note = 'Positions in "{}" are read with the latitude first.'
    assert note.format("gps") in day_of('id,gps\na,"13.4050,52.5200"\n').assumed()
    for header, cell in (("lat/lon", "52.52,13.4"), ("gps", "116.4,39.9"), ("gps", "52.52 N 13.4 E")):
        assert note.format(header) not in day_of(f'id,{header}\na,"{cell}"\n').assumed()


def test_begins_and_ends_go_before_a_column_of_which_some_cells_are_windows() -> None:
    """SPEC T5: visits called AM, Lunch and Tea were taken for windows, and Start and End asked about."""
    text = "Visit;Start;End;address\nAM;07:30;08:15;Weg 1\nLunch;12:00;12:30;Weg 2\nTea;16:30;17:00;Weg 3\n"
    mapping = propose_mapping(table(text), "tickets", {})
    assert (mapping.fields["Start"], mapping.fields["End"]) == ("opens", "closes")
    assert [each.header for each in mapping.open_columns] == ["Visit"]


@pytest.mark.parametrize(("cells", "is_kind"), [("Mia,Leo", False), ("Abholung,Tausch", True), ("P,D", True)])
def test_a_column_of_kinds_says_what_is_picked_up_or_delivered(cells: str, is_kind: bool) -> None:
    """SPEC T5: `Kind` is a child in German; its name was taken for a delivery of an unknown kind."""
    first, second = cells.split(",")
    mapping = propose_mapping(table(f"id,Kind\na,{first}\nb,{second}\n"), "tickets", {})
    assert ("Kind" in mapping.fields) is is_kind
    assert "Type" in propose_mapping(table(f"id,Type\na,{first}\nb,{second}\n"), "tickets", {}).fields


def test_a_time_that_cannot_be_read_is_asked_about() -> None:
    """SPEC T5: a column of times is never left out in silence, whatever stands around them."""
    (asked,) = proposed("id;Preferred time", "a;Slot A (08:00-10:00)").open_columns
    assert (asked.header, asked.options) == ("Preferred time", ("window", "notes"))
    assert proposed("id;Lieferzeit", "a;n. V.").open_columns == ()


@pytest.mark.parametrize(
    ("cells", "options"), [("10:00,AM", ("opens", "closes", "notes")), ("10:00,11:00", ("opens", "closes"))]
)
def test_times_of_which_some_are_none_may_be_notes(cells: str, options: tuple[str, ...]) -> None:
    """SPEC T5: no answer to the question about such a column was accepted."""
    first, second = cells.split(",")
    (asked,) = propose_mapping(table(f"id,Time\na,{first}\nb,{second}\n"), "tickets", {}).open_columns
    assert asked.options == options


def test_dutch_addresses_of_unloading_are_not_those_of_loading() -> None:
    """SPEC T5: `Aflaadadres` has the word for the place of loading in it; the two were read as one address."""
    rows = "id,Laadadres,Aflaadadres\na,Kerkstraat 1 Gent,Kerkstraat 2 Gent\n"
    asked = propose_mapping(table(rows), "tickets", {}).open_columns
    assert [(column.header, column.options[0]) for column in asked][:1] == [("Laadadres", "pickup_address")]
