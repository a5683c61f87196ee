"""What tickets need and agents have, in columns of yes and no (SPEC T5)."""

from planner_mcp.formats.tables.import_options import ImportedScenario
from tests.shared.formats.day_tables import imported_day

ORDERS = "id,lat,lon,Laadklep nodig,ADR,Paid\na,52.1,13.1,ja,UN 1263,ja\nb,52.2,13.1,nee,nee,nee\n"
FLEET = "Kenteken,Laadvermogen,Laadklep,ADR\nv,9,ja,nee\nw,9,nee,x\n"


def read(columns: dict[str, str]) -> ImportedScenario:
    return imported_day(ORDERS, FLEET, depot="52,13", columns=columns)


def test_what_tickets_need_and_agents_have_is_a_skill() -> None:
    """SPEC T5: a van without a tail lift was sent to pallets, as the columns were left out."""
    day = read({})
    assert [each.get("skills") for each in day.body["tickets"]] == [["Laadklep", "ADR"], None]
    assert [each.get("skills") for each in day.body["agents"]] == [["Laadklep"], ["ADR"]]
    assert day.proposals["tickets"].left_out == ("Paid",)
    assert 'All but no in "Laadklep nodig" is read as the skill "Laadklep".' in day.assumptions


def test_a_column_of_yes_and_no_that_the_caller_names_stays_as_it_is() -> None:
    """SPEC T5: whoever knows better names the field."""
    day = read({"Laadklep nodig": "notes"})
    assert day.body["tickets"][0]["skills"] == ["ADR"]
    assert day.body["tickets"][0]["notes"] == "Laadklep nodig ja"


def test_a_mapping_that_was_kept_reads_yes_and_no_as_the_first_import_did() -> None:
    """SPEC T5: the next day with it had the skills `ja` and `nee`."""
    kept = {header: name for each in read({}).proposals.values() for header, name in each.fields.items()}
    assert read(kept).body == read({}).body


def test_of_two_columns_alike_the_one_of_the_same_words_is_meant() -> None:
    """SPEC T5: who needs a crane was sent whoever may drive one; `none` and `not required` are no need."""
    orders = (
        "id,lat,lon,Kran,Kranschein\na,52.1,13.1,ja,none\nb,52.2,13.1,n/a,ja\nc,52.3,13.1,not required,nicht nötig\n"
    )
    day = imported_day(orders, "id,capacity,Kran,Kranschein\nv,9,ja,nein\nw,9,nein,ja\n", depot="52,13")
    assert [each.get("skills") for each in day.body["tickets"]] == [["Kran"], ["Kranschein"], None]
    assert [each.get("skills") for each in day.body["agents"]] == [["Kran"], ["Kranschein"]]


def test_headers_that_begin_with_the_same_few_letters_are_not_alike() -> None:
    """SPEC T5: agents of the morning, `AM`, have no skill that an `Amount` of 1 would need."""
    orders, fleet = "id,lat,lon,Amount\na,52.1,13.1,1\nb,52.2,13.1,3\n", "id,capacity,AM\nv,9,yes\nw,9,no\n"
    day = imported_day(orders, fleet, depot="52,13")
    assert [each.get("skills") for each in day.body["tickets"]] == [None, None]


def test_a_sign_answers_yes_or_no() -> None:
    """SPEC T5: a column of ✓ was one of empty cells, and in Chinese one of kinds."""
    day = imported_day("id,address,Tail lift\na,Weg 1,✓\nb,Weg 2,\n", "id,capacity,Tail lift\nv,9,√\nw,9,✗\n")
    assert [each.get("skills") for each in day.body["tickets"]] == [["Tail lift"], None]
    assert [each.get("skills") for each in day.body["agents"]] == [["Tail lift"], None]
