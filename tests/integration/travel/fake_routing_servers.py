"""Road engines of a test: an HTTP server that answers as OSRM and Valhalla do, over a grid of streets.

The shapes are those of `osrm-routed` 5.27 (`/table/v1`) and Valhalla 3.9 (`/sources_to_targets`, `/locate`, `/route`,
`/status`). A leg
takes a second for every 10 m, and both are counted along the streets, so a test knows every number.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.shared.http.local_server import QuietHandler, serving

Position = tuple[float, float]
METRES_PER_DEGREE = 100_000.0
SECONDS_PER_METRE = 0.1


def metres(a: Position, b: Position) -> float:
    """Return the length of a leg along the streets; a way east takes twice as long as one west."""
    east = b[1] - a[1]
    return round(METRES_PER_DEGREE * (abs(b[0] - a[0]) + (2 * east if east > 0 else -east)), 1)


class RoadEngine(ThreadingHTTPServer):
    """Both engines under one roof, with the moods of a test."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reset()

    def reset(self) -> None:
        """Be as if fresh."""
        self.islands: set[Position] = set()
        """Places that no road leads to or from."""
        self.asked: list[tuple[int, int]] = []
        """Origins and targets of each question."""
        self.mood = ""
        """`refuses`, `garbage`, `short`, `redirects`, `hangs`; empty for a good day."""
        self.status = 200
        """How Valhalla answers who asks what it is; 0: not at all."""
        self.is_terse = True
        """Whether Valhalla honours `verbose: false`."""
        self.snap_m = 1.5
        """Metres from each place to the nearest road."""
        self.far: set[Position] = set()
        """Places that Valhalla finds no road for."""
        self.let_go = threading.Event()
        """Ends a hanging answer."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def leg(self, a: Position, b: Position) -> float | None:
        """Return metres, None where there is no road."""
        return None if a != b and {a, b} & self.islands else metres(a, b)


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    server: RoadEngine

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/status":
            if self.server.status == 0:
                self._hang()
                return
            facts = {"version": "3.5.1", "tileset_last_modified": 1751328000, "available_actions": ["status"]}
            self.reply(self.server.status, facts)
        elif not self._misbehaves():
            self._osrm()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self._misbehaves():
            self._valhalla(asked)

    def _osrm(self) -> None:
        parts = urlsplit(self.path)
        _, table, version, profile, coordinates = parts.path.split("/")
        query = parse_qs(parts.query)
        if table == "route":
            self._osrm_line(coordinates, query)
            return
        if (table, version, profile, query["annotations"]) != ("table", "v1", "driving", ["duration,distance"]):
            self.reply(400, {"code": "InvalidQuery", "message": "Query string malformed"})
            return
        places = [(float(lat), float(lon)) for lon, lat in (each.split(",") for each in coordinates.split(";"))]
        origins, targets = ([places[int(i)] for i in query[name][0].split(";")] for name in ("sources", "destinations"))
        if len(places) > 100 or len(places) < 2:
            self.reply(400, {"code": "TooBig", "message": "Too many table coordinates"})
            return
        far = self._table(origins, targets)
        long = [[cell if cell is None else round(cell * SECONDS_PER_METRE, 1) for cell in row] for row in far]
        answer = {"code": "Ok", "durations": long, "distances": far, "data_version": "2025-07-01"}
        waypoints = {"hint": "x", "distance": self.server.snap_m, "name": "Street", "location": [116.4, 39.9]}
        self.reply(200, answer | {"sources": [waypoints] * len(origins), "destinations": [waypoints] * len(targets)})

    def _osrm_line(self, coordinates: str, query: dict[str, list[str]]) -> None:
        """Answer with the places and a corner before each."""
        self.server.asked.append((coordinates.count(";") + 1, 0))
        if (query["overview"], query["geometries"]) != (["full"], ["geojson"]):
            self.reply(400, {"code": "InvalidQuery"})
            return
        self._respond_line([[float(each) for each in place.split(",")] for place in coordinates.split(";")])

    def _respond_line(self, places: list[list[float]]) -> None:
        line: list[Any] = [corner for a, b in pairwise(places) for corner in (a, [a[0], b[1]], b)]
        if self.server.mood == "short":
            line = [["x", None]]
        geometry = {"type": "LineString", "coordinates": line}
        self.reply(200, {"code": "Ok", "routes": [{"geometry": geometry, "distance": 1, "duration": 1}]})

    def _valhalla(self, asked: dict[str, Any]) -> None:
        if asked["costing"] != "truck":
            self.reply(400, {"error_code": 125, "error": "No costing method found", "status_code": 400})
        elif self.path == "/locate":
            self._valhalla_roads([(each["lat"], each["lon"]) for each in asked["locations"]])
        elif (self.path, asked.get("format"), asked.get("shape_format")) == ("/route", "osrm", "geojson"):
            self.server.asked.append((len(asked["locations"]), 0))
            if len(asked["locations"]) > 20:
                self.reply(400, {"code": "InvalidValue", "message": "The parameters are invalid."})
            else:
                self._respond_line([[each["lon"], each["lat"]] for each in asked["locations"]])
        elif (self.path, asked.get("units")) == ("/sources_to_targets", "kilometers"):
            self._valhalla_table(asked)
        else:
            self.reply(404, {"error_code": 106, "error": "Try any of: /locate /route", "status_code": 404})

    def _valhalla_roads(self, places: list[Position]) -> None:
        """Answer with a road to the north and a farther one."""
        north = self.server.snap_m / 111_195
        roads = [[] if place in self.server.far else [place[0] + 2 * north, place[0] + north] for place in places]
        answer = [
            {
                "input_lat": place[0],
                "input_lon": place[1],
                "edges": [{"way_id": 1, "correlated_lat": lat, "correlated_lon": place[1]} for lat in lats],
                "nodes": [],
            }
            for place, lats in zip(places, roads, strict=True)
        ]
        self.reply(200, answer[:-1] if self.server.mood == "short" else answer)

    def _valhalla_table(self, asked: dict[str, Any]) -> None:
        origins, targets = ([(each["lat"], each["lon"]) for each in asked[name]] for name in ("sources", "targets"))
        if self.server.far & {*origins, *targets}:
            self.reply(400, {"error_code": 171, "error": "No suitable edges near location", "status_code": 400})
            return
        far = self._table(origins, targets)
        kilometres = [[cell if cell is None else cell / 1000 for cell in row] for row in far]
        seconds = [[cell if cell is None else cell * SECONDS_PER_METRE for cell in row] for row in far]
        rows: Any = {"distances": kilometres, "durations": seconds}
        if not self.server.is_terse:
            rows = [
                [
                    {"distance": km, "time": s, "from_index": i, "to_index": j}
                    for j, (km, s) in enumerate(zip(*both, strict=True))
                ]
                for i, both in enumerate(zip(kilometres, seconds, strict=True))
            ]
        self.reply(200, {"algorithm": "costmatrix", "units": "kilometers", "sources_to_targets": rows})

    def _table(self, origins: list[Position], targets: list[Position]) -> list[list[float | None]]:
        self.server.asked.append((len(origins), len(targets)))
        far = [[self.server.leg(a, b) for b in targets] for a in origins]
        return far[:-1] if self.server.mood == "short" else far

    def _misbehaves(self) -> bool:
        mood = self.server.mood
        if mood == "refuses":
            self.reply(500, {"code": "InternalError", "message": "/var/lib/osrm/secret.path"})
        elif mood == "redirects":
            self.send_response(302)
            self.send_header("location", "http://127.0.0.1:9/elsewhere")
            self.end_headers()
        elif mood == "garbage":
            self.reply(200, b"<html>")
        elif mood == "hangs":
            self.server.asked.append((0, 0))
            self._hang()
        return mood in ("refuses", "redirects", "garbage", "hangs")

    def _hang(self) -> None:
        self.server.let_go.wait(60)
        self.close_connection = True


@contextmanager
def road_engine() -> Iterator[RoadEngine]:
    """Run an engine."""
    engine = RoadEngine()
    with serving(engine):
        try:
            yield engine
        finally:
            engine.let_go.set()
