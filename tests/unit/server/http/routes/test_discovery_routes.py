"""Server card and catalogue over HTTP."""

import httpx2 as httpx
import pytest

import planner_mcp
from manifest import server_identity
from planner_mcp.server.http.middleware.authentication_middleware import is_public
from planner_mcp.server.http.routes.discovery_routes import CARD_PATHS, CATALOGUE_PATHS, mcp_url
from planner_mcp.server.mcp.jsonrpc.http_envelope import REVISIONS
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


async def test_the_card_says_where_and_in_which_revisions(http: httpx.AsyncClient, url: str) -> None:
    """SPEC M2: `GET <streamable-http-url>/server-card` (SEP-2127), for anybody."""
    answer = await http.get(f"{url}/mcp/server-card", headers={"origin": "https://somewhere.example"})
    card = answer.json()
    assert answer.headers["content-type"] == "application/mcp-server-card+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert (card["name"], card["version"]) == (server_identity.PLANNER.name, planner_mcp.__version__)
    (remote,) = card["remotes"]
    assert remote["type"] == "streamable-http"
    assert remote["supportedProtocolVersions"] == list(REVISIONS)
    assert "tools" not in card


@pytest.mark.parametrize("path", CATALOGUE_PATHS)
async def test_the_catalogue_points_to_the_card(http: httpx.AsyncClient, url: str, path: str) -> None:
    """SPEC M2: `/.well-known/ai-catalog.json`."""
    answer = await http.get(url + path)
    assert answer.headers["content-type"] == "application/ai-catalog+json"
    (entry,) = answer.json()["entries"]
    assert entry["type"] == "application/mcp-server-card+json"
    assert entry["url"].endswith("/mcp/server-card")
    tag = answer.headers["etag"]
    assert (await http.get(url + path, headers={"if-none-match": tag})).status_code == 304


def test_addresses_lie_under_the_public_url() -> None:
    """SPEC M2, X3: addresses come from the settings, never from a request."""
    assert mcp_url(Settings(public_url="https://plan.example.com/")) == "https://plan.example.com/mcp"
    assert mcp_url(Settings(host="::1", port=9000)) == "http://[::1]:9000/mcp"
    assert server_identity.catalogue("https://plan.example.com/mcp", server_identity.PLANNER)["entries"][0][
        "identifier"
    ] == ("urn:air:plan.example.com:planner-mcp")


def test_discovery_needs_no_token() -> None:
    """SPEC M2: found before a client can authenticate."""
    assert all(is_public(path) for path in (*CARD_PATHS, *CATALOGUE_PATHS))
