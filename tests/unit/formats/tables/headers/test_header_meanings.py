"""What headers say that nobody put into a list of words as they stand (SPEC T5)."""

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.tables.columns.column_mapping import ColumnMapping
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized
from planner_mcp.formats.tables.headers.header_words import FIELDS
from planner_mcp.formats.tables.import_options import ImportedScenario
from tests.shared.formats.day_tables import imported_day, refused, table

PLACES = ("52.52,13.40", "52.53,13.41")


def imported(header: str, *cells: str) -> ImportedScenario:
    """Read a list of tickets with places and one further column."""
    rows = [f"{place},{cell}" for place, cell in zip(PLACES, cells, strict=True)]
    return imported_day("\n".join([f"lat,lon,{header}", *rows]), planning_date="2025-07-16", depot="52.5,13.4")


def mapping_of(header: str, *cells: str) -> ColumnMapping:
    return imported(header, *cells).proposals["tickets"]


def mapping_of_table(text: str, kind: str = "tickets") -> ColumnMapping:
    return propose_mapping(table(text), kind, {})


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("Can't arrive before", "opens"),
        ("Nicht vor", "opens"),
        ("Pas avant", "opens"),
        ("No antes de", "opens"),
        ("Not before", "opens"),
        ("No más tarde de", "closes"),
        ("frühestens", "opens"),
        ("spätestens", "closes"),
        ("Heure mini", "opens"),
        ("Heure maxi", "closes"),
        ("Au plus tôt", "opens"),
        ("Levering tot", "closes"),
        ("Tijd tot", "closes"),
        ("打烊", "closes"),
        ("几点后可收", "opens"),
        ("几点前送到", "closes"),
    ],
)
def test_a_side_of_a_window_is_known_without_a_word_for_time(header: str, field: str) -> None:
    """SPEC T5: and a negation turns `before` and `after` round, but not `later`."""
    assert mapping_of(header, "08:00", "09:30").fields[header] == field


@pytest.mark.parametrize("header", ["Travel time (min)", "Zeitpuffer (min)", "Temps de trajet (min)", "车程(分钟)"])
def test_a_driving_time_is_asked_about_and_is_no_service_time(header: str) -> None:
    """SPEC T5: a wrong reading is worse than a question."""
    with pytest.raises(InputError, match="is not used") as caught:
        imported(header, "15", "20")
    assert header in str(caught.value.errors)


@pytest.mark.parametrize(
    ("header", "cells", "field"),
    [
        ("Enlèvement ou livraison", ("Livraison", "Enlèvement"), "kind"),
        ("Was", ("Abholung", "Zustellung"), "kind"),
        ("Folio", ("F-1", "F-2"), "id"),
        ("LS-Nr.", ("4711", "4712"), "id"),
        ("N° BL", ("BL7", "BL9"), "id"),
        ("# of pallets", ("3", "1"), "demand"),
        ("No. of cartons", ("3", "1"), "demand"),
        ("Temps prévu", ("2h", "45min"), "service_min"),
        ("Min. to unload", ("12", "5"), "service_min"),
        ("Urgence", ("Haute", "Basse"), "priority"),
        ("Dringlichkeit", ("hoch", "normal"), "priority"),
        ("Technicien requis", ("Plombier", "Frigoriste"), "skills"),
    ],
)
def test_the_cells_say_what_a_header_leaves_open(header: str, cells: tuple[str, str], field: str) -> None:
    """SPEC T5: by its parts and by the values below it."""
    text = "\n".join([f"{header},lat,lon", *(f"{cell},{place}" for cell, place in zip(cells, PLACES, strict=True))])
    assert imported_day(text).proposals["tickets"].fields[header] == field


def test_answers_of_yes_and_no_are_no_skills() -> None:
    """SPEC T5: a skill called `Y` would leave every such order unserved; the column is listed."""
    assert mapping_of("Driver required?", "Y", "N").left_out == ("Driver required?",)


def test_hours_of_several_columns_alike_are_windows_together() -> None:
    """SPEC T5: `Slot 1` and `Slot 2` of one row."""
    read = imported("Slot 1,Slot 2", "08:00-10:00,14:00-16:00", "09:00-11:00,")
    windows = [ticket["time_windows"] for ticket in read.body["tickets"]]
    assert windows == [[["08:00", "10:00"], ["14:00", "16:00"]], [["09:00", "11:00"]]]


def test_hours_by_weekday_say_that_public_holidays_are_not_known() -> None:
    """SPEC T5: what is said of holidays is named as not used."""
    read = imported("Opening hours", "Mo-Fr 9-17; PH off", "Mo-Sa 8-18")
    assert list(read.assumptions) == [
        'Hours by weekday in "Opening hours" are read for 2025-07-16; public holidays are not known.',
        'Hours of public holidays (PH) in "Opening hours" are not used.',
        "No agent has a shift, so routes may begin at midnight.",
        "Tickets without a demand, for which 0 is taken: 2.",
        "No ticket has a service time: stops take no time.",
    ]


def test_a_column_that_names_other_tickets_is_asked_about() -> None:
    """SPEC T5: deliveries went out before what they deliver was picked up; small numbers are no ids."""
    text = "Shipment,Type,lat,lon,{}\nS1-P,Pickup,52.52,13.4,{}\nS1-D,Delivery,52.53,13.41,{}"
    orders = text.format("Pickup ref", "", "S1-P")
    (column,) = mapping_of_table(orders).open_columns
    assert (column.header, column.options) == ("Pickup ref", ("pickup_ticket", "notes"))
    answered = imported_day(orders, columns={"Pickup ref": "pickup_ticket"})
    assert answered.body["tickets"][1]["pickup"] == "S1-P"
    counted = "Order,lat,lon,Ref\n1,52.52,13.4,2\n2,52.53,13.41,1"
    assert all("pickup_ticket" not in each.options for each in mapping_of_table(counted).open_columns)


@pytest.mark.parametrize("header", ["E-Mail-Adresse", "Email address", "Adres e-mail", "Address"])
def test_a_column_of_mail_is_no_part_of_the_address(header: str) -> None:
    """SPEC T5: it stood before the street in every address, also in those that are sent to a geocoder."""
    orders = f"id,{header},Straße,Ort\na,m@x.de,Weg 1,Bonn\nb,k@x.de,Weg 2,Köln"
    assert header not in mapping_of_table(orders).fields


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("Kosten/km", "cost_per_km"),
        ("Coût/km", "cost_per_km"),
        ("Rate (€/km)", "cost_per_km"),
        ("公里单价", "cost_per_km"),
        ("Kosten/h", "cost_per_hour"),
        ("Price per hour", "cost_per_hour"),
        ("Costs", None),
        ("Reichweite km", None),
    ],
)
def test_prices_of_agents_are_known_by_their_unit(header: str, field: str | None) -> None:
    """SPEC T5: left out, they had the plan weigh hours against nothing."""
    staff = f"id,{header}\nv,0.8\nw,0.6"
    assert mapping_of_table(staff, "agents").fields.get(header) == field


def test_hours_of_work_are_no_minutes() -> None:
    """SPEC T5: the unit of the header is the one that is proposed."""
    assert mapping_of("预计工时(小时)", "1.5", "2").fields["预计工时(小时)"] == "service_h"
    assert mapping_of("Aufwand [h]", "1.5", "2").fields["Aufwand [h]"] == "service_h"
    assert refused("lat,lon,Kontakt [h]\n52.52,13.4,1.5\n52.53,13.41,2")[0].accepted == "service_h or notes"


def test_a_break_of_one_hour_alone_is_no_begin_of_a_shift() -> None:
    """SPEC T5: `Lunch` with 13:00 below it may be a break, and no side of a shift."""
    staff = "id,Lunch\nv,13:00\nw,12:30"
    (column,) = mapping_of_table(staff, "agents").open_columns
    assert column.options == ("break_start", "break_end")


def test_a_long_header_may_be_named_as_answers_show_it() -> None:
    """SPEC T5, T7: whoever copies it from the question found no such column."""
    header = "Wie lange dauert der Einsatz voraussichtlich vor Ort"
    orders = f"id,lat,lon,{header}\na,52.52,13.4,30\nb,52.53,13.41,45"
    shown = f"{header[:39]}…"
    assert f'"{shown}"' in refused(orders)[0].problem
    read = imported_day(orders, columns={shown: "service_min"})
    assert [ticket["service_time_s"] for ticket in read.body["tickets"]] == [1800, 2700]


@pytest.mark.parametrize(
    ("header", "cells", "field"),
    [
        ("Length (mins)", ("30", "45"), "service_min"),
        ("Length (m)", ("2.5", "4"), None),
        ("P/D", ("P", "D"), "kind"),
        ("Zone", ("D", "D"), None),
        ("Key safe", ("1234", "0099"), "notes"),
        ("Was tun", ("Abholen", "Liefern"), "kind"),
        ("Actie", ("brengen", "ophalen"), "kind"),
        ("Duur (min)", ("20", "30"), "service_min"),
        ("Lossen (min)", ("20", "30"), "service_min"),
        ("Rozładunek (min)", ("20", "30"), "service_min"),
    ],
)
def test_headers_of_care_and_parcels_are_known(header: str, cells: tuple[str, str], field: str | None) -> None:
    """SPEC T5: a length in minutes is a stay, one in metres is not; one letter alone says nothing of a pickup."""
    orders = f"id,lat,lon,{header}\na,52.52,13.4,{cells[0]}\nb,52.53,13.41,{cells[1]}"
    assert mapping_of_table(orders).fields.get(header) == field


@pytest.mark.parametrize(
    ("header", "cells", "kinds"),
    [
        ("Action", ("Swap", "Collect"), ["delivery", "pickup"]),
        ("Actie", ("wisselen", "ophalen"), ["delivery", "pickup"]),
        ("Pickup", ("FALSE", "TRUE"), ["delivery", "pickup"]),
        ("Abholung", ("nein", "ja"), ["delivery", "pickup"]),
    ],
)
def test_a_column_that_may_say_what_is_picked_up_is_asked_about(
    header: str, cells: tuple[str, str], kinds: list[str]
) -> None:
    """SPEC T5: it was left out, and what was to be collected was delivered."""
    orders = f"id,lat,lon,{header}\na,52.52,13.4,{cells[0]}\nb,52.53,13.41,{cells[1]}"
    (column,) = mapping_of_table(orders).open_columns
    assert column.options == ("kind", "notes")
    read = imported_day(orders, columns={header: "kind"}).body["tickets"]
    assert [ticket.get("kind", "delivery") for ticket in read] == kinds


@pytest.mark.parametrize("cells", [("E-01", "E-02"), ("80012345", "80012346")])
def test_what_names_the_rows_is_neither_hours_nor_an_amount(cells: tuple[str, str]) -> None:
    """SPEC T5: `e-01` was until one o'clock, as if an Italian `and` stood before it."""
    orders = f"Vorgang,lat,lon\n{cells[0]},52.52,13.4\n{cells[1]},52.53,13.41"
    assert mapping_of_table(orders).fields["Vorgang"] == "id"


def test_a_begin_among_days_is_asked_about_where_the_end_is_known() -> None:
    """SPEC T5: each visit was open from midnight."""
    text = "id,lat,lon,Scheduled Date,Deadline\na,52.52,13.4,2025-07-16 08:00,2025-07-16 12:00"
    (column,) = mapping_of_table(text).open_columns
    assert (column.header, column.options[0]) == ("Scheduled Date", "opens")


@pytest.mark.parametrize("headers", ["Moving out,Moving in", "Auszug,Einzug", "Endereço de coleta,Endereço de entrega"])
def test_whole_addresses_below_unknown_headers_are_asked_about(headers: str) -> None:
    """SPEC T5: the first was where the visit is, and the second a note, as a guess."""
    text = f'Job,{headers}\n1,"Rua Augusta 1500, Lisboa","Ringstr. 4, Berlin"\n2,"12 High St, Leeds","4 Low St, York"'
    mapping = mapping_of_table(text)
    asked = [column.header for column in mapping.open_columns if column.options == ("address", "notes")]
    assert sorted(asked) == sorted(headers.split(","))


def test_words_for_an_order_of_stops_are_no_ids() -> None:
    """SPEC T7: a plan of another program has `first` and `auto` below Order, and every second row was one too many."""
    text = "Order,lat,lon\nfirst,52.52,13.4\nauto,52.53,13.41\nauto,52.54,13.42"
    assert mapping_of_table(text).left_out == ("Order",)


@pytest.mark.parametrize(
    ("header", "cells", "first"),
    [
        ("Sold Hours", ("2:30", "1:15"), "service_h"),
        ("Sold Hours", ("2.5", "1"), "service_h"),
        ("Est. Hrs", ("2", "1.5"), "service_h"),
        ("Soll-Std", ("2", "1.5"), "service_h"),
        ("Zeit", ("20", "30"), "service_min"),
        ("Min visits", ("3", "2"), "notes"),
        ("Floors", ("3", "2"), "notes"),
    ],
)
def test_the_likeliest_field_of_an_open_column_stands_first(header: str, cells: tuple[str, str], first: str) -> None:
    """SPEC T5: the first is what people in a hurry answer; beside a known amount a number is rather a note."""
    text = f"id,qty,{header}\na,3,{cells[0]}\nb,4,{cells[1]}\n"
    (column,) = mapping_of_table(text).open_columns
    assert column.options[0] == first


@pytest.mark.parametrize("header", ["Min visits", "Stops", "Seats"])
def test_a_number_beside_a_capacity_is_offered_as_one_last(header: str) -> None:
    """SPEC T5: what vehicles carry is known already, and no number is where they start."""
    text = f"vehicle,payload,{header}\na,900,3\nb,800,2\n"
    (column,) = mapping_of_table(text, "agents").open_columns
    assert column.options[-1] == "capacity"


TICKET_FIELDS = "id,name,address,address,phone,notes,demand,service,opens,closes,window,priority,date"


TICKET_HEADERS = {
    "cs": "Číslo objednávky,Zákazník,Ulice,PSČ,Telefon,Poznámka,Hmotnost (kg),Doba vykládky,Nejdříve,Nejpozději,"
    "Časové okno,Priorita,Datum doručení",
    "tr": "Sipariş No,Müşteri,Adres,Posta Kodu,Cep Telefonu,Açıklama,AĞIRLIK (kg),Servis Süresi,En Erken,En Geç,"
    "Zaman Aralığı,Öncelik,Teslim Tarihi",
    "sv": "Ordernummer,Kund,Gatuadress,Postnummer,Telefonnummer,Anmärkning,Vikt (kg),Lossningstid,Tidigast,Senast,"
    "Leveransfönster,Prioritet,Leveransdatum",
    "pt": "Nº do pedido,Cliente,Endereço de entrega,CEP,Telefone,Observações,Peso (kg),Tempo de descarga,Mais cedo,"
    "Mais tarde,Janela de entrega,Prioridade,Data de entrega",
    "ja": "注文番号,届け先名,住所,郵便番号,電話番号,備考,重量(kg),作業時間,開始時刻,終了時刻,指定時間,優先度,配達日",
}


AGENT_FIELDS = "id,name,capacity,shift_start,shift_end,break"


AGENT_HEADERS = {
    "cs": "SPZ,Řidič,Nosnost (kg),Začátek směny,Konec směny,Přestávka",
    "tr": "Plaka,Sürücü,Kapasite,Vardiya BAŞLANGICI,Vardiya Bitişi,Mola",
    "sv": "Regnr,Förare,Maxlast (kg),Starttid,Sluttid,Rast",
    "pt": "Placa,Motorista,Capacidade,Início do turno,Fim do turno,Almoço",
    "ja": "車両番号,ドライバー,最大積載量(kg),勤務開始,勤務終了,休憩",
}


@pytest.mark.parametrize("language", TICKET_HEADERS)
def test_headers_of_a_dispatcher_are_known_in_other_languages(language: str) -> None:
    """SPEC T5: Czech, Turkish, Swedish, Portuguese and Japanese; each header by itself, whatever the others are."""
    for kind, fields, lines in (("tickets", TICKET_FIELDS, TICKET_HEADERS), ("agents", AGENT_FIELDS, AGENT_HEADERS)):
        headers = lines[language].split(",")
        found = {header: meaning_of(header, kind).field for header in headers}
        assert found == dict(zip(headers, fields.split(","), strict=True))


def test_no_word_of_a_header_names_two_fields() -> None:
    """SPEC T5: the first of two fields would win in silence, in whatever language the other was meant."""
    for fields in FIELDS.values():
        words = [(normalized(word).replace(" ", ""), field) for field, line in fields.items() for word in line.split()]
        assert len(dict(words)) == len(set(words))


@pytest.mark.parametrize(
    ("header", "cells", "seconds"),
    [
        ("Dauer", ("0,0104", "0,0208"), [900, 1800]),
        ("Dauer (min)", ("0,010416667", "0,03125"), [900, 2700]),
        ("Dauer (h)", ("0,0833", "0,25"), [299.88, 900]),
        ("Dauer (min)", ("0,5", "2"), [30, 120]),
    ],
)
def test_parts_of_a_day_are_stays_of_whole_minutes(header: str, cells: tuple[str, str], seconds: list[float]) -> None:
    """SPEC T5: spreadsheets keep 15 minutes as 0.0104, which as minutes would be nothing; no hours are such."""
    found = imported(header, *(f'"{cell}"' for cell in cells))
    assert [ticket["service_time_s"] for ticket in found.body["tickets"]] == pytest.approx(seconds)


def test_a_priority_of_zero_in_all_rows_is_none() -> None:
    """SPEC T5: Route4Me exports it so where nobody set one; beside others it may be the least, and is refused."""
    found = imported("Priority", "0", "0")
    assert all("priority" not in ticket for ticket in found.body["tickets"])
    assert '"Priority" is 0 in all rows, which is no priority.' in found.assumptions
    assert [ticket["priority"] for ticket in imported("Priority", "0", "2").body["tickets"]] == [0, 2]


@pytest.mark.parametrize("header", ["Alias", "Praxis"])
def test_other_words_for_who_is_visited_are_names(header: str) -> None:
    """SPEC T5: Route4Me calls it so, and couriers between doctors."""
    assert mapping_of(header, "Weber", "Adler").fields[header] == "name"


def test_times_as_text_and_as_parts_of_a_day_may_stand_in_one_column() -> None:
    """SPEC T5: in a workbook some cells are times that lost their format, and others were typed as text."""
    found = imported("Earliest", "08:30", "0.375")
    assert [ticket["time_windows"][0][0] for ticket in found.body["tickets"]] == ["08:30", "09:00"]


def test_a_plate_beside_another_id_is_no_address() -> None:
    """SPEC T5: in UL-AB 1 a word for streets stands before a number."""
    fleet = "vehicle,plate,payload\nv,UL-AB 1,9\nw,UL-AB 2,9"
    mapping = mapping_of_table(fleet, "agents")
    assert (mapping.left_out, mapping.open_columns) == (("plate",), ())


def test_a_capacity_in_a_unit_that_orders_are_named_by_limits_them() -> None:
    """SPEC T5: `Capacity (cases)` beside a second capacity was left unused, for `Cases` were of another kind."""
    assert meaning_of("Capacity (cases)", "agents").dimension == meaning_of("Cases", "tickets").dimension == "boxes"
