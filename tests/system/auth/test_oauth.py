"""The whole way from 401 to a plan, against an authorization server we did not write."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from examples.planner_server import running_server
from planner_mcp.jobs.principals import READ, WRITE
from tests.shared.http.free_ports import free_port
from tests.shared.http.http_clients import http_client
from tests.shared.node.authority import authority
from tests.shared.scenarios.client_scenarios import SMALLEST, submit, use, wait_for
from tests.system.auth.conftest import Fort, configured, issuers

pytestmark = [pytest.mark.anyio, pytest.mark.node, pytest.mark.slow]
DEPLOY = Path(__file__).parents[3] / "deploy"
CALLBACK = "http://127.0.0.1:9/callback"
both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])


class Memory:
    """Keeps what the client's flow has learnt."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Browser:
    """A person at a browser who agrees to everything, as `who`."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._answer: dict[str, str] = {}
        self.asked: list[str] = []

    async def visit(self, url: str) -> None:
        self.asked.append(parse_qs(urlsplit(url).query)["scope"][0])
        async with http_client() as http:
            url = f"{url}&login_hint={self._who}"
            while not url.startswith(CALLBACK):
                answer = await http.get(url)
                assert answer.status_code in (302, 303), answer.text
                url = str(httpx.URL(url).join(answer.headers["location"]))
        self._answer = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}

    async def callback(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(self._answer)


def oauth(fort: Fort, browser: Browser, memory: Memory) -> OAuthClientProvider:
    """Return the official client's own OAuth flow; it registers itself (RFC 7591)."""
    metadata = OAuthClientMetadata.model_validate(
        {"redirect_uris": [CALLBACK], "client_name": "test", "token_endpoint_auth_method": "none"}
    )
    return OAuthClientProvider(
        fort.planner_server.mcp,
        metadata,
        memory,
        redirect_handler=browser.visit,
        callback_handler=browser.callback,
    )


@both_eras
async def test_the_official_client_goes_from_401_to_a_plan(fort: Fort, mode: Any) -> None:
    """SPEC A1: 401, metadata, registration, code with PKCE, a token for this resource, a finished plan."""
    browser, memory = Browser("ada"), Memory()
    with anyio.fail_after(60):
        async with (
            http_client(auth=oauth(fort, browser, memory), timeout=60) as http,
            Client(streamable_http_client(fort.planner_server.mcp, http_client=http), mode=mode) as client,
        ):
            job_id = await submit(client, SMALLEST, "PT1S")
            await wait_for(client, job_id, "COMPLETED")
            plan = await use(client, "read_plan", job_id=job_id)
    assert plan["plan_id"]
    assert [set(asked.split()) >= {READ, WRITE} for asked in browser.asked] == [True]
    assert memory.client is not None and memory.client.client_id


async def test_a_client_with_too_few_scopes_learns_all_it_needs_and_steps_up(fort: Fort) -> None:
    """SPEC A1: 403 insufficient_scope names every scope at once; the client's own flow asks for it and goes on."""
    browser, memory = Browser("bea"), Memory()
    assert fort.authority is not None
    small = await fort.authority.token("eve", fort.resource, READ)
    await memory.set_tokens(OAuthToken(access_token=small, scope=READ, expires_in=600))
    async with (
        http_client(auth=oauth(fort, browser, memory), timeout=60) as http,
        Client(streamable_http_client(fort.planner_server.mcp, http_client=http), mode="auto") as client,
    ):
        created = await use(client, "create_scenario", **SMALLEST)
    assert created["scenario_id"]
    assert [set(asked.split()) & {READ, WRITE} for asked in browser.asked][-1] == {READ, WRITE}


async def test_robots_use_client_credentials(fort: Fort) -> None:
    """SPEC A1, A3: tools/list shows what a token may call, in both eras."""
    for mode in ("legacy", "auto"):
        async with fort.client("ben", mode) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"create_scenario", "solve_vrp", "read_plan"} <= names
        async with fort.client("eve", mode) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert "read_plan" in names and not names & {"create_scenario", "solve_vrp", "cancel_vrp_job"}


async def test_a_token_for_another_resource_is_refused(fort: Fort) -> None:
    """SPEC A1: RFC 8707, the audience must be this server."""
    assert fort.authority is not None
    token = await fort.authority.token("ben", "https://other.example/mcp", READ)
    async with fort.http(None, authorization=f"Bearer {token}") as http:
        answer = await http.get("/jobs/x")
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_known_keys_outlive_the_authorization_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    """SPEC A1: an issuer that is gone locks out nobody whose key was seen, and lets nobody in whose key was not."""
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    async with authority({resource: "jwt"}, {"ann": READ}) as server:
        token = await server.token("ann", resource, READ)
        settings = configured(AUTH_AUDIENCE=resource, AUTH_ISSUERS=issuers(server))
        async with (
            running_server(tmp_path_factory.mktemp("one"), workers=0, settings=settings) as seen,
            running_server(tmp_path_factory.mktemp("two"), workers=0, settings=settings) as unseen,
            http_client(headers={"authorization": f"Bearer {token}"}) as http,
        ):
            assert (await http.get(f"{seen.url}/jobs/x")).status_code == 404
            server.process.kill()
            await server.process.wait()
            assert (await http.get(f"{seen.url}/jobs/x")).status_code == 404
            assert (await http.get(f"{unseen.url}/jobs/x")).status_code == 401


async def test_opaque_tokens_are_looked_up_where_they_were_made(tmp_path_factory: pytest.TempPathFactory) -> None:
    """SPEC A1: RFC 7662 against the certified server; inactive and foreign tokens are refused."""
    resource = "https://planner.example/mcp"
    async with authority({resource: "opaque", "https://other.example": "opaque"}, {"ann": READ}) as server:
        settings = configured(
            AUTH_AUDIENCE=resource,
            AUTH_INTROSPECTION_URL=f"{server.issuer}/token/introspection",
            AUTH_INTROSPECTION_ISSUER=server.issuer,
            AUTH_INTROSPECTION_CLIENT_ID="planner",
            AUTH_INTROSPECTION_CLIENT_SECRET="planner-secret",  # noqa: S106 - of a server that lives for one test
        )
        async with (
            running_server(tmp_path_factory.mktemp("opaque"), workers=0, settings=settings) as planner_server,
            http_client(base_url=planner_server.url) as http,
        ):
            tokens = [await server.token("ann", each, READ) for each in (resource, "https://other.example")]
            statuses = []
            for token in (*tokens, "never-made"):
                answer = await http.get("/jobs/x", headers={"authorization": f"Bearer {token}"})
                statuses.append(answer.status_code)
            metadata = (await http.get("/.well-known/oauth-protected-resource")).json()
    assert statuses == [404, 401, 401]
    assert metadata["authorization_servers"] == [server.issuer]


async def test_programs_of_the_keycloak_realm_may_do_what_it_grants_them(tmp_path: Path) -> None:
    """SPEC A1, O7: its clients, scopes and audience; the tokens are of another server; Keycloak is not run."""
    realm = json.loads((DEPLOY / "keycloak" / "realm.json").read_text("utf-8"))
    programs = {
        each["clientId"]: " ".join(each["optionalClientScopes"])
        for each in realm["clients"]
        if each["serviceAccountsEnabled"]
    }
    (audience,) = (
        mapper["config"]["included.custom.audience"]
        for scope in realm["clientScopes"]
        for mapper in scope.get("protocolMappers", ())
        if mapper["protocolMapper"] == "oidc-audience-mapper"
    )
    lines = (DEPLOY / "keycloak.env").read_text("utf-8").splitlines()
    (public_url,) = (line.partition("=")[2] for line in lines if line.startswith("PLANNER_PUBLIC_URL="))
    statuses = {}
    async with authority({audience: "jwt"}, programs) as server:
        settings = configured(PUBLIC_URL=public_url, AUTH_ISSUERS=issuers(server))
        async with (
            running_server(tmp_path, workers=0, settings=settings) as planner_server,
            http_client(base_url=planner_server.url) as http,
        ):
            for name, scopes in programs.items():
                headers = {"authorization": f"Bearer {await server.token(name, audience, scopes)}"}
                created = await http.post("/v1/scenarios", json=SMALLEST, headers=headers)
                statuses[name] = (created.status_code, (await http.get("/metrics", headers=headers)).status_code)
    assert statuses == {"planner-robot": (201, 403), "planner-auditor": (403, 200)}
