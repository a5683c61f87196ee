"""What a column of one table says by what stands in the other: skills, names of agents, depots (SPEC T5)."""

import pytest

from tests.shared.formats.day_tables import imported_day, refused, table

STAFF = "Mitarbeiter,Kürzel,{},km-Kosten,Stundenlohn,lat,lon\nAnn,AN,Gas/Elektro,1,28,52,13\nBo,BO,Kälte,1,30,52,13"


@pytest.mark.parametrize(
    ("ours", "theirs"), [("Qualifikation", "Qualifikationen"), ("Skill", "Kann"), ("Was", "Skills"), ("Trade", "Trade")]
)
def test_skills_are_known_by_the_other_table(ours: str, theirs: str) -> None:
    """SPEC T5: else nobody could serve what wants a skill, or whoever lacks it would be sent."""
    orders = f"id,lat,lon,{ours}\na,52.52,13.4,Gas\nb,52.53,13.41,Kälte"
    read = imported_day(orders, STAFF.format(theirs))
    assert [ticket["skills"] for ticket in read.body["tickets"]] == [["Gas"], ["Kälte"]]
    agents = [(each["id"], each["name"], each["skills"], each["cost_per_hour"]) for each in read.body["agents"]]
    assert agents == [("AN", "Ann", ["Gas", "Elektro"], 28), ("BO", "Bo", ["Kälte"], 30)]
    assert "Skills with a stroke are read as several: Gas/Elektro." in read.assumptions


@pytest.mark.parametrize("who", ["Ann", "AN", "ann"])
def test_a_column_of_agents_is_asked_about_and_its_names_become_ids(who: str) -> None:
    """SPEC T5: who is to come is not left to chance in silence, and people know each other by name."""
    orders = f"id,lat,lon,Monteur\na,52.52,13.4,{who}\nb,52.53,13.41,"
    staff = STAFF.format("Skills")
    (fault,) = refused(orders, staff)
    assert fault.accepted == "only_agents or preferred_agent or notes"
    assert "it names agents, texts" in fault.problem
    read = imported_day(orders, staff, columns={"Monteur": "only_agents"})
    assert [ticket.get("agents") for ticket in read.body["tickets"]] == [["AN"], None]


@pytest.mark.parametrize(
    ("prices", "price"), [(",", 5000), ("1,", 5), (",30", 3), ("1.5,30", 10.5), ("0,0", 0)], ids=str
)
def test_a_preferred_agent_without_a_price_is_worth_a_detour(prices: str, price: float) -> None:
    """SPEC T5: without a price a preference has no effect; the price assumed is that of five kilometres."""
    orders = "id,lat,lon,Preferred driver\na,52.52,13.4,Ann\nb,52.53,13.41,"
    staff = f"id,name,per km,per hour\n1,Ann,{prices}\n2,Bo,{prices}"
    read = imported_day(orders, staff)
    found = [(ticket.get("preferred_agent"), ticket.get("switch_cost")) for ticket in read.body["tickets"]]
    assert found == [("1", price), (None, None)]
    notices = [line for line in read.assumptions if "preferred agent" in line]
    worth = f"Another than the preferred agent costs as much as 5 km: {price:g} a visit."
    assert notices == ([worth] if price else [])


def test_a_price_of_another_agent_in_the_table_is_kept() -> None:
    """SPEC T5: nothing is assumed where the table says what a preference is worth."""
    orders = "id,lat,lon,preferred_agent,switch_cost\na,52.52,13.4,1,7\nb,52.53,13.41,1,"
    read = imported_day(orders, "id\n1\n2")
    assert [ticket.get("switch_cost") for ticket in read.body["tickets"]] == [7, None]


@pytest.mark.parametrize("header", ["Zone", "Preferred zone"])
def test_a_column_that_both_tables_have_is_asked_about_and_read_in_both(header: str) -> None:
    """SPEC T5: else agents of another zone would be sent; a skill of tickets that no agent has would leave them out."""
    orders = f"id,lat,lon,{header}\na,52.52,13.4,North\nb,52.53,13.41,South\nc,52,13,"
    staff = "id,capacity,skills,Zone\n1,9,Gas,North\n2,9,,South"
    (fault,) = refused(orders, staff)
    assert (fault.accepted, "agents have this column too" in fault.problem) == ("skills or notes", True)
    body = imported_day(orders, staff, columns={header: "skills"}).body
    assert [ticket.get("skills") for ticket in body["tickets"]] == [["North"], ["South"], None]
    assert [agent["skills"] for agent in body["agents"]] == [["Gas", "North"], ["South"]]
    left_out = imported_day(orders, staff, columns={header: ""})
    assert all("skills" not in ticket for ticket in left_out.body["tickets"])


def test_the_depot_of_a_ticket_is_asked_about_where_agents_start_there() -> None:
    """SPEC T5: what lies in one depot was carried by vehicles of another, in silence; they start where they did."""
    orders = "id,lat,lon,Depot\na,52.52,13.4,North\nb,52.53,13.41,South\nc,52,13,"
    depots = "Depot,lat,lon\nNorth,52.6,13.4\nSouth,52.4,13.4"
    staff = "id,capacity,Start depot\n1,9,North\n2,9,South"
    assert refused(orders, staff, depots)[0].accepted == "skills or notes"
    body = imported_day(orders, staff, depots, columns={"Depot": "skills"}).body
    assert [ticket.get("skills") for ticket in body["tickets"]] == [["North"], ["South"], None]
    assert [(each["start_location"], each["skills"]) for each in body["agents"]] == [
        ("North", ["North"]),
        ("South", ["South"]),
    ]


def test_a_column_of_one_word_in_both_tables_is_not_asked_about() -> None:
    """SPEC T5: a country that all agents share tells none apart."""
    orders = "id,lat,lon,Country\na,52.52,13.4,DE\nb,52.53,13.41,DE"
    staff = "id,Country\n1,DE\n2,DE"
    read = imported_day(orders, staff)
    assert all("skills" not in ticket for ticket in read.body["tickets"])


def test_two_agents_of_one_name_are_not_taken_for_each_other() -> None:
    """SPEC T5: such a ticket may be served by any, with a note."""
    orders = "id,lat,lon,who\na,52.52,13.4,Ann"
    staff = "id,name\n1,Ann\n2,Ann"
    read = imported_day(orders, staff, columns={"who": "only_agents"})
    assert "agents" not in read.body["tickets"][0]
    assert "Tickets that name unknown agents, which may be served by any: 1." in read.assumptions


def test_a_skill_that_tickets_want_as_it_stands_is_not_parted() -> None:
    """SPEC T5: `C/CE` of both tables is one."""
    orders = "id,lat,lon,skills\na,52.52,13.4,C/CE\nb,52.53,13.41,C"
    staff = "id,skills\nv,C/CE"
    read = imported_day(orders, staff)
    assert read.body["agents"][0]["skills"] == ["C/CE"]


def test_nurses_are_known_by_name() -> None:
    """SPEC T5: who is to come was asked about as a skill."""
    orders = "id,lat,lon,Infirmière préférée\na,52.52,13.4,Ann\nb,52.53,13.41,Bo"
    staff = "Infirmier,Secteur\nAnn,Est\nBo,Nord"
    assert refused(orders, staff)[0].accepted == "only_agents or preferred_agent or notes"


def test_start_of_agents_is_a_place_where_its_cells_are_addresses() -> None:
    """SPEC T5: it was asked which end of the shift an address is."""
    orders = "id,lat,lon\na,52.52,13.4\nb,52.53,13.41"
    staff = 'Name,Start,Beginn,Ende\nAnn,"Hauptstr. 1, Berlin",07:30,16:00\nBo,,07:30,16:00'
    read = imported_day(orders, staff)
    first, second = read.body["agents"]
    assert (first["shift_start"], first["shift_end"]) == ("07:30", "16:00")
    assert ("start_location" in first, "start_location" in second) == (True, False)


def test_a_column_of_skills_alone_goes_before_one_that_has_other_words_too() -> None:
    """SPEC T5: `Business Unit` with one such word became what tickets want, and nobody could serve them."""
    orders = "id,lat,lon,Business Unit,Tags\na,52.52,13.4,Cash,badge\nb,52.53,13.41,SLM,"
    staff = 'id,skills\nBob,"badge, SLM"'
    read = imported_day(orders, staff)
    assert [ticket.get("skills") for ticket in read.body["tickets"]] == [["badge"], None]


def test_a_word_that_only_some_agents_have_is_asked_about() -> None:
    """SPEC T5: the one van with a tail lift was not sent where it is needed."""
    orders = "id,lat,lon,Loading aid\na,52.52,13.4,Tail lift\nb,52.53,13.41,"
    staff = "id,Loading aid\n1,Tail lift\n2,"
    assert refused(orders, staff)[0].accepted == "skills or notes"


def test_types_of_vehicles_are_no_kinds_of_visits() -> None:
    """SPEC T5: what only one of two drivers may do was taken for an unknown kind, the drivers' types left out."""
    orders = 'id,lat,lon,Types\na,52.52,13.4,"A,B"\nb,52.53,13.41,'
    staff = 'Tech,Types\nAnn,"A,B"\nBo,A'
    assert refused(orders, staff)[0].accepted == "skills or notes"


@pytest.mark.parametrize("rows", [("v,Ulm",), ("v,Ulm", "w,Ulm")])
def test_a_start_that_is_no_place_of_the_file_is_looked_up_as_an_address(rows: tuple[str, ...]) -> None:
    """SPEC T5: `Start` may have towns, of one vehicle too; it was refused as a time, or as an unknown place."""
    fleet = "\n".join(["vehicle,start,payload", *(f"{row},9" for row in rows)])
    text = 'id,address\na,"Weg 1, 89073 Ulm"\nb,"Weg 2, 89073 Ulm"\n'
    day = imported_day(text, fleet=table(fleet)).body
    assert day["locations"] == [{"id": "Ulm", "address": "Ulm"}]
    assert {agent["start_location"] for agent in day["agents"]} == {"Ulm"}
