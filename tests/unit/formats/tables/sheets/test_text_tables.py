"""Tables of text whatever their encoding, marks and lines above the header (SPEC T5)."""

from collections.abc import Sequence

import pytest

from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.formats.tables.columns.column_proposal import propose_mapping
from planner_mcp.formats.tables.sheets import text_tables
from planner_mcp.formats.tables.sheets.text_tables import read_table
from planner_mcp.formats.tables.table_import import TableImport
from tests.shared.formats.day_tables import table


def test_a_line_of_units_below_the_header_belongs_to_it() -> None:
    """SPEC T5: its words were read as the first ticket, and every column was refused for them."""
    lines = "Auftrag,Breite,Länge,Gewicht,von,bis,Standzeit", ",°,°,kg,Uhr,Uhr,[min]", "A1,48.1,11.5,120,08:00,12:00,15"
    day = TableImport()
    mapping = day.add_tickets(table("\n".join(lines)), {})
    assert (day.faults, mapping.open_columns, len(day.tickets)) == ([], (), 1)
    assert (day.tickets[0]["service_time_s"], mapping.units["Gewicht (kg)"].dimension) == (900, "weight_kg")
    assert len(table("Auftrag,Gewicht,Menge\nA1,kg,3\n").rows) == 1, "a ticket with a unit in it is one"
    assert table("Auftrag,Gewicht,Standzeit,Tor\n,kg,min\nA1,3,5,2\n").headers[-1] == "Tor", "the line may end early"


def test_headers_below_their_groups_need_no_merged_cells() -> None:
    """SPEC T5: a workbook saved as CSV has none; the line of headers was read as the first ticket."""
    groups, heads = "Client;Livraison;;;Horaires;;Charge;", ";Rue;CP;Ville;Ouverture;Fermeture;Poids kg;Nb palettes"
    rows = "Noël;1 rue Hugo;69002;Lyon;8h;12h;150,5;1\nÇelik;2 place B;69002;Lyon;7h30;11h45;80;1"
    day = TableImport()
    mapping = day.add_tickets(table(f"{groups}\n{heads}\n{rows}\n"), {"Charge Nb palettes": "notes"})
    assert (day.faults, mapping.open_columns, len(day.tickets)) == ([], (), 2)
    first = {name: day.tickets[0][name] for name in ("name", "address", "time_windows")}
    assert first == {"name": "Noël", "address": "1 rue Hugo, 69002 Lyon", "time_windows": [["08:00", "12:00"]]}


@pytest.mark.parametrize("text", ["", "\n\n", "a,a\n1,2\n", ",,\n"])
def test_what_is_no_table_is_refused(text: str) -> None:
    """SPEC T7: no header, or one twice."""
    with pytest.raises(InputError):
        table(text)


@pytest.mark.parametrize(
    "text",
    [
        "Stop;Address;Boxes\n1;Ring 5;4\n2;Ring 7;3\n\nVehicle;Capacity\nVan 1;40\n",
        "车辆;载重\n京A1;40\n京A2;30\n\n单号;地址;件数;电话\n1;建国路1号;4;13800000001\n",
    ],
)
def test_a_table_below_another_one_is_refused(text: str) -> None:
    """SPEC T7: vehicles below the stops were stops, the first of them with Capacity for its address."""
    with pytest.raises(InputError) as caught:
        table(text)
    assert [(fault.path, fault.problem) for fault in caught.value.errors] == [("/5", "Another table begins here.")]


def test_a_file_with_an_empty_line_below_each_row_is_read_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A4: not each row of it is compared with the words of headers."""
    compared: list[Sequence[str]] = []
    monkeypatch.setattr(text_tables, "names_columns", compared.append)
    rows = "".join(f"Shop {chr(97 + at % 26)};Ring\n\n" for at in range(2000))
    assert len(read_table(f"Name;Address\n{rows}".encode(), max_rows=2000).rows) == 2000
    assert len(compared) <= 500


@pytest.mark.parametrize(
    "below", ["Stop;Address;Boxes", "Driver:;Date:;", "Ring;Depot;3", "Subtotal;;7", "Depot;;", "a;A;", "a;de;"]
)
def test_other_lines_below_an_empty_one_are_no_table(below: str) -> None:
    """SPEC T5: the header once more, a line to sign, a stop."""
    assert len(table(f"Stop;Address;Boxes\n1;Ring 5;4\n\n{below}\n2;Ring 7;3\n").rows) >= 2


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('id,place,code\na,A,"urgent\nb,B,x\nc,C,y\n', "/2"),
        ('id,place,code\na,A,"two\nlines"\nb,B,"urgent\nc,C,"x"\n', "/4"),
        ('id;place;code\na;A;"said ""urgent""\n' + "b;B;x\n" * 30_000, "/2"),
        ("id,place,qty\na,A,3\nb,B,1,200\n", "/3"),
    ],
    ids=["open", "opened twice", "long", "thousands"],
)
def test_a_row_whose_cells_are_not_clear_is_reported_by_its_line(text: str, path: str) -> None:
    """SPEC T5, T7: a quote that nothing closes swallows no rows, 1,200 is not 1; neither is passed over."""
    with pytest.raises(InputError) as caught:
        read_table(text.encode(), max_rows=100_000)
    assert [fault.path for fault in caught.value.errors] == [path]


def test_a_cell_in_quotes_may_have_lines_and_separators() -> None:
    """SPEC T5: as spreadsheets write them; a quote within a cell, and empty cells behind the last, are no slip."""
    rows = table('id,notes,size\na,"two\nlines, ""so""",5" pipe,,\n').rows
    assert [cells for _, cells in rows] == [{"id": "a", "notes": 'two\nlines, "so"', "size": '5" pipe'}]


@pytest.mark.parametrize(
    ("line", "mark"), [("sep=;\r\n", ";"), ('"SEP=|"\n', "|"), ("sep=\t\n", "\t"), ("sep=,\n", ",")]
)
def test_a_separator_that_the_first_line_names_parts_the_rows(line: str, mark: str) -> None:
    """SPEC T5: a line for spreadsheets is no header; rows keep the numbers they have in the file."""
    read = table(line + "id,notes;x\na,b\n".replace(",", mark))
    assert (read.headers[0], [(number, cells["id"]) for number, cells in read.rows]) == ("id", [(3, "a")])


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_lines_are_counted_however_they_end(end: str) -> None:
    """SPEC T5, T7: those of an old Mac too; a row of several lines is told by its first."""
    lines = ["id,place,qty", "a,A,1", "", '"b', 'c",B,1,5', "d,D,7"]
    with pytest.raises(InputError) as caught:
        table(end.join(lines))
    assert [fault.path for fault in caught.value.errors] == ["/4"]
    with pytest.raises(InputError) as caught:
        table(end.join([*lines[:4], 'c",B,1', 'd,"D,7', ""]))
    assert [fault.path for fault in caught.value.errors] == ["/6"]
    assert [line for line, _ in table(end.join([*lines[:4], 'c",B,1', lines[5]])).rows] == [2, 4, 6]
    assert [line for line, _ in table(end.join(["sep=;", "id;place,", "a;A"])).rows] == [3]


def test_a_line_that_breaks_outside_of_quotes_is_reported() -> None:
    """SPEC T7: half a row is no ticket."""
    with pytest.raises(InputError) as caught:
        table("id,place\na,A\nb,B\rb,C\nd,D\n")
    (fault,) = caught.value.errors
    assert (fault.path, fault.problem) == ("/3", "The file is not a table of text.")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "gb18030"])
def test_the_encoding_that_was_assumed_is_reported(encoding: str) -> None:
    """SPEC T5: the "Unicode text" of a spreadsheet is read; bytes of another code page would be other names."""
    read = table("订单号\t地点\na\tA\n", encoding)
    assert read.rows == ((2, {"订单号": "a", "地点": "A"}),)
    notices = ("The file is not UTF-8; it was read as GB18030.",)
    assert table("Auftrag;Straße\na;Königsallee\n", "cp1252").headers == ("Auftrag", "Straße")
    assert table("id,place\na,A\n", "utf-16-le").headers == ("id", "place")
    assert read.notices == (notices if encoding == "gb18030" else ())


@pytest.mark.parametrize(
    ("encoding", "name", "cell"),
    [
        ("cp932", "Shift JIS", "鈴木商店 東京都千代田区丸の内1-1"),
        ("cp949", "EUC-KR", "이영희 서울특별시 종로구 사직로 161"),
        ("cp950", "Big5", "王小明 臺北市中正區重慶南路一段122號"),
    ],
)
def test_east_asian_text_keeps_its_letters(encoding: str, name: str, cell: str) -> None:
    """SPEC T5: nearly any bytes of these can be read as GB18030, which gave other names and addresses."""
    read = table(f"id,address\na,{cell}\n", encoding)
    assert read.rows[0][1]["address"] == cell
    assert read.notices == (f"The file is not UTF-8; it was read as {name}.",)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xff\xfei", "The text has no known encoding."),
        (b"PK\x03\x04\x14\0\x06", "The file is a workbook, not text."),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "The file is a workbook, not text."),
    ],
)
def test_what_is_no_table_of_text_is_named_once(data: bytes, problem: str) -> None:
    """SPEC T7: and what to do; not each row below a title."""
    with pytest.raises(InputError) as caught:
        read_table(data, max_rows=100)
    (fault,) = caught.value.errors
    assert (fault.problem, bool(fault.accepted and fault.hint)) == (problem, True)


def test_cells_without_a_header_are_reported() -> None:
    """SPEC T5: nothing is left out in silence; empty columns are nothing to tell."""
    read = table("id,,place,\na,cold,A,\nb,,B,\n")
    assert read.notices == ("Cells left out, for their columns have no header: 1.",)
    assert propose_mapping(read, "tickets", {}).left_out == ()
    assert table("id,,place,\na,,A,\n").notices == ()


@pytest.mark.parametrize(
    "text",
    [
        "Orders of Monday\nid,place\na,A\nb,B\n",
        ",,Monday,\nid,place\na,A\nb,B\n",
        "Tour 5,,\n\nMonday,15.07.2025,\nid,place,qty\na,A,1\n",
    ],
)
def test_a_title_above_the_header_is_passed_over_and_reported(text: str) -> None:
    """SPEC T5: people put one there; no column is called like it."""
    read = table(text)
    assert read.headers[:2] == ("id", "place")
    assert read.notices[0].startswith("Lines above the header, passed over: ")


def test_a_header_in_two_lines_is_read_as_one() -> None:
    """SPEC T5: the window's begin and end stand under it."""
    read = table("单号,地点,时间窗,\n,,开始,结束\na,A,08:00,12:00\n")
    assert read.headers == ("单号", "地点", "时间窗 开始", "时间窗 结束")
    assert list(propose_mapping(read, "tickets", {}).fields.values()) == ["id", "location", "opens", "closes"]


def test_headers_that_stand_twice_are_named() -> None:
    """SPEC T7: among two hundred columns nobody finds them."""
    with pytest.raises(InputError) as caught:
        table("id,Weight,place,Weight\na,1,A,2\n")
    assert caught.value.errors[0].hint == "Rename one: Weight."


def test_a_table_too_long_is_refused() -> None:
    """SPEC X3: limits before work."""
    with pytest.raises(TooLargeError):
        read_table(b"id\n" + b"1\n" * 101, max_rows=100)
    with pytest.raises(InputError):
        read_table(b"\xff\xff\xff\xff", max_rows=100)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('="0012"', "0012"),
        ("'75008", "75008"),
        ("'+33 6", "+33 6"),
        ("'t Hof 5", "'t Hof 5"),
        ("=A1+1", "=A1+1"),
        ('=""', ""),
    ],
)
def test_a_number_that_is_marked_as_text_is_read_without_the_mark(cell: str, text: str) -> None:
    """SPEC T5: exports write zeros in front so; with the marks a postcode is of no city."""
    quoted = cell.replace('"', '""')
    assert table(f'id,code\na,"{quoted}"\n').rows[0][1].get("code", "") == text


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp1250", "Dvořák;Příbram;Šťastný;Žižkova 2"),
        ("cp1250", "Łódź;Święta;Żaba;Gdańsk"),
        ("cp1254", "Ayşe Yılmaz;Kadıköy;Çelik Ltd;Üsküdar"),
        ("cp1252", "Jón Þór;Reykjavík;við;Akureyri"),
        ("cp1252", "Søren;Ærø;Ålborg;Žižek"),
        ("cp1252", "Crèche Škoda;Besançon;Forêt;Nîmes"),
        ("cp1252", "Nicolò Žerjal;Forlì;Cantù;Libertà"),
        ("cp1252", "Peña;São João;où;Müller"),
    ],
)
def test_names_are_read_in_the_encoding_of_their_language(encoding: str, names: str) -> None:
    """SPEC T5: ğ and ř were letters of Iceland and Denmark, and Czech text with ť had no known encoding."""
    one, two, three, four = names.split(";")
    rows = [f"{number};{one};{two}\n{number}a;{three};{four}\n" for number in range(9)]
    read = table("".join(["Order number;Customer;City\n", *rows]), encoding)
    assert [row["Customer"] for _, row in read.rows[:2]] == [one, three]
    assert [row["City"] for _, row in read.rows[:2]] == [two, four]


def test_a_header_that_each_page_repeats_is_passed_over() -> None:
    """SPEC T5: a list copied page by page was refused, for no cell of its headers was a number."""
    read = table("id,place,qty\na,A,1\nid,place,qty\nb,B,2\n")
    assert [row["id"] for _, row in read.rows] == ["a", "b"]
    assert read.notices == ("Lines that repeat the header, passed over: 1.",)


def test_one_known_word_that_stands_twice_makes_no_header() -> None:
    """SPEC T5: Y answers yes, and its row was taken for the header: two columns had the same one."""
    assert table("Pupil,Bus,Seats,Escort\nAmy,N,1,N\nBen,Y,1,Y\n").headers[0] == "Pupil"
