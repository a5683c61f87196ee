"""A server with the REST form of cuOpt that plans by a simple rule, and refuses what cuOpt's models do not allow.

Owns the strict models of a request, written from the OpenAPI description of cuOpt 26.10. Where `build/cuopt` has the
models that NVIDIA publishes (`make setup-cuopt`), each request must pass those too.
"""

import importlib
import json
import sys
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tests.shared.http.local_server import QuietHandler, serving

PUBLISHED = Path(__file__).parents[3] / "build" / "cuopt"
Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31, strict=True)]
Natural = Annotated[int, Field(ge=0, lt=2**31, strict=True)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Pair = Annotated[list[Natural], Field(min_length=2, max_length=2)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Matrices(_Strict):
    data: dict[int, list[list[Amount]]]


class _Fleet(_Strict):
    vehicle_locations: list[Pair]
    vehicle_ids: list[str]
    capacities: Annotated[list[list[Natural]], Field(max_length=3)] | None = None
    vehicle_time_windows: list[Pair] | None = None
    vehicle_types: list[Natural] | None = None
    skip_first_trips: list[bool] | None = None
    drop_return_trips: list[bool] | None = None
    vehicle_max_costs: list[Amount] | None = None
    vehicle_max_times: list[Amount] | None = None
    vehicle_fixed_costs: list[Amount] | None = None


class _Match(_Strict):
    order_id: Natural
    vehicle_ids: list[Natural]


class _Tasks(_Strict):
    task_locations: list[Natural]
    task_ids: list[str]
    demand: Annotated[list[list[Int32]], Field(max_length=3)] | None = None
    pickup_and_delivery_pairs: list[Pair] | None = None
    task_time_windows: list[Pair] | None = None
    service_times: list[Natural] | None = None
    prizes: list[Amount] | None = None
    order_vehicle_match: list[_Match] | None = None


class _Objectives(_Strict):
    cost: float | None = None
    travel_time: float | None = None
    prize: float | None = None
    vehicle_fixed_cost: float | None = None


class _Config(_Strict):
    time_limit: Annotated[float, Field(gt=0)]
    objectives: _Objectives


class _Route(_Strict):
    task_id: list[str]
    type: list[Literal["Depot", "Delivery", "Pickup", "Break"]]


class Request(_Strict):
    """`OptimizedRoutingData`, as far as the engine uses it, with the lengths that cuOpt checks."""

    cost_matrix_data: _Matrices
    travel_time_matrix_data: _Matrices
    fleet_data: _Fleet
    task_data: _Tasks
    solver_config: _Config
    initial_solution: list[dict[str, _Route]] | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Request":
        fleet, tasks = self.fleet_data, self.task_data
        vehicles, orders = len(fleet.vehicle_locations), len(tasks.task_locations)
        sizes = {len(matrix) for matrix in self.cost_matrix_data.data.values()}
        sizes |= {len(row) for matrix in self.travel_time_matrix_data.data.values() for row in matrix}
        assert len(sizes) == 1
        (places,) = sizes
        assert max([*tasks.task_locations, *(end for ends in fleet.vehicle_locations for end in ends)]) < places
        for name, values in fleet:
            assert values is None or name == "capacities" or len(values) == vehicles, name
        assert all(len(each) == vehicles for each in fleet.capacities or ())
        assert all(len(each) == orders for each in tasks.demand or ())
        assert len(fleet.capacities or ()) == len(tasks.demand or ())
        for values in (tasks.task_ids, tasks.task_time_windows, tasks.service_times, tasks.prizes):
            assert values is None or len(values) == orders
        assert all(opens <= closes for opens, closes in tasks.task_time_windows or ())
        types = self.cost_matrix_data.data.keys()
        assert {*(fleet.vehicle_types or [])} <= types == self.travel_time_matrix_data.data.keys()
        return self


@cache
def _published_model() -> Any:
    """Return the model of a request that NVIDIA publishes; None where it is not here."""
    if not PUBLISHED.is_dir():
        return None
    sys.path.append(str(PUBLISHED))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are written for an older pydantic
        return importlib.import_module("cuopt_server.utils.routing.data_definition").OptimizedRoutingData


def _validate(request: dict[str, Any]) -> None:
    Request.model_validate(request)
    if (published := _published_model()) is not None:
        published.model_validate(request)


Planner = Callable[[dict[str, Any]], dict[str, list[int]] | None]
"""Returns tasks by vehicle for a request; None: no plan."""


@dataclass
class FakeCuopt:
    """What a test looks at."""

    planner: Planner
    takes_s: float = 0.05
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    deletion: threading.Event = field(default_factory=threading.Event)

    def answer(self, number: int) -> dict[str, Any]:
        """Return the solver's answer to a request."""
        request = self.requests[number]
        if (routes := self.planner(request)) is None:
            return {"status": 1, "num_vehicles": -1, "solution_cost": -1.0, "vehicle_data": {}}
        pairs = request["task_data"].get("pickup_and_delivery_pairs") or []
        pickups = {pickup for pickup, _ in pairs}
        vehicles = {
            name: {
                "task_id": ["Depot", *map(str, tasks), "Depot"],
                "type": ["Depot", *("Pickup" if task in pickups else "Delivery" for task in tasks), "Depot"],
                "arrival_stamp": [],
                "route": [],
            }
            for name, tasks in routes.items()
        }
        return {"status": 0, "num_vehicles": len(routes), "solution_cost": 1.0, "vehicle_data": vehicles}


@contextmanager
def fake_cuopt(planner: Planner, takes_s: float = 0.05) -> Iterator[FakeCuopt]:
    """Run a server for the length of the block."""
    fake = FakeCuopt(planner, takes_s)
    _published_model()
    begun: dict[str, float] = {}

    class Handler(QuietHandler, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = self.path.rsplit("/", 1)[-1]
            if self.path == "/cuopt/health":
                self.reply(200, {"status": "RUNNING"})
            elif number not in begun:
                self.reply(404, {"error": "unknown"})
            elif time.monotonic() - begun[number] < fake.takes_s:
                self.reply(200, {"reqId": number})
            else:
                self.reply(200, {"response": {"solver_response": fake.answer(int(number))}, "reqId": number})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            request = json.loads(zlib.decompress(body) if self.headers["content-type"] == "application/zlib" else body)
            try:
                _validate(request)
            except (ValueError, AssertionError) as error:
                fake.refused.append(str(error))
                return self.reply(422, {"error": "invalid"})
            fake.requests.append(request)
            number = str(len(fake.requests) - 1)
            begun[number] = time.monotonic()
            return self.reply(200, {"reqId": number})

        def do_DELETE(self) -> None:
            fake.deleted.append(self.path)
            if "/request/" in self.path:
                fake.deletion.set()
            self.reply(200, {"queued": 0, "running": 1, "cached": 0})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    with serving(server):
        yield fake
