"""The address server as clients meet it: over HTTP and over stdio, through the official client."""

import csv
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import manifest
from examples.planner_server import PlannerServer, running_server
from tests.shared.http.http_clients import http_client
from tests.shared.scenarios.client_scenarios import use

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
TOOLS = ["resolve_addresses", "confirm_address", "reverse_address"]


@pytest.fixture(scope="module")
async def address_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PlannerServer]:
    """`planner-mcp serve --address`, for the tests of this module."""
    async with running_server(tmp_path_factory.mktemp("address"), workers=0, options=("--address",)) as server:
        yield server


@asynccontextmanager
async def stdio_session(folder: Path) -> AsyncIterator[Client]:
    """`planner-mcp address` as the child of a client."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "planner_mcp", "address", "--data-dir", str(folder)],
        env=dict(os.environ),
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


async def _is_an_address_server(client: Client) -> None:
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == TOOLS
    answer = await use(client, "resolve_addresses", addresses=["北京市海淀区学院路37号", "12 High Street, Richmond"])
    first, second = answer["rows"]
    assert answer["sure"] == 1
    assert (first["status"], first["address"]["district"], first["position"]["crs"]) == ("resolved", "海淀区", "wgs84")
    assert second["status"] == "ambiguous"
    assert [each["choice"] for each in second["candidates"]] == [1, 2, 3]
    for tool, answered in zip(listed, [answer], strict=False):
        jsonschema.validate(answered, tool.output_schema)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_agent_resolves_addresses_over_http(address_server: PlannerServer, mode: str) -> None:
    """SPEC O4, X1: a second MCP endpoint with tools of its own, in revisions with a handshake and without."""
    async with Client(address_server.mcp, mode=mode) as client:
        await _is_an_address_server(client)


@pytest.mark.slow  # a process with a store of its own
async def test_an_agent_resolves_addresses_over_stdio(tmp_path: Path) -> None:
    """SPEC O4, X1: `planner-mcp address` is what a client's configuration starts."""
    async with stdio_session(tmp_path) as client:
        await _is_an_address_server(client)
        _answer, rows = await _rows_of_a_table(client)
        assert len(rows) == 251


async def _rows_of_a_table(client: Client) -> tuple[Json, list[list[str]]]:
    """Resolve 250 addresses; return the answer and the rows of the table that it names."""
    texts = ["北京市海淀区学院路37号", "12 High Street, Richmond"]
    answer = await use(client, "resolve_addresses", addresses=texts * 125)
    assert (answer["rows"], answer["sure"]) == ([], 125)
    if "expires_at" not in answer:
        text = await anyio.Path(answer["download"]).read_text()
        return answer, [*csv.reader(text.splitlines())]
    async with http_client() as anybody:
        table = await anybody.get(answer["download"])
    assert (table.status_code, table.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    return answer, [*csv.reader(table.text.splitlines())]


async def test_more_than_a_hundred_come_back_as_a_table(address_server: PlannerServer) -> None:
    """SPEC O4: a row for each address, by a URL that works without a credential."""
    async with Client(address_server.mcp) as client:
        answer, (header, *rows) = await _rows_of_a_table(client)
        again, _rows = await _rows_of_a_table(client)
    assert header[:4] == ["address", "lat", "lon", "accuracy"]
    assert len(rows) == 250
    first, second = (dict(zip(header, row, strict=True)) for row in rows[:2])
    assert (first["address"], first["status"], first["lat"][:3]) == ("北京市海淀区学院路37号", "resolved", "40.")
    assert (second["status"], second["lat"]) == ("ambiguous", "")
    assert again["file"] == answer["file"], "the same table takes one place"


async def test_what_a_user_confirmed_is_used_from_then_on(address_server: PlannerServer) -> None:
    """SPEC O4: the choice is kept, however the text is spaced the next time."""
    async with Client(address_server.mcp) as client:
        text = "朝阳区建国路88号"
        (row,) = (await use(client, "resolve_addresses", addresses=[text]))["rows"]
        beijing = next(each["choice"] for each in row["candidates"] if each["label"].startswith("北京"))
        await use(client, "confirm_address", address=text, choice=beijing)
        (again,) = (await use(client, "resolve_addresses", addresses=["朝阳区 建国路８８号"]))["rows"]
        assert (again["status"], again["source"], again["confidence"]) == ("resolved", "confirmed", 1)
        assert again["address"]["city"] == "北京市"


async def test_its_manifest_card_and_health_are_its_own(address_server: PlannerServer) -> None:
    """SPEC M1, M2: it says what it is, and has no page of jobs."""
    async with http_client(base_url=address_server.url) as http:
        served = (await http.get("/manifest")).json()
        assert [tool["name"] for tool in served["tools"]] == TOOLS
        assert served["name"] == manifest.load("address")["name"] == "planner-mcp-address"
        card = (await http.get("/mcp/server-card")).json()
        assert card["name"].endswith("planner-mcp-address")
        assert (await http.get("/readyz")).status_code == 200
        assert (await http.get("/jobs/job-0-x")).status_code == 404
