"""A geocoding service of a test: an HTTP server that gives the answers real services are documented to send.

The shapes are those of AMap v3, Baidu v3, Tencent v1, Nominatim 4, Photon 0.4 and Pelias v1; values are invented.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.shared.http.local_server import QuietHandler, serving

AMAP: dict[str, Any] = {
    "status": "1",
    "info": "OK",
    "infocode": "10000",
    "count": "1",
    "geocodes": [
        {
            "formatted_address": "浙江省杭州市余杭区文一西路969号",
            "country": "中国",
            "province": "浙江省",
            "citycode": "0571",
            "city": "杭州市",
            "district": "余杭区",
            "township": [],
            "neighborhood": {"name": [], "type": []},
            "street": "文一西路",
            "number": "969号",
            "adcode": "330110",
            "location": "120.026208,30.279212",
            "level": "门牌号",
        }
    ],
}
AMAP_REVERSE: dict[str, Any] = {
    "status": "1",
    "infocode": "10000",
    "regeocode": {
        "formatted_address": "北京市朝阳区建外街道建国路88号",
        "addressComponent": {
            "country": "中国",
            "province": "北京市",
            "city": [],
            "district": "朝阳区",
            "township": "建外街道",
            "adcode": "110105",
            "streetNumber": {"street": "建国路", "number": "88号", "location": "116.47,39.90"},
        },
    },
}
BAIDU: dict[str, Any] = {
    "status": 0,
    "result": {
        "location": {"lng": 120.0327, "lat": 30.2855},
        "precise": 1,
        "confidence": 80,
        "comprehension": 100,
        "level": "门址",
    },
}
TENCENT: dict[str, Any] = {
    "status": 0,
    "message": "query ok",
    "result": {
        "title": "文一西路969号",
        "location": {"lng": 120.026208, "lat": 30.279212},
        "ad_info": {"adcode": "330110"},
        "address_components": {
            "province": "浙江省",
            "city": "杭州市",
            "district": "余杭区",
            "street": "文一西路",
            "street_number": "969号",
        },
        "reliability": 8,
        "level": 9,
    },
}
NOMINATIM: list[dict[str, Any]] = [
    {
        "place_id": 1,
        "lat": "52.5219",
        "lon": "13.4132",
        "category": "place",
        "type": "house",
        "place_rank": 30,
        "importance": 0.0001,
        "display_name": "1, Alexanderplatz, Mitte, Berlin, 10178, Deutschland",
        "address": {
            "house_number": "1",
            "road": "Alexanderplatz",
            "suburb": "Mitte",
            "city": "Berlin",
            "postcode": "10178",
            "country_code": "de",
        },
    }
]
PHOTON: dict[str, Any] = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [13.4132, 52.5219]},
            "properties": {
                "type": "house",
                "countrycode": "DE",
                "city": "Berlin",
                "street": "Alexanderplatz",
                "housenumber": "1",
                "postcode": "10178",
            },
        }
    ],
}
PELIAS: dict[str, Any] = {
    "geocoding": {"version": "0.2"},
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [13.4132, 52.5219]},
            "properties": {
                "layer": "address",
                "confidence": 1,
                "match_type": "exact",
                "accuracy": "point",
                "label": "Alexanderplatz 1, Berlin, Germany",
                "country_code": "DE",
                "locality": "Berlin",
                "street": "Alexanderplatz",
                "housenumber": "1",
                "postalcode": "10178",
            },
        }
    ],
}
ANSWERS: dict[str, Any] = {
    "/v3/geocode/geo": AMAP,
    "/v3/geocode/regeo": AMAP_REVERSE,
    "/geocoding/v3/": BAIDU,
    "/ws/geocoder/v1/": TENCENT,
    "/search": NOMINATIM,
    "/api": PHOTON,
    "/v1/search": PELIAS,
}


class GeocoderServer(ThreadingHTTPServer):
    """All services under one address."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = dict(ANSWERS)
        self.asked: list[dict[str, str]] = []
        """Parameters of each question."""
        self.asked_at: list[float] = []
        """When each came, on a clock that only runs on."""
        self.status = 200
        self.raw: bytes | None = None
        """Sent instead of an answer."""
        self.is_hanging = False
        self.let_go = threading.Event()
        """Ends a hanging answer."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: GeocoderServer

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.asked_at.append(time.monotonic())
        self.server.asked.append({name: values[0] for name, values in parse_qs(url.query).items()})
        if self.server.is_hanging:
            self.server.let_go.wait(30)
            return
        is_answered = self.server.raw is None
        self.reply(self.server.status, self.server.answers[url.path] if is_answered else self.server.raw)


@contextmanager
def geocoder_server() -> Iterator[GeocoderServer]:
    """Serve during the block."""
    server = GeocoderServer()
    with serving(server):
        try:
            yield server
        finally:
            server.let_go.set()
