"""One principal keeps the address server or a bridge as busy as it may; another is answered all the same (SPEC A3).

`BATCHES` sets how many calls come at once.
"""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.hostile_bodies import AttackFigures, made_key, measured
from examples.planner_server import PlannerServer, running_server
from tests.chaos.attack_bounds import faults_of
from tests.shared.bridge.bridge_documents import config, document, written
from tests.shared.http.webhook_receiver import Receiver, answering
from tests.shared.store.chaos_results import keep, size_of

pytestmark = [pytest.mark.anyio, pytest.mark.chaos, pytest.mark.timeout(600)]
SETTINGS = {"PLANNER_AUTH_API_KEYS": "true"}
BATCHES = size_of("BATCHES", 150)
ORDERS = json.dumps([{"id": number, "lines": [1, 2, 3]} for number in range(50_000)])
"""An answer near the most that a bridge reads."""
Served = tuple[PlannerServer, tuple[str, str]]


@pytest.fixture
async def address_server(tmp_path: Path) -> AsyncIterator[Served]:
    """An address server, and the keys of attacker and bystander."""
    async with running_server(tmp_path, workers=0, options=("--address",), settings=SETTINGS) as server:
        yield server, (made_key(tmp_path, "mallory", SETTINGS), made_key(tmp_path, "alice", SETTINGS))


@pytest.fixture
async def bridge(tmp_path: Path, receiver: Receiver) -> AsyncIterator[Served]:
    """A bridge to a service that says much, and the keys."""
    receiver.answers["/get_orders"] = [answering(200, "content-type: application/json\r\n", ORDERS)]
    receiver.answers["/get_status"] = [answering(200, "content-type: application/json\r\n", "{}")]
    further = {"base_url": receiver.url(""), "allow_networks": ["127.0.0.0/8"]}
    tools = ({"operation": "get_orders"}, {"operation": "get_status"})
    path = written(tmp_path, document(get_orders={}, get_status={}), config(*tools, **further))
    options = ("--bridge", str(path))
    async with running_server(tmp_path, workers=0, options=options, settings=SETTINGS) as server:
        yield server, (made_key(tmp_path, "mallory", SETTINGS), made_key(tmp_path, "alice", SETTINGS))


def kept(proof: str, began: float, figures: AttackFigures) -> list[str]:
    """Keep the figures; return which bounds were broken."""
    keep(proof, seed=0, began=began, **asdict(figures))
    return faults_of(figures)


@pytest.mark.parametrize("addresses", [100, 10_000])
async def test_batches_of_addresses_hold_up_no_other_principal(address_server: Served, addresses: int) -> None:
    """SPEC A3, O4: a hundred a call as agents send them, and as many as one call takes."""
    (server, keys), began = address_server, time.monotonic()
    asked = ("resolve_addresses", json.dumps({"addresses": ["Alexanderplatz 1, 10178 Berlin"]}).encode())
    figures = await measured(server.url, server.pid, keys, "addresses", BATCHES, addresses * 64, asked)
    assert kept(f"batches of {addresses} addresses", began, figures) == []


async def test_large_answers_of_a_bridged_service_hold_up_no_other_principal(bridge: Served) -> None:
    """SPEC A3, O5: each answer is read in its turn, elsewhere; the ones too many are told to come back."""
    (server, keys), began = bridge, time.monotonic()
    figures = await measured(
        server.url, server.pid, keys, "bridged answers", BATCHES, len(ORDERS), ("get_status", b"{}")
    )
    assert kept("large bridged answers", began, figures) == []
