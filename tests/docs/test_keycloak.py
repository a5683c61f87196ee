"""The realm that compose.yaml imports fits the server beside it. Keycloak itself is not run here."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from planner_mcp.jobs.principals import SCOPES
from planner_mcp.server.http.routes.session_routes import RETURN_PATH
from planner_mcp.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def realm() -> dict[str, Any]:
    text = (ROOT / "deploy" / "keycloak" / "realm.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What a server reads when `PLANNER_AUTH=keycloak`."""
    for line in (ROOT / "deploy" / "keycloak.env").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _equals, value = line.partition("=")
            monkeypatch.setenv(name, value)
    return Settings()


def test_tokens_are_issued_for_the_server(realm: dict[str, Any], configured: Settings) -> None:
    """SPEC A1: without an audience mapper Keycloak writes no aud, and no such token is accepted."""
    scopes = {scope["name"]: scope for scope in realm["clientScopes"]}
    mapper = scopes["planner-audience"]["protocolMappers"][0]
    assert mapper["protocolMapper"] == "oidc-audience-mapper"
    assert mapper["config"]["included.custom.audience"] == configured.resource
    assert configured.has_auth
    assert next(iter(configured.auth_issuers)).endswith(f"/realms/{realm['realm']}")


def test_every_scope_of_the_planner_can_be_asked_for(realm: dict[str, Any]) -> None:
    """SPEC A3: and each client writes a subject and an audience into its tokens."""
    assert {scope["name"] for scope in realm["clientScopes"]} >= SCOPES
    assert set().union(*(client["optionalClientScopes"] for client in realm["clients"])) == SCOPES
    for client in realm["clients"]:
        assert {"basic", "planner-audience"} <= set(client["defaultClientScopes"])


def test_people_sign_in_to_the_dashboard(realm: dict[str, Any], configured: Settings) -> None:
    """SPEC A1, O2: the client that the server names comes back to the page, with the scopes asked for."""
    ((issuer, client_id),) = configured.auth_dashboard_clients.items()
    (client,) = [each for each in realm["clients"] if each["clientId"] == client_id]
    assert client["publicClient"]
    assert client["standardFlowEnabled"]
    assert client["redirectUris"] == [f"{configured.public_url}{RETURN_PATH}"]
    assert set(client["optionalClientScopes"]) == set(configured.auth_dashboard_scopes)
    assert issuer in configured.auth_issuers


def test_servers_reach_the_issuer_inside_the_network(configured: Settings) -> None:
    """SPEC A1, O2: its public URL is the host's loopback; keys, metadata and token endpoint are asked by its name."""
    service = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["keycloak"]
    ((issuer, backchannel),) = configured.auth_backchannels.items()
    assert issuer.startswith(service["environment"]["KC_HOSTNAME"])
    assert service["environment"]["KC_HOSTNAME_BACKCHANNEL_DYNAMIC"] == "true"
    (port,) = service["ports"]
    assert urlsplit(backchannel).netloc == f"keycloak:{port.rpartition(':')[2]}"
    assert urlsplit(backchannel).path == urlsplit(issuer).path
    assert str(configured.auth_issuers[issuer]).startswith(f"{backchannel}/")


def test_clients_are_strict(realm: dict[str, Any]) -> None:
    """SPEC A1: RFC 9068 tokens, PKCE for people, secrets from the environment for programs, no password grant."""
    for client in realm["clients"]:
        assert client["attributes"]["access.token.header.type.rfc9068"] == "true"
        assert not client["implicitFlowEnabled"]
        assert not client["directAccessGrantsEnabled"]
        if client["publicClient"]:
            assert client["attributes"]["pkce.code.challenge.method"] == "S256"
        else:
            assert client["secret"].startswith("${")
