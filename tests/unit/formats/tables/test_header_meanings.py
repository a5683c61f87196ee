"""What headers say that nobody put into a list of words as they stand (SPEC T5)."""

from dataclasses import replace

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.import_formats import read_scenario_file
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.column_mapping import ColumnMapping
from planner_mcp.formats.tables.column_proposal import propose_mapping
from planner_mcp.formats.tables.header_meanings import meaning_of, normalized
from planner_mcp.formats.tables.header_words import FIELDS
from planner_mcp.formats.tables.import_options import ImportedScenario, ImportOptions
from planner_mcp.formats.tables.scenario_from_tables import scenario_of_tables
from planner_mcp.formats.tables.text_tables import read_table

PLACES = ("52.52,13.40", "52.53,13.41")


def imported(header: str, *cells: str) -> ImportedScenario:
    """Read a list of tickets with places and one further column."""
    rows = [f"{place},{cell}" for place, cell in zip(PLACES, cells, strict=True)]
    text = "\n".join([f"lat,lon,{header}", *rows])
    agents = ({"id": "v", "capacity": 9},)
    options = ImportOptions("day", "2025-07-16", "52.5,13.4", agents=agents)
    return read_scenario_file(Content(text.encode()), "csv", options, max_tickets=9, max_agents=9)


def mapping_of(header: str, *cells: str) -> ColumnMapping:
    return imported(header, *cells).proposals["tickets"]


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
    options = ImportOptions("day", "2025-07-16", "52.5,13.4", agents=({"id": "v", "capacity": 9},))
    read = read_scenario_file(Content(text.encode()), "csv", options, max_tickets=9, max_agents=9)
    assert read.proposals["tickets"].fields[header] == field


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


STAFF = "Mitarbeiter,Kürzel,{},km-Kosten,Stundenlohn,lat,lon\nAnn,AN,Gas/Elektro,1,28,52,13\nBo,BO,Kälte,1,30,52,13"


@pytest.mark.parametrize(
    ("ours", "theirs"), [("Qualifikation", "Qualifikationen"), ("Skill", "Kann"), ("Was", "Skills"), ("Trade", "Trade")]
)
def test_skills_are_known_by_the_other_table(ours: str, theirs: str) -> None:
    """SPEC T5: else nobody could serve what wants a skill, or whoever lacks it would be sent."""
    orders = read_table(f"id,lat,lon,{ours}\na,52.52,13.4,Gas\nb,52.53,13.41,Kälte".encode(), max_rows=9)
    staff = read_table(STAFF.format(theirs).encode(), max_rows=9)
    read = scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert [ticket["skills"] for ticket in read.body["tickets"]] == [["Gas"], ["Kälte"]]
    agents = [(each["id"], each["name"], each["skills"], each["cost_per_hour"]) for each in read.body["agents"]]
    assert agents == [("AN", "Ann", ["Gas", "Elektro"], 28), ("BO", "Bo", ["Kälte"], 30)]
    assert "Skills with a stroke are read as several: Gas/Elektro." in read.assumptions


@pytest.mark.parametrize("who", ["Ann", "AN", "ann"])
def test_a_column_of_agents_is_asked_about_and_its_names_become_ids(who: str) -> None:
    """SPEC T5: who is to come is not left to chance in silence, and people know each other by name."""
    orders = read_table(f"id,lat,lon,Monteur\na,52.52,13.4,{who}\nb,52.53,13.41,".encode(), max_rows=9)
    staff = read_table(STAFF.format("Skills").encode(), max_rows=9)
    with pytest.raises(InputError) as caught:
        scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    (fault,) = caught.value.errors
    assert (fault.accepted, "it names agents, texts" in fault.problem) == (
        "only_agents or preferred_agent or notes",
        True,
    )
    answered = ImportOptions("day", "2025-07-16", columns={"Monteur": "only_agents"})
    read = scenario_of_tables({"tickets": orders, "agents": staff}, answered)
    assert [ticket.get("agents") for ticket in read.body["tickets"]] == [["AN"], None]


@pytest.mark.parametrize(
    ("prices", "price"), [(",", 5000), ("1,", 5), (",30", 3), ("1.5,30", 10.5), ("0,0", 0)], ids=str
)
def test_a_preferred_agent_without_a_price_is_worth_a_detour(prices: str, price: float) -> None:
    """SPEC T5: without a price a preference has no effect; the price assumed is that of five kilometres."""
    orders = read_table(b"id,lat,lon,Preferred driver\na,52.52,13.4,Ann\nb,52.53,13.41,", max_rows=9)
    staff = read_table(f"id,name,per km,per hour\n1,Ann,{prices}\n2,Bo,{prices}".encode(), max_rows=9)
    read = scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    found = [(ticket.get("preferred_agent"), ticket.get("switch_cost")) for ticket in read.body["tickets"]]
    assert found == [("1", price), (None, None)]
    notices = [line for line in read.assumptions if "preferred agent" in line]
    worth = f"Another than the preferred agent costs as much as 5 km: {price:g} a visit."
    assert notices == ([worth] if price else [])


def test_a_price_of_another_agent_in_the_table_is_kept() -> None:
    """SPEC T5: nothing is assumed where the table says what a preference is worth."""
    orders = read_table(b"id,lat,lon,preferred_agent,switch_cost\na,52.52,13.4,1,7\nb,52.53,13.41,1,", max_rows=9)
    staff = read_table(b"id\n1\n2", max_rows=9)
    read = scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert [ticket.get("switch_cost") for ticket in read.body["tickets"]] == [7, None]


@pytest.mark.parametrize("header", ["Zone", "Preferred zone"])
def test_a_column_that_both_tables_have_is_asked_about_and_read_in_both(header: str) -> None:
    """SPEC T5: else agents of another zone would be sent; a skill of tickets that no agent has would leave them out."""
    orders = read_table(f"id,lat,lon,{header}\na,52.52,13.4,North\nb,52.53,13.41,South\nc,52,13,".encode(), max_rows=9)
    staff = read_table(b"id,capacity,skills,Zone\n1,9,Gas,North\n2,9,,South", max_rows=9)
    with pytest.raises(InputError) as caught:
        scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    (fault,) = caught.value.errors
    assert (fault.accepted, "agents have this column too" in fault.problem) == ("skills or notes", True)
    answered = ImportOptions("day", "2025-07-16", columns={header: "skills"})
    body = scenario_of_tables({"tickets": orders, "agents": staff}, answered).body
    assert [ticket.get("skills") for ticket in body["tickets"]] == [["North"], ["South"], None]
    assert [agent["skills"] for agent in body["agents"]] == [["Gas", "North"], ["South"]]
    left = ImportOptions("day", "2025-07-16", columns={header: ""})
    assert all(
        "skills" not in ticket
        for ticket in scenario_of_tables({"tickets": orders, "agents": staff}, left).body["tickets"]
    )


def test_the_depot_of_a_ticket_is_asked_about_where_agents_start_there() -> None:
    """SPEC T5: what lies in one depot was carried by vehicles of another, in silence; they start where they did."""
    orders = read_table(b"id,lat,lon,Depot\na,52.52,13.4,North\nb,52.53,13.41,South\nc,52,13,", max_rows=9)
    depots = read_table(b"Depot,lat,lon\nNorth,52.6,13.4\nSouth,52.4,13.4", max_rows=9)
    staff = read_table(b"id,capacity,Start depot\n1,9,North\n2,9,South", max_rows=9)
    tables = {"tickets": orders, "agents": staff, "locations": depots}
    with pytest.raises(InputError) as caught:
        scenario_of_tables(tables, ImportOptions("day", "2025-07-16"))
    assert caught.value.errors[0].accepted == "skills or notes"
    body = scenario_of_tables(tables, ImportOptions("day", "2025-07-16", columns={"Depot": "skills"})).body
    assert [ticket.get("skills") for ticket in body["tickets"]] == [["North"], ["South"], None]
    assert [(each["start_location"], each["skills"]) for each in body["agents"]] == [
        ("North", ["North"]),
        ("South", ["South"]),
    ]


def test_a_column_that_names_other_tickets_is_asked_about() -> None:
    """SPEC T5: deliveries went out before what they deliver was picked up; small numbers are no ids."""
    text = "Shipment,Type,lat,lon,{}\nS1-P,Pickup,52.52,13.4,{}\nS1-D,Delivery,52.53,13.41,{}"
    orders = read_table(text.format("Pickup ref", "", "S1-P").encode(), max_rows=9)
    (column,) = propose_mapping(orders, "tickets", {}).open_columns
    assert (column.header, column.options) == ("Pickup ref", ("pickup_ticket", "notes"))
    answered = ImportOptions("day", "2025-07-16", columns={"Pickup ref": "pickup_ticket"}, agents=({"id": "v"},))
    assert scenario_of_tables({"tickets": orders}, answered).body["tickets"][1]["pickup"] == "S1-P"
    counted = read_table(b"Order,lat,lon,Ref\n1,52.52,13.4,2\n2,52.53,13.41,1", max_rows=9)
    assert all("pickup_ticket" not in each.options for each in propose_mapping(counted, "tickets", {}).open_columns)


def test_a_column_of_one_word_in_both_tables_is_not_asked_about() -> None:
    """SPEC T5: a country that all agents share tells none apart."""
    orders = read_table(b"id,lat,lon,Country\na,52.52,13.4,DE\nb,52.53,13.41,DE", max_rows=9)
    staff = read_table(b"id,Country\n1,DE\n2,DE", max_rows=9)
    read = scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert all("skills" not in ticket for ticket in read.body["tickets"])


def test_two_agents_of_one_name_are_not_taken_for_each_other() -> None:
    """SPEC T5: such a ticket may be served by any, with a note."""
    orders = read_table(b"id,lat,lon,who\na,52.52,13.4,Ann", max_rows=9)
    staff = read_table(b"id,name\n1,Ann\n2,Ann", max_rows=9)
    options = ImportOptions("day", "2025-07-16", columns={"who": "only_agents"})
    read = scenario_of_tables({"tickets": orders, "agents": staff}, options)
    assert "agents" not in read.body["tickets"][0]
    assert "Tickets that name unknown agents, which may be served by any: 1." in read.assumptions


def test_a_skill_that_tickets_want_as_it_stands_is_not_parted() -> None:
    """SPEC T5: `C/CE` of both tables is one."""
    orders = read_table(b"id,lat,lon,skills\na,52.52,13.4,C/CE\nb,52.53,13.41,C", max_rows=9)
    staff = read_table(b"id,skills\nv,C/CE", max_rows=9)
    read = scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert read.body["agents"][0]["skills"] == ["C/CE"]


@pytest.mark.parametrize("header", ["E-Mail-Adresse", "Email address", "Adres e-mail", "Address"])
def test_a_column_of_mail_is_no_part_of_the_address(header: str) -> None:
    """SPEC T5: it stood before the street in every address, also in those that are sent to a geocoder."""
    orders = read_table(f"id,{header},Straße,Ort\na,m@x.de,Weg 1,Bonn\nb,k@x.de,Weg 2,Köln".encode(), max_rows=9)
    assert header not in propose_mapping(orders, "tickets", {}).fields


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
    staff = read_table(f"id,{header}\nv,0.8\nw,0.6".encode(), max_rows=9)
    assert propose_mapping(staff, "agents", {}).fields.get(header) == field


def test_nurses_are_known_by_name() -> None:
    """SPEC T5: who is to come was asked about as a skill."""
    orders = read_table("id,lat,lon,Infirmière préférée\na,52.52,13.4,Ann\nb,52.53,13.41,Bo".encode(), max_rows=9)
    staff = read_table(b"Infirmier,Secteur\nAnn,Est\nBo,Nord", max_rows=9)
    with pytest.raises(InputError) as caught:
        scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert caught.value.errors[0].accepted == "only_agents or preferred_agent or notes"


def test_hours_of_work_are_no_minutes() -> None:
    """SPEC T5: the unit of the header is the one that is proposed."""
    assert mapping_of("预计工时(小时)", "1.5", "2").fields["预计工时(小时)"] == "service_h"
    assert mapping_of("Aufwand [h]", "1.5", "2").fields["Aufwand [h]"] == "service_h"
    with pytest.raises(InputError) as caught:
        imported("Kontakt [h]", "1.5", "2")
    assert caught.value.errors[0].accepted == "service_h or notes"


def test_a_break_of_one_hour_alone_is_no_begin_of_a_shift() -> None:
    """SPEC T5: `Lunch` with 13:00 below it may be a break, and no side of a shift."""
    staff = read_table(b"id,Lunch\nv,13:00\nw,12:30", max_rows=9)
    (column,) = propose_mapping(staff, "agents", {}).open_columns
    assert column.options == ("break_start", "break_end")


def test_a_long_header_may_be_named_as_answers_show_it() -> None:
    """SPEC T5, T7: whoever copies it from the question found no such column."""
    header = "Wie lange dauert der Einsatz voraussichtlich vor Ort"
    orders = read_table(f"id,lat,lon,{header}\na,52.52,13.4,30\nb,52.53,13.41,45".encode(), max_rows=9)
    asked = ImportOptions("day", "2025-07-16", agents=({"id": "v"},))
    with pytest.raises(InputError) as caught:
        scenario_of_tables({"tickets": orders}, asked)
    shown = f"{header[:39]}…"
    assert f'"{shown}"' in caught.value.errors[0].problem
    answered = replace(asked, columns={shown: "service_min"})
    read = scenario_of_tables({"tickets": orders}, answered)
    assert [ticket["service_time_s"] for ticket in read.body["tickets"]] == [1800, 2700]


def test_start_of_agents_is_a_place_where_its_cells_are_addresses() -> None:
    """SPEC T5: it was asked which end of the shift an address is."""
    orders = read_table(b"id,lat,lon\na,52.52,13.4\nb,52.53,13.41", max_rows=9)
    staff = read_table(b'Name,Start,Beginn,Ende\nAnn,"Hauptstr. 1, Berlin",07:30,16:00\nBo,,07:30,16:00', max_rows=9)
    read = scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    first, second = read.body["agents"]
    assert (first["shift_start"], first["shift_end"]) == ("07:30", "16:00")
    assert ("start_location" in first, "start_location" in second) == (True, False)


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
    orders = read_table(f"id,lat,lon,{header}\na,52.52,13.4,{cells[0]}\nb,52.53,13.41,{cells[1]}".encode(), max_rows=9)
    assert propose_mapping(orders, "tickets", {}).fields.get(header) == field


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
    text = f"id,lat,lon,{header}\na,52.52,13.4,{cells[0]}\nb,52.53,13.41,{cells[1]}".encode()
    orders = read_table(text, max_rows=9)
    (column,) = propose_mapping(orders, "tickets", {}).open_columns
    assert column.options == ("kind", "notes")
    answered = ImportOptions("day", "2025-07-16", columns={header: "kind"}, agents=({"id": "v"},))
    read = scenario_of_tables({"tickets": orders}, answered).body["tickets"]
    assert [ticket.get("kind", "delivery") for ticket in read] == kinds


@pytest.mark.parametrize("cells", [("E-01", "E-02"), ("80012345", "80012346")])
def test_what_names_the_rows_is_neither_hours_nor_an_amount(cells: tuple[str, str]) -> None:
    """SPEC T5: `e-01` was until one o'clock, as if an Italian `and` stood before it."""
    orders = read_table(f"Vorgang,lat,lon\n{cells[0]},52.52,13.4\n{cells[1]},52.53,13.41".encode(), max_rows=9)
    assert propose_mapping(orders, "tickets", {}).fields["Vorgang"] == "id"


def test_a_begin_among_days_is_asked_about_where_the_end_is_known() -> None:
    """SPEC T5: each visit was open from midnight."""
    text = b"id,lat,lon,Scheduled Date,Deadline\na,52.52,13.4,2025-07-16 08:00,2025-07-16 12:00"
    (column,) = propose_mapping(read_table(text, max_rows=9), "tickets", {}).open_columns
    assert (column.header, column.options[0]) == ("Scheduled Date", "opens")


def test_a_column_of_skills_alone_goes_before_one_that_has_other_words_too() -> None:
    """SPEC T5: `Business Unit` with one such word became what tickets want, and nobody could serve them."""
    orders = read_table(b"id,lat,lon,Business Unit,Tags\na,52.52,13.4,Cash,badge\nb,52.53,13.41,SLM,", max_rows=9)
    staff = read_table(b'id,skills\nBob,"badge, SLM"', max_rows=9)
    read = scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert [ticket.get("skills") for ticket in read.body["tickets"]] == [["badge"], None]


@pytest.mark.parametrize("headers", ["Moving out,Moving in", "Auszug,Einzug", "Endereço de coleta,Endereço de entrega"])
def test_whole_addresses_below_unknown_headers_are_asked_about(headers: str) -> None:
    """SPEC T5: the first was where the visit is, and the second a note, as a guess."""
    text = f'Job,{headers}\n1,"Rua Augusta 1500, Lisboa","Ringstr. 4, Berlin"\n2,"12 High St, Leeds","4 Low St, York"'
    mapping = propose_mapping(read_table(text.encode(), max_rows=9), "tickets", {})
    asked = [column.header for column in mapping.open_columns if column.options == ("address", "notes")]
    assert sorted(asked) == sorted(headers.split(","))


def test_a_word_that_only_some_agents_have_is_asked_about() -> None:
    """SPEC T5: the one van with a tail lift was not sent where it is needed."""
    orders = read_table(b"id,lat,lon,Loading aid\na,52.52,13.4,Tail lift\nb,52.53,13.41,", max_rows=9)
    staff = read_table(b"id,Loading aid\n1,Tail lift\n2,", max_rows=9)
    with pytest.raises(InputError) as caught:
        scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert caught.value.errors[0].accepted == "skills or notes"


def test_words_for_an_order_of_stops_are_no_ids() -> None:
    """SPEC T7: a plan of another program has `first` and `auto` below Order, and every second row was one too many."""
    text = "Order,lat,lon\nfirst,52.52,13.4\nauto,52.53,13.41\nauto,52.54,13.42"
    assert mapping_of_text(text).left_out == ("Order",)


def mapping_of_text(text: str) -> ColumnMapping:
    return propose_mapping(read_table(text.encode(), max_rows=9), "tickets", {})


def test_types_of_vehicles_are_no_kinds_of_visits() -> None:
    """SPEC T5: what only one of two drivers may do was taken for an unknown kind, the drivers' types left out."""
    orders = read_table(b'id,lat,lon,Types\na,52.52,13.4,"A,B"\nb,52.53,13.41,', max_rows=9)
    staff = read_table(b'Tech,Types\nAnn,"A,B"\nBo,A', max_rows=9)
    with pytest.raises(InputError) as caught:
        scenario_of_tables({"tickets": orders, "agents": staff}, ImportOptions("day", "2025-07-16"))
    assert caught.value.errors[0].accepted == "skills or notes"


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
    table = read_table(f"id,qty,{header}\na,3,{cells[0]}\nb,4,{cells[1]}\n".encode(), max_rows=9)
    (column,) = propose_mapping(table, "tickets", {}).open_columns
    assert column.options[0] == first


@pytest.mark.parametrize("header", ["Min visits", "Stops", "Seats"])
def test_a_number_beside_a_capacity_is_offered_as_one_last(header: str) -> None:
    """SPEC T5: what vehicles carry is known already, and no number is where they start."""
    table = read_table(f"vehicle,payload,{header}\na,900,3\nb,800,2\n".encode(), max_rows=9)
    (column,) = propose_mapping(table, "agents", {}).open_columns
    assert column.options[-1] == "capacity"


@pytest.mark.parametrize("rows", [("v,Ulm",), ("v,Ulm", "w,Ulm")])
def test_a_start_that_is_no_place_of_the_file_is_looked_up_as_an_address(rows: tuple[str, ...]) -> None:
    """SPEC T5: `Start` may have towns, of one vehicle too; it was refused as a time, or as an unknown place."""
    fleet = read_table("\n".join(["vehicle,start,payload", *(f"{row},9" for row in rows)]).encode(), max_rows=9)
    text = 'id,address\na,"Weg 1, 89073 Ulm"\nb,"Weg 2, 89073 Ulm"\n'
    options = ImportOptions("day", "2025-07-16", fleet=fleet)
    day = read_scenario_file(Content(text.encode()), "csv", options, max_tickets=9, max_agents=9).body
    assert day["locations"] == [{"id": "Ulm", "address": "Ulm"}]
    assert {agent["start_location"] for agent in day["agents"]} == {"Ulm"}


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
    fleet = read_table(b"vehicle,plate,payload\nv,UL-AB 1,9\nw,UL-AB 2,9", max_rows=9)
    mapping = propose_mapping(fleet, "agents", {})
    assert (mapping.left_out, mapping.open_columns) == (("plate",), ())


def test_a_capacity_in_a_unit_that_orders_are_named_by_limits_them() -> None:
    """SPEC T5: `Capacity (cases)` beside a second capacity was left unused, for `Cases` were of another kind."""
    assert meaning_of("Capacity (cases)", "agents").dimension == meaning_of("Cases", "tickets").dimension == "boxes"
