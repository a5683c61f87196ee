"""Addresses resolved by a configured service or offline, in one form, with a confidence that is ours.

Owns asking a service within its rate and our deadline, the fallback to what is known offline, the conversion to
WGS-84, and the comparison of what the service found with what the text says. Clients choose a service by name; where
it lives is the deployment's to say.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import httpx2 as httpx

from planner_mcp.addresses.bounded_batches import resolved_here
from planner_mcp.addresses.place_data import fold
from planner_mcp.addresses.street_register import REGISTER_FILE, named_by_register
from planner_mcp.addresses.structured_address import (
    MAX_CANDIDATES,
    Accuracy,
    AddressCandidate,
    AddressStatus,
    Evidence,
    PlacePosition,
    ResolvedAddress,
    StructuredAddress,
)
from planner_mcp.bounded_requests import UpstreamError, fetch_json, http_client
from planner_mcp.errors import Fault, input_error
from planner_mcp.geocoding.amap_geocoder import AmapGeocoder
from planner_mcp.geocoding.baidu_geocoder import BaiduGeocoder
from planner_mcp.geocoding.geocoder import GeocodedPlace, Geocoder, GeocoderQuery, RefusedQuestionError
from planner_mcp.geocoding.geojson_geocoders import PeliasGeocoder, PhotonGeocoder
from planner_mcp.geocoding.nominatim_geocoder import NominatimGeocoder
from planner_mcp.geocoding.tencent_geocoder import TencentGeocoder
from planner_mcp.routing.scenario.coordinates import haversine_m, to_wgs84
from planner_mcp.settings import GeocoderSettings, Settings

OFFLINE: Final = "offline"
KINDS: Final[Mapping[str, Callable[[GeocoderSettings], Geocoder]]] = {
    "amap": AmapGeocoder,
    "baidu": BaiduGeocoder,
    "tencent": TencentGeocoder,
    "nominatim": NominatimGeocoder,
    "photon": PhotonGeocoder,
    "pelias": PeliasGeocoder,
}
MAX_ANSWER_BYTES: Final = 2 * 1024 * 1024
AT_ONCE: Final = 4
"""Requests to one service at the same time."""
MAX_FAILURES: Final = 3
"""Failures in one call after which a service is not asked any more."""
SAME_PLACE_M: Final = 2_000.0
"""Places of an answer that lie this close are one."""
MAX_KEPT: Final = 10_000
_AGENT: Final = "planner-mcp (vehicle routing; addresses of stops)"


RunHere = Callable[..., Awaitable[Any]]
"""Calls a function with its arguments beside the event loop."""


def register_of(settings: Settings) -> Path | None:
    """Return the file of the register of streets of a deployment, None where it has no road extract."""
    return settings.roads_folder / REGISTER_FILE if settings.roads_pbf is not None else None


class _Pace:
    """The time between two requests to one service, whoever asks."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._lock = anyio.Lock()
        self._free_at = 0.0

    async def turn(self) -> None:
        """Wait until the next request may go out."""
        async with self._lock:
            await anyio.sleep(max(0.0, self._free_at - time.monotonic()))
            self._free_at = time.monotonic() + self._interval_s


class GeocodingService:
    """Resolves addresses and names positions."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._geocoders = {name: KINDS[each.kind](each) for name, each in settings.geocoders.items()}
        self._paces = {name: _Pace(geocoder.interval_s) for name, geocoder in self._geocoders.items()}
        self._register = register_of(settings)
        self._kept: OrderedDict[tuple[str, str], tuple[float, tuple[GeocodedPlace, ...]]] = OrderedDict()

    def check_provider(self, provider: str | None) -> str:
        """Return the name of the service to ask, the deployment's where none is named.

        Raises:
            InputError: There is no service of this name.
        """
        name = provider or self._settings.geocoder
        if name != OFFLINE and name not in self._geocoders:
            accepted = ", ".join((OFFLINE, *self._geocoders))
            raise input_error(
                [Fault("/provider", "There is no geocoding service of this name.", accepted, "", "logic")]
            )
        return name

    async def resolve(
        self, texts: Sequence[str], provider: str | None = None, run_here: RunHere = anyio.to_thread.run_sync
    ) -> list[ResolvedAddress]:
        """Return what each text says of a place, in their order; `run_here` reads them, a millisecond each at most."""
        name = self.check_provider(provider)
        offline: list[ResolvedAddress] = await run_here(resolved_here, texts, self._register)
        if name == OFFLINE:
            return offline
        asked: dict[str, ResolvedAddress] = {each.text: each for each in offline if each.text.strip()}
        answers = await self._ask_all(name, {text: each.corrected_text for text, each in asked.items()})
        return [
            _resolved(each, answers.get(each.text, "was not asked in time"), name, self._geocoders[name])
            for each in offline
        ]

    def _named_here(self, lat: float, lon: float, crs: str) -> ResolvedAddress:
        from planner_mcp.addresses.offline_resolver import reverse_offline  # grammars, with the first address

        nearest = reverse_offline(lat, lon, crs)
        if self._register is None:
            return nearest
        return named_by_register(self._register, nearest, *to_wgs84(lat, lon, crs), crs)

    async def reverse(
        self,
        lat: float,
        lon: float,
        crs: str = "wgs84",
        provider: str | None = None,
        run_here: RunHere = anyio.to_thread.run_sync,
    ) -> ResolvedAddress:
        """Return the place that a position lies in."""
        name = self.check_provider(provider)
        offline: ResolvedAddress = await run_here(self._named_here, lat, lon, crs)
        if name == OFFLINE:
            return offline
        geocoder = self._geocoders[name]
        north, east = to_wgs84(lat, lon, crs)
        async with self._client() as http:
            answer = await self._ask(http, name, geocoder.reverse_query(north, east))
        if isinstance(answer, str) or not answer:
            note = answer if isinstance(answer, str) else "knows no place here"
            return replace(offline, notes=(f"{name} {note}: the answer is offline.", *offline.notes))
        place = answer[0]
        position = PlacePosition(north, east, Accuracy.POINT, 0.0, source_crs=crs)
        return ResolvedAddress(
            offline.text,
            AddressStatus.RESOLVED,
            place.address,
            position,
            (place.signal,),
            name,
            notes=_label_notes(place),
        )

    def _client(self) -> httpx.AsyncClient:
        return http_client(self._settings.geocoder_request_s, headers={"user-agent": _AGENT})

    async def _ask_all(self, name: str, texts: dict[str, str]) -> dict[str, tuple[GeocodedPlace, ...] | str]:
        """Return places by text, or why there are none; texts that the time did not reach are left out.

        Args:
            texts: What it is asked for, by text.
        """
        geocoder, answers = self._geocoders[name], dict[str, tuple[GeocodedPlace, ...] | str]()
        keep_s, waiting = self._settings.geocoders[name].keep_s, list(reversed(texts))
        failures = 0

        async def work(http: httpx.AsyncClient) -> None:
            nonlocal failures
            while waiting and failures < MAX_FAILURES:
                text = waiting.pop()
                if (kept := self._take_kept(name, text, keep_s)) is not None:
                    answers[text] = kept
                    continue
                answer = await self._ask(http, name, geocoder.query(texts[text]))
                failures = failures + 1 if isinstance(answer, str) else 0
                answers[text] = answer
                if keep_s and not isinstance(answer, str):
                    self._keep(name, text, answer)

        async with self._client() as http:
            with anyio.move_on_after(self._settings.geocoder_total_s):
                async with anyio.create_task_group() as group:
                    for _ in range(min(AT_ONCE, len(texts))):
                        group.start_soon(work, http)
        return answers

    async def _ask(self, http: httpx.AsyncClient, name: str, query: GeocoderQuery) -> tuple[GeocodedPlace, ...] | str:
        """Return the places of an answer, or in words why there is none; at the turn of the question."""
        geocoder = self._geocoders[name]
        await self._paces[name].turn()
        request = http.build_request("GET", geocoder.url.rstrip("/") + query.path, params=dict(query.params))
        try:
            payload = await fetch_json(http, request, max_bytes=MAX_ANSWER_BYTES)
        except UpstreamError as error:
            return str(error)
        try:
            places = await anyio.to_thread.run_sync(geocoder.places, payload)  # the first may read the place data
            return tuple(place for place in places if abs(place.lat) <= 90 and abs(place.lon) <= 180)
        except RefusedQuestionError as error:
            return str(error)
        except (ValueError, TypeError, AttributeError, KeyError):
            return "answered in another form than documented"

    def _take_kept(self, name: str, text: str, keep_s: float) -> tuple[GeocodedPlace, ...] | None:
        kept = self._kept.get((name, text)) if keep_s else None
        return kept[1] if kept is not None and time.monotonic() - kept[0] <= keep_s else None

    def _keep(self, name: str, text: str, places: tuple[GeocodedPlace, ...]) -> None:
        self._kept[name, text] = (time.monotonic(), places)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)


def _resolved(
    offline: ResolvedAddress, answer: tuple[GeocodedPlace, ...] | str, name: str, geocoder: Geocoder
) -> ResolvedAddress:
    """Return the answer of a service as ours; the offline one where there is none, and why."""
    if not offline.text.strip():
        return offline
    if isinstance(answer, str):
        return replace(offline, notes=(f"{name} {answer}: the answer is offline.", *offline.notes))
    if not answer:
        return replace(offline, notes=(f"{name} found nothing: the answer is offline.", *offline.notes))
    compared = {place: _compared(place, offline) for place in answer}
    certainty = {place: math.prod(each.factor for each in evidence) for place, evidence in compared.items()}
    best, *others = sorted(answer, key=lambda place: -certainty[place])
    rivals = [
        place
        for place in others
        if haversine_m((place.lat, place.lon), (best.lat, best.lon)) > SAME_PLACE_M
        and certainty[place] >= 0.9 * certainty[best]
    ]
    position, notes = _position(best, geocoder), (*_label_notes(best), *offline.postcode_notes)
    if not rivals:
        address = _merged(best, offline)
        return ResolvedAddress(
            offline.text, AddressStatus.RESOLVED, address, position, compared[best], name, notes=notes
        )
    share = 1 / (1 + len(rivals))
    candidates = tuple(
        AddressCandidate(
            place.label, _merged(place, offline), _position(place, geocoder), int(100 * share * certainty[place]) / 100
        )
        for place in (best, *rivals)[:MAX_CANDIDATES]
    )
    return ResolvedAddress(
        offline.text,
        AddressStatus.AMBIGUOUS,
        _merged(best, offline),
        None,
        (*compared[best], Evidence(f"{name} found {1 + len(rivals)} places alike", share)),
        name,
        candidates,
        notes,
    )


def _label_notes(place: GeocodedPlace) -> tuple[str, ...]:
    return (f"The service calls it: {place.label}.",) if place.label else ()


def _compared(place: GeocodedPlace, offline: ResolvedAddress) -> tuple[Evidence, ...]:
    """Return the evidence of a place: what the service says, and whether the divisions are those of the text."""
    found = [place.signal]
    for part in ("country", "province", "city", "district"):
        theirs, ours = getattr(place.address, part), getattr(offline.address, part)
        if theirs and ours and offline.confidence >= 0.5:
            is_same = _alike(theirs, ours)
            kind = "agrees" if is_same else "differs"
            # names of Western districts, and of cities in other languages, differ without a contradiction
            factor = 1.0 if is_same else 0.5 if offline.address.country == "CN" or part == "country" else 0.9
            found.append(Evidence(f"its {part} {kind} with the text", factor))
    if offline.address.number and place.accuracy not in {Accuracy.POINT, Accuracy.INTERPOLATED}:
        found.append(Evidence("the house number was not found", 0.9))
    return tuple(found)


def _alike(theirs: str, ours: str) -> bool:
    first, second = fold(theirs), fold(ours)
    return first == second or first.startswith(second) or second.startswith(first)


def _merged(place: GeocodedPlace, offline: ResolvedAddress) -> StructuredAddress:
    """Return what the service found, completed by what the text says."""
    theirs = {part.name: getattr(place.address, part.name) for part in fields(StructuredAddress)}
    return replace(offline.address, **{part: value for part, value in theirs.items() if value})


def _position(place: GeocodedPlace, geocoder: Geocoder) -> PlacePosition:
    lat, lon = to_wgs84(place.lat, place.lon, geocoder.crs)
    return PlacePosition(round(lat, 6), round(lon, 6), place.accuracy, place.radius_m, source_crs=geocoder.crs)
