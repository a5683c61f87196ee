"""The manifest over HTTP."""

import httpx2 as httpx
import jsonschema
import pytest

import manifest
from planner_mcp.server.http.routes.discovery_routes import MANIFEST_PATHS, served_manifest
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("path", MANIFEST_PATHS)
async def test_both_addresses_serve_the_committed_document(http: httpx.AsyncClient, url: str, path: str) -> None:
    """SPEC M1: for anybody, cacheable."""
    answer = await http.get(url + path)
    document = answer.json()
    del document["limits"]
    committed = manifest.load()
    del committed["oauth"]["resource_metadata"]
    assert document == committed
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize(("form", "status"), [("{}", 304), ("W/{}", 304), ('"x", {}', 304), ("*", 304), ('"x"', 200)])
async def test_who_has_it_does_not_get_it_again(http: httpx.AsyncClient, url: str, form: str, status: int) -> None:
    """SPEC M1: ETag (RFC 9110 §13.1.2)."""
    tag = (await http.get(url + "/manifest")).headers["etag"]
    again = await http.get(url + "/manifest", headers={"If-None-Match": form.format(tag)})
    assert again.status_code == status
    assert again.headers["etag"] == tag
    assert bool(again.content) is (status == 200)


def test_addresses_lie_under_the_public_url() -> None:
    """SPEC A1: where to learn of the authorization server."""
    document = served_manifest(Settings(public_url="https://plan.example.com/", auth_api_keys=True))
    assert document["oauth"]["resource_metadata"].startswith("https://plan.example.com/.well-known/oauth-protected")
    # RFC 9728 §3.1: the path comes last
    below = served_manifest(Settings(public_url="https://plan.example.com/base", auth_api_keys=True))
    where = "https://plan.example.com/.well-known/oauth-protected-resource/base/mcp"
    assert below["oauth"]["resource_metadata"] == where


def test_without_authorization_the_manifest_leads_to_no_page_that_is_missing() -> None:
    """SPEC M1: there is no resource metadata to be read."""
    assert "resource_metadata" not in served_manifest(Settings())["oauth"]


def test_limits_of_a_deployment_can_be_read_by_its_clients() -> None:
    """SPEC J8: quotas and sizes by the names of their settings; rates where somebody counts them."""
    open_application = served_manifest(Settings(max_queued_per_principal=7, max_tickets=99))
    assert (open_application["limits"]["max_queued_per_principal"], open_application["limits"]["max_tickets"]) == (
        7,
        99,
    )
    assert "rate_per_s" not in open_application["limits"]
    assert served_manifest(Settings(auth_api_keys=True, rate_per_s=3))["limits"]["rate_per_s"] == 3
    jsonschema.validate(open_application, manifest.read(manifest.SCHEMA_PATH))
