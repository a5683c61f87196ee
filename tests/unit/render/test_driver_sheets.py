"""What drivers get on paper (SPEC T5)."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from planner_mcp.jobs.masking.field_masking import plan_for, scenario_for
from planner_mcp.jobs.principals import READ, Principal
from planner_mcp.render.driver_sheets import sheets
from planner_mcp.render.page_words import page_words_of
from tests.shared.scenarios.planned_days import plan_of

DAY: dict[str, Any] = {
    "name": "城配 <周二>",
    "planning_date": "2025-07-15",
    "depot": "D",
    "travel": {"detour": 1},
    "locations": [{"id": "D", "lat": 39.9, "lon": 116.4, "name": "仓库"}, {"id": "A", "lat": 39.95, "lon": 116.4}],
    "agents": [
        {"id": "京A1", "capacity": 9, "name": "张师傅", "phone": "13800000000", "shift_start": "08:00"},
        {"id": "京A2", "capacity": 9, "shift_start": "08:00"},
        {"id": "idle", "capacity": 9},
    ],
    "tickets": [
        {"id": "t1", "location": "A", "demand": 2, "name": "李四", "phone": "010-1", "notes": "<script>x</script>"},
        {"id": "t2", "location": "A", "demand": {"load": 3}, "kind": "pickup", "address": "长安街 & 1号"},
        {"id": "t3", "location": "A", "demand": 1},
    ],
}
ROUTES = ([0, 1], [2])


class Words(HTMLParser):
    """Collects what stands on the page, and the elements it is made of."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Words:
    """Return the words of a page; what sets a caller's words apart shows no seam."""
    words = Words()
    words.feed(re.sub("</?bdi[^>]*>", "", page))
    return words


def sheets_of(day: dict[str, Any], *routes: list[int]) -> str:
    """Return the sheets of the plan in which each agent in turn serves some tickets."""
    return sheets(day, plan_of(day, *routes))


def test_each_driver_gets_a_page_with_stops_people_and_notes() -> None:
    """SPEC T5: per-driver sheets; who drives nowhere has none, and words stay words."""
    found = read(sheets_of(DAY, *ROUTES))
    assert (found.tags.count("section"), found.tags.count("script")) == (2, 0)
    for word in (
        "京A1",
        "张师傅",
        "13800000000",
        "李四",
        "备注: <script>x</script>",
        "长安街 & 1号",
        "取货 3",
        "送货 2",
        "t3",
    ):
        assert word in found.words, word
    assert "idle" not in found.words
    assert "08:00 仓库 → 08:17 仓库" in found.words and "2 站, 11.1 km" in found.words
    assert "出发载货: 2" in found.words


def test_people_are_masked_on_paper_too() -> None:
    """SPEC R3: for readers without the scope."""
    reader = Principal("ann", scopes=frozenset({READ}))
    text = sheets(scenario_for(reader, DAY), plan_for(reader, plan_of(DAY, *ROUTES)), is_exact=False)
    assert not any(word in text for word in ("张师傅", "13800000000", "李四", "长安街", "仓库", "***", "geo:", "href"))
    assert "t1" in text
    assert "<p>08:00 <bdi>D</bdi> →" in text, "the id of a place whose name is masked"


def test_an_address_from_right_to_left_leaves_the_hours_in_order() -> None:
    """SPEC T5: a driver reads "08:00–08:17", not "08:17–08:00"."""
    depot, other = DAY["locations"]
    tickets = [{"id": "تذكرة 5", "location": "A", "demand": {"صندوق": 2}, "notes": "الباب 3"}]
    agents = [{"id": "شاحنة", "capacity": {"صندوق": 9}, "shift_start": "08:00"}]
    places = [{**depot, "name": None, "address": "شارع الملك فهد"}, other]
    day = {**DAY, "name": "يوم 1", "agents": agents, "locations": places, "tickets": tickets}
    text = sheets_of(day, [0])
    place = "<bdi>شارع الملك فهد</bdi>"
    assert f"<p>08:00 {place} → 08:17 {place}</p>" in text
    assert "<title>Driver sheets: \u2068يوم 1\u2069, 2025-07-15</title>" in text
    for own in ("يوم 1", "شاحنة", "تذكرة 5", "صندوق", "الباب 3"):
        assert f"<bdi>{own}</bdi>" in text, own


def test_a_stop_says_nothing_of_what_it_does_not_have() -> None:
    """SPEC T5: no empty columns, on paper and on a phone."""
    tickets = [{"id": "t1", "location": "A", "demand": 0}]
    day = {**DAY, "tickets": tickets}
    text = sheets_of(day, [0])
    item = text.partition("<li")[2].partition("</li>")[0]
    assert not re.search(r"<(p|div|bdi)\b[^>]*>\s*</", item)
    assert not any(word in item for word in ("送货", "时间窗", "备注", "晚到"))
    assert "签收" in item and 'class="tick"' in item


def test_codes_lead_to_each_stop_and_along_each_route() -> None:
    """SPEC T5: a geo link (RFC 5870) a stop; maps that work where the words are read; ten places a link."""
    text = sheets_of(DAY, *ROUTES)
    links = re.findall(r'<a[^>]* href="([^"]*)"', text)
    route = "https://uri.amap.com/marker?coordinate=wgs84&amp;markers="
    assert links[0].startswith(route) and links[1:3] == ["geo:39.95000,116.40000"] * 2
    assert text.count("<svg") == 2 + 3
    tickets = [{"id": f"t{n}", "location": "AD"[n % 2], "demand": 0} for n in range(10)]
    day = {
        **DAY,
        "name": "Round",
        "locations": [{**place, "name": None} for place in DAY["locations"]],
        "tickets": tickets,
    }
    parts = re.findall(r'href="https://www.google.com/maps/dir/([^"]*)"', sheets_of(day, list(range(10))))
    assert [part.count("/") + 1 for part in parts] == [10, 2]
    assert parts[0].rpartition("/")[2] == parts[1].partition("/")[0]


def test_no_code_leads_to_the_centre_of_a_town() -> None:
    """SPEC T5: a driver who scans it would stand kilometres from the door; the address is printed."""
    found = {"source": "offline", "accuracy": "town", "radius_m": 7000, "confidence": 0.9}
    place = {**DAY["locations"][1], "resolved": found}
    day = {**DAY, "locations": [DAY["locations"][0], place, {"id": "B", "lat": 39.96, "lon": 116.4}]}
    day["tickets"] = [*DAY["tickets"], {"id": "t4", "location": "B", "demand": 0}]
    exact = {**place, "resolved": {**found, "accuracy": "point"}}
    text = sheets_of(day, [0, 1, 2, 3])
    assert ("39.95000" in text, "geo:39.96000,116.40000" in text) == (False, True)
    assert set(re.findall('class="qr" href="([a-z]+):', text)) == {"geo"}, "a route without this stop leads past it"
    precise = {**day, "locations": [DAY["locations"][0], exact, day["locations"][2]]}
    assert "geo:39.95000,116.40000" in sheets_of(precise, [0])


@pytest.mark.parametrize(
    ("texts", "language"),
    [({"name": "Round"}, "en"), ({"name": "城配 A"}, "zh"), ({"name": "A", "notes": "后门 door"}, "en")],
)
def test_sheets_are_in_the_language_of_the_day(texts: dict[str, str], language: str) -> None:
    """SPEC T5: Chinese where a third of what people wrote is; ids say nothing."""
    ticket = {"id": "票", "location": "票", "demand": 0, "name": "Ann", "notes": texts.get("notes")}
    assert page_words_of({"name": texts["name"], "tickets": [ticket]})["language"] == language


def test_a_plan_of_several_days_shows_dates() -> None:
    """SPEC T5: nobody reads 33:00."""
    tickets = [{"id": "t1", "location": "A", "demand": 1, "time_windows": [["2025-07-16T09:00", "2025-07-16T10:00"]]}]
    day = {**DAY, "tickets": tickets}
    text = sheets_of(day, [0])
    assert "<p>时间窗 07-16 09:00–07-16 10:00</p>" in text and "33:00" not in text


def test_a_plane_is_shown_in_its_own_units() -> None:
    """SPEC T5: nobody said that they were metres."""
    places = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 32, "y": 0}]
    day = {**DAY, "locations": places, "tickets": DAY["tickets"][:1]}
    assert "1 stops, 64.0 units" in "".join(read(sheets_of(day, [0])).words)


def test_a_day_that_nobody_drives_says_so() -> None:
    """SPEC T5: no empty paper."""
    assert "没有车辆出车。" in read(sheets_of(DAY)).words


def test_what_another_ticket_fetches_is_shown_as_picked_up() -> None:
    """SPEC T5: the first half of a shipment is picked up whatever its kind, which nobody has to write."""
    tickets = [
        {"id": "fetch", "location": "A", "demand": 4},
        {"id": "bring", "location": "D", "demand": 4, "pickup": "fetch"},
    ]
    day = {**DAY, "tickets": tickets}
    assert [word for word in read(sheets_of(day, [0, 1])).words if word.endswith("货 4")] == ["取货 4", "送货 4"]


def test_large_and_fine_amounts_are_written_in_full() -> None:
    """SPEC T5: who loads grams reads the grams, not 1.25e+06 of them."""
    tickets = [{"id": "t1", "location": "A", "demand": {"g": 1_250_050, "ml": 0.1}}]
    day = {**DAY, "tickets": tickets, "agents": [{"id": "v", "capacity": {"g": 9e6, "ml": 1}}]}
    assert "送货 1250050 g, 0.1 ml" in read(sheets_of(day, [0])).words


def test_amounts_of_an_imported_list_have_the_units_of_people() -> None:
    """SPEC T5: `weight_kg` is the name of a dimension, not what a driver unloads."""
    amount = {"weight_kg": 12.5, "volume_m3": 0.3, "pieces": 3, "trays": 2}
    day = {
        **DAY,
        "tickets": [{"id": "t1", "location": "A", "demand": amount}],
        "agents": [{"id": "v", "capacity": amount}],
    }
    assert "送货 12.5 kg, 0.3 m³, 3 件, 2 trays" in read(sheets_of(day, [0])).words


def test_one_of_a_thing_is_not_written_as_several() -> None:
    """SPEC T5: a driver read `Deliver 1 pallets`."""
    amount = {"pallets": 1, "boxes": 2}
    tickets = [{"id": "t1", "location": "A", "demand": amount, "name": "North"}]
    day = {**DAY, "name": "North", "locations": [{**place, "name": "x"} for place in DAY["locations"]]}
    day |= {"tickets": tickets, "agents": [{"id": "v", "capacity": amount}]}
    assert "Deliver 1 pallet, 2 boxes" in read(sheets_of(day, [0])).words


@pytest.mark.parametrize(
    ("name", "shown"),
    [("North", ["Window from 10:00", "Window until 12:00"]), ("城北配送", ["时间窗 10:00 起", "时间窗 12:00 前"])],
)
def test_windows_with_one_side_are_shown_with_it(name: str, shown: list[str]) -> None:
    """SPEC T5: a driver does not read 47:59."""
    windows = [[["10:00", "47:59"]], [["00:00", "12:00"]]]
    tickets = [{"id": f"t{at}", "location": "A", "demand": 1, "time_windows": each} for at, each in enumerate(windows)]
    day = {**DAY, "name": name, "locations": [{**each, "name": name} for each in DAY["locations"]], "tickets": tickets}
    day["agents"] = [{"id": "v1", "capacity": 9}]
    words = " ".join(read(sheets_of(day, [0, 1])).words)
    assert all(window in words for window in shown)
