"""Services behind one interface: documented answers of a local server, and what becomes of bad ones."""

import copy
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from pydantic import ValidationError

from planner_mcp.addresses.structured_address import Accuracy, AddressStatus
from planner_mcp.errors import InputError
from planner_mcp.geocoding.amap_geocoder import AmapGeocoder
from planner_mcp.geocoding.geocoding_service import GeocodingService
from planner_mcp.settings import Settings
from tests.integration.geocoding.fake_geocoders import AMAP, NOMINATIM, PELIAS, GeocoderServer, geocoder_server

pytestmark = pytest.mark.anyio
HANGZHOU = "浙江省杭州市余杭区文一西路969号"
BERLIN = "Alexanderplatz 1, 10178 Berlin"
CHINESE = ("amap", "baidu", "tencent")
WESTERN = ("nominatim", "photon", "pelias")


@pytest.fixture
def server() -> Iterator[GeocoderServer]:
    with geocoder_server() as server:
        yield server


def service(server: GeocoderServer, kind: str, **further: Any) -> GeocodingService:
    """Return the service of a deployment with one provider, called like its kind."""
    key = {"key": "secret-key"} if kind in CHINESE else {}
    geocoder = {"kind": kind, "url": server.url, **key, **{k: v for k, v in further.items() if k == "keep_s"}}
    settings = {k: v for k, v in further.items() if k != "keep_s"}
    return GeocodingService(Settings(geocoders={kind: geocoder}, geocoder=kind, **settings))


@pytest.mark.parametrize("kind", CHINESE)
async def test_chinese_services_are_read_and_their_positions_converted(server: GeocoderServer, kind: str) -> None:
    """SPEC O4: GCJ-02 and BD-09 become WGS-84, and the answer says what they were."""
    (answer,) = await service(server, kind).resolve([HANGZHOU])
    assert answer.position is not None
    assert (answer.source, answer.status, answer.position.crs) == (kind, AddressStatus.RESOLVED, "wgs84")
    assert answer.position.source_crs == ("bd09" if kind == "baidu" else "gcj02")
    assert (answer.position.lat, answer.position.lon) == pytest.approx((30.2816, 120.0215), abs=0.002)
    assert (answer.address.district, answer.address.road, answer.address.number) == ("余杭区", "文一西路", "969号")
    assert answer.accuracy is Accuracy.POINT
    assert answer.confidence >= 0.9
    assert server.asked[0]["address"] == HANGZHOU


@pytest.mark.parametrize("kind", WESTERN)
async def test_western_services_are_read(server: GeocoderServer, kind: str) -> None:
    """SPEC O4: each service says in its own way that it found the house."""
    (answer,) = await service(server, kind).resolve([BERLIN])
    assert answer.position is not None
    assert (answer.position.lat, answer.position.lon, answer.position.source_crs) == (52.5219, 13.4132, "wgs84")
    assert (answer.address.country, answer.address.city, answer.address.number) == ("DE", "Berlin", "1")
    assert answer.accuracy is Accuracy.POINT
    assert answer.is_sure


async def test_a_service_is_asked_for_a_postcode_with_the_zero_that_it_lost(server: GeocoderServer) -> None:
    """SPEC O4: a spreadsheet makes 1067 of 01067, which no service finds."""
    (answer,) = await service(server, "nominatim").resolve(["Hauptstr. 5, 1067 Dresden, Deutschland"])
    assert server.asked[0]["q"] == "Hauptstr. 5, 01067 Dresden, Deutschland"
    assert answer.notes[-1] == "The postcode is read as 01067: its zero was lost."


async def test_an_answer_in_another_district_than_the_text_is_not_sure(server: GeocoderServer) -> None:
    """SPEC O4: what a service finds is held against what the text says; its own certainty is not passed through."""
    server.answers["/v3/geocode/geo"] = copy.deepcopy(AMAP)
    server.answers["/v3/geocode/geo"]["geocodes"][0]["district"] = "西湖区"
    (answer,) = await service(server, "amap").resolve([HANGZHOU])
    assert not answer.is_sure
    assert [each.text for each in answer.evidence if each.factor == 0.5] == ["its district differs with the text"]


@pytest.mark.parametrize(
    ("text", "found", "country"),
    [
        ("Stephansplatz 1, 1010 Wien, Austria", ("Austria", "AUT", "Vienna", "1010"), "AT"),
        ("Damrak 1, Amsterdam", ("Netherlands", "NLD", "Amsterdam", "1012 LG"), "NL"),
    ],
)
async def test_a_country_in_three_letters_is_no_other_country(
    server: GeocoderServer, text: str, found: tuple[str, ...], country: str
) -> None:
    """SPEC O4: servers that name it so made Australia of Austria, which halved the confidence of its addresses."""
    server.answers["/v1/search"] = copy.deepcopy(PELIAS)
    facts = server.answers["/v1/search"]["features"][0]["properties"]
    facts.pop("country_code")
    facts |= zip(("country", "country_a", "locality", "postalcode"), found, strict=True)
    (answer,) = await service(server, "pelias").resolve([text])
    assert (answer.address.country, answer.is_sure) == (country, True)
    assert "its country agrees with the text" in {each.text for each in answer.evidence}


async def test_two_places_far_apart_are_candidates(server: GeocoderServer) -> None:
    """SPEC O4: a service that finds two places has found none."""
    far = {**NOMINATIM[0], "lat": "50.11", "lon": "8.68", "display_name": "Frankfurt"}
    server.answers["/search"] = [NOMINATIM[0], {**far, "address": NOMINATIM[0]["address"]}]
    (answer,) = await service(server, "nominatim").resolve([BERLIN])
    assert (answer.status, answer.position, len(answer.candidates)) == (AddressStatus.AMBIGUOUS, None, 2)


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"<html>", b"[]", b"null", b'"x"', b"{}", b'{"status": "0", "infocode": "10021"}', b"[" * 5000),
        *(b'{"status":"1","geocodes":[{"level":"\xe5\xb8\x82","location":"x"}]}', b'{"status":"1","geocodes":"no"}'),
        b'{"status":"1","geocodes":[{"level":"\xe5\xb8\x82","location":"999,999"}]}',
        b'{"status":"1","geocodes":[{"level":"\xe5\xb8\x82","location":"nan,nan"}]}',
        b" " * (2 * 1024 * 1024 + 1),
    ],
)
async def test_an_answer_that_makes_no_sense_leaves_the_offline_one(server: GeocoderServer, raw: bytes) -> None:
    """SPEC T7: whatever a service sends, the row is answered from what is known, and a note says so."""
    server.raw = raw
    (answer,) = await service(server, "amap").resolve([HANGZHOU])
    assert (answer.source, answer.accuracy, answer.address.district) == ("offline", Accuracy.DISTRICT, "余杭区")
    assert "the answer is offline" in answer.notes[0]


@pytest.mark.parametrize(
    ("kind", "raw", "code"),
    [
        ("amap", b'{"status": "0", "infocode": "10001", "info": "INVALID_USER_KEY"}', "10001"),
        ("amap", b'{"status": "0", "infocode": "<b>"}', "unknown"),
        ("baidu", b'{"status": 240, "message": "APP"}', "240"),
        ("tencent", b'{"status": 311, "message": "key"}', "311"),
    ],
)
async def test_the_code_of_a_refusal_is_reported(server: GeocoderServer, kind: str, raw: bytes, code: str) -> None:
    """SPEC T7: whether the key is wrong or the quota is used up is what an operator needs; no text of the service."""
    server.raw = raw
    (answer,) = await service(server, kind).resolve([HANGZHOU])
    assert answer.notes[0] == f"{kind} refused the question with its code {code}: the answer is offline."


@pytest.mark.parametrize("status", [302, 403, 429, 500])
async def test_a_service_that_refuses_is_asked_three_times_and_then_left(server: GeocoderServer, status: int) -> None:
    """SPEC O4: a service that is away delays a batch only a little."""
    server.status = status
    answers = await service(server, "photon").resolve([f"Teststraße {n}, 10178 Berlin" for n in range(20)])
    assert {each.source for each in answers} == {"offline"}
    assert len(server.asked) <= 7  # three failures, and what was on its way


async def test_a_service_that_does_not_answer_is_left_in_time(server: GeocoderServer) -> None:
    """SPEC O4: the deadline of a call holds, whatever a service does."""
    server.is_hanging = True
    answers = await service(server, "photon", geocoder_total_s=0.2).resolve([BERLIN, HANGZHOU])
    assert [each.source for each in answers] == ["offline", "offline"]
    assert all("not asked in time" in each.notes[0] for each in answers)


async def test_answers_are_kept_only_where_the_terms_allow_it(server: GeocoderServer) -> None:
    """SPEC O4: `keep_s` is refused for AMap, Baidu and Tencent; elsewhere an equal question is not asked twice."""
    keeping = service(server, "photon", keep_s=60)
    first, second = await keeping.resolve([BERLIN]), await keeping.resolve([BERLIN])
    assert (first, len(server.asked)) == (second, 1)
    for kind in CHINESE:
        with pytest.raises(ValidationError, match="terms"):
            service(server, kind, keep_s=60)


async def test_equal_rows_are_asked_once_and_empty_ones_never(server: GeocoderServer) -> None:
    """Our choice: a list with one customer twice costs one request."""
    answers = await service(server, "photon").resolve([BERLIN, BERLIN, " "])
    assert [each.source for each in answers] == ["photon", "photon", "offline"]
    assert len(server.asked) == 1


async def test_a_position_is_named_by_a_service(server: GeocoderServer) -> None:
    """SPEC O4: AMap takes and gives GCJ-02; the caller's position stays as it was given."""
    answer = await service(server, "amap").reverse(39.9087, 116.4632)
    assert (answer.address.city, answer.address.town, answer.address.number) == ("北京市", "建外街道", "88号")
    lon, lat = map(float, server.asked[0]["location"].split(","))
    assert (lat, lon) == pytest.approx((39.9101, 116.4694), abs=0.001)
    assert answer.position is not None
    assert (answer.position.lat, answer.position.lon) == (39.9087, 116.4632)


async def test_a_service_that_is_not_configured_is_refused_with_those_that_are(server: GeocoderServer) -> None:
    """SPEC T7: the fault names the argument and what is accepted."""
    with pytest.raises(InputError) as refused:
        await service(server, "photon").resolve([BERLIN], "google")
    assert (refused.value.errors[0].path, refused.value.errors[0].accepted) == ("/provider", "offline, photon")


def test_a_default_service_must_exist_and_a_key_is_never_shown() -> None:
    """SPEC T8: settings are refused at start, and their text holds no secret."""
    with pytest.raises(ValidationError, match="PLANNER_GEOCODER"):
        Settings(geocoder="amap")
    with pytest.raises(ValidationError, match="needs a key"):
        Settings(geocoders={"amap": {"kind": "amap"}})
    with pytest.raises(ValidationError, match="needs a url"):
        Settings(geocoders={"osm": {"kind": "nominatim"}})
    assert "abc123" not in repr(Settings(geocoders={"amap": {"kind": "amap", "key": "abc123"}}))


async def test_calls_at_the_same_time_keep_the_rate_of_a_service_together(server: GeocoderServer) -> None:
    """SPEC O4: AMap takes three requests a second from one account, and refuses the others."""
    asked = service(server, "amap")
    await asked.resolve([HANGZHOU])  # reads the data of places
    async with anyio.create_task_group() as calls:
        for number in (1, 2):
            calls.start_soon(asked.resolve, [f"{HANGZHOU}{number}"])
    first, second, third = sorted(server.asked_at)
    assert (
        min(second - first, third - second) >= AmapGeocoder.interval_s / 2
    )  # they arrive a little apart from when they were sent
