"""What the environment says, and what it leaves out."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from planner_mcp.server.tools.tool_registry import REGISTRY, shown_tools
from planner_mcp.settings import TOOLSETS, Settings, default_data_dir


@pytest.mark.parametrize("name", sorted(Settings.model_fields.keys() - {"toolsets_allowed"}))
def test_an_empty_variable_is_one_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O1, A1, R1: a line that says nothing serves no folder, hides no tool and stops no server."""
    monkeypatch.setenv(f"PLANNER_{name.upper()}", "")
    assert Settings() == Settings.model_construct()


def test_an_empty_data_folder_is_the_default_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O1: the store does not end up in whatever folder the server was started in."""
    monkeypatch.setenv("PLANNER_DATA_DIR", "")
    assert Settings().data_dir == default_data_dir()


def test_an_empty_list_of_tool_sets_allows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T9: what an operator closes stays closed."""
    monkeypatch.setenv("PLANNER_TOOLSETS_ALLOWED", "")
    assert shown_tools(Settings(), "all") == shown_tools(Settings())


def test_the_link_of_a_service_is_no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O1: Kubernetes writes PLANNER_PORT by itself where a Service is called planner."""
    monkeypatch.setenv("PLANNER_PORT", "tcp://10.96.0.7:8080")
    assert Settings().port == 8080
    monkeypatch.setenv("PLANNER_PORT", "eighty")
    with pytest.raises(ValidationError, match="port"):
        Settings()


@pytest.mark.parametrize("text", ["planner.example, b.example:8080", '["planner.example", "b.example:8080"]'])
def test_hosts_and_origins_are_written_like_every_list(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC X3: with commas or as JSON."""
    monkeypatch.setenv("PLANNER_ALLOWED_HOSTS", text)
    monkeypatch.setenv(
        "PLANNER_ALLOWED_ORIGINS", text.replace("planner.", "https://planner.").replace("b.", "http://b.")
    )
    found = Settings()
    assert found.allowed_hosts == ["planner.example", "b.example:8080"]
    assert found.allowed_origins == ["https://planner.example", "http://b.example:8080"]


def test_all_shows_every_tool_set_and_another_name_is_refused() -> None:
    """SPEC T5, T9: a set that is misspelt is told, not left out; so is a list that shows no tool at all."""
    assert shown_tools(Settings(toolsets="all", approval="on")) == REGISTRY
    assert shown_tools(Settings(toolsets_allowed="all", approval="on"), "all") == REGISTRY
    assert {tool.toolset for tool in REGISTRY} == set(TOOLSETS)
    for name in ("toolsets", "toolsets_allowed"):
        for wrong in ("core,plannning", ",", " "):
            with pytest.raises(ValidationError, match="one of core, planning, data, admin and all"):
                Settings(**{name: wrong})


@pytest.mark.parametrize(
    "url",
    [
        *("planner.example", "planner.example:8080", "ftp://planner.example", "https://", "https:///mcp", "/mcp"),
        *("https://planner.example/mcp", "https://planner.example/base/mcp/"),  # clients would be sent to /mcp/mcp
        *("https://planner.example?x", "https://planner.example/#a", "https://a b.example", "https://x.example:port"),
    ],
)
def test_a_public_url_that_no_client_could_use_is_refused(url: str) -> None:
    """SPEC A1: else every address a client is told would be wrong, and nothing would say why."""
    with pytest.raises(ValidationError, match="public_url"):
        Settings(public_url=url)


@pytest.mark.parametrize(
    "url", ["https://planner.example", "http://localhost:8080/", "https://[::1]:8080/base", "http://mcp"]
)
def test_a_public_url_has_a_scheme_and_a_host(url: str) -> None:
    """SPEC A1."""
    assert Settings(public_url=url).public_url == url


ISSUER: dict[str, str | None] = {"https://login.example": None}


@pytest.mark.parametrize("audience", ["api://planner", "planner"])
def test_clients_are_sent_to_the_public_url_whatever_tokens_are_issued_for(audience: str) -> None:
    """SPEC A1: an audience is what an issuer writes; RFC 9728 wants the URL that clients connect to."""
    found = Settings(public_url="https://planner.example/", auth_audience=audience, auth_issuers=ISSUER)
    assert (found.resource, found.audience) == ("https://planner.example/mcp", audience)
    alone = Settings(auth_audience=audience, auth_issuers=ISSUER)  # tokens are judged, nobody is told where to get them
    assert (alone.resource, alone.audience) == (None, audience)


@pytest.mark.parametrize(
    "given",
    [
        {"auth_dashboard_clients": {"https://other.example": "d"}},
        {"auth_issuers": {"word": "https://login.example/keys"}, "auth_dashboard_clients": {"word": "d"}},
        {"auth_dashboard_scopes": ["openid"]},
        {"auth_dashboard_scopes": []},
        {"auth_backchannels": {"https://other.example": "http://login:8080"}},
        {"auth_backchannels": dict.fromkeys(ISSUER, "login:8080")},
        {"auth_session_s": 1},
    ],
)
def test_people_sign_in_where_tokens_are_accepted(given: dict[str, Any]) -> None:
    """SPEC A1, O2: at an issuer whose URL can be asked, for scopes of the planner, for a minute at least."""
    known = {"public_url": "https://planner.example", "auth_issuers": ISSUER}
    assert Settings(**known, auth_dashboard_clients=dict.fromkeys(ISSUER, "d")).auth_dashboard_clients
    with pytest.raises(ValidationError):
        Settings(**known | given)


def test_one_of_public_url_and_audience_is_enough() -> None:
    """SPEC A1: each stands in for the other, where the audience is the URL clients connect to."""
    for found in (
        Settings(auth_audience="https://planner.example/mcp", auth_issuers=ISSUER),
        Settings(public_url="https://planner.example", auth_issuers=ISSUER),
    ):
        assert found.resource == found.audience == "https://planner.example/mcp"


@pytest.mark.parametrize("name", ["data_dir", "reports_dir", "files_dir"])
def test_a_folder_below_home_is_one_folder_for_all_who_use_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC O1, W1: no shell stands before a client's `env`; else the key lies where the process was started."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(f"PLANNER_{name.upper()}", "~/planner")
    assert getattr(Settings(), name) == tmp_path / "planner"
    with pytest.raises(ValidationError, match="in full"):
        Settings(**{name: "~nobody-of-this-name/planner"})


ORIGIN, HOST = "allowed_origins", "allowed_hosts"


def given(name: str, value: Any) -> dict[str, Any]:
    """Return one setting, a host or origin as the only one of its list, and what those of authorization want beside."""
    others = {"auth_audience": "planner", "auth_introspection_issuer": "https://login.example"}
    return {name: [value] if name in (ORIGIN, HOST) else value, **others}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((ORIGIN, text) for text in ("*", "https://app.example/", "app.example", "https://App.example", "http://")),
        *((ORIGIN, text) for text in ("https://app.example:443", "http://app.example:x", "https://a@app.example")),
        *(
            (HOST, text)
            for text in ("https://planner.example", "planner.example/mcp", "*", "a b", "planner:0", "x:99999")
        ),
        *(("auth_issuers", {"login.example": None}), ("auth_issuers", {"https://login.example": "notaurl"})),
        *(("auth_introspection_url", "notaurl"), ("auth_types", []), ("drain_s", float("inf"))),
        *(("webhook_allow_ports", [-1]), ("webhook_allow_ports", [65536]), ("webhook_schedule_s", [float("inf")])),
    ],
)
def test_what_could_never_match_is_refused(name: str, value: Any) -> None:
    """SPEC X3, A1, W5: else callers are refused with a pointer to the setting that was just made."""
    with pytest.raises(ValidationError, match=name):
        Settings(**given(name, value))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((ORIGIN, text) for text in ("http://localhost:3000", "null", "https://[::1]:8443", "chrome-extension://abc")),
        *((HOST, text) for text in ("planner", "planner.example:443", "[::1]:8080", "10.0.0.7:8080", "my_planner:80")),
        ("auth_issuers", {"https://login.example/realm": "https://login.example/keys?p=b2c"}),
        ("auth_issuers", {"accounts.example": "https://login.example/keys"}),
        ("auth_introspection_url", "https://login.example/introspect?realm=a"),
    ],
)
def test_what_may_match_is_taken(name: str, value: Any) -> None:
    """SPEC X3, A1."""
    assert getattr(Settings(**given(name, value)), name) == given(name, value)[name]


@pytest.mark.parametrize("name", ["scenario_ttl_s", "job_ttl_s", "idempotency_ttl_s", "audit_ttl_s"])
def test_nothing_is_kept_for_longer_than_redis_can_count(name: str) -> None:
    """SPEC J9, O3: refused at the start, not at each write of a server that says it is ready."""
    century_s = 100 * 365 * 86400
    assert getattr(Settings(**given(name, century_s)), name) == century_s
    with pytest.raises(ValidationError, match=name):
        Settings(**given(name, 10**16))


NUMBERS = sorted(name for name, field in Settings.model_fields.items() if field.annotation in (int, float))


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["1e308", "-1", str(10**15)])
def test_an_absurd_number_is_an_error_of_its_setting(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7: not a traceback of the process that waits for 1e308 seconds, or asks for so much memory."""
    monkeypatch.setenv(f"PLANNER_{name.upper()}", value)
    with pytest.raises(ValidationError, match=name):
        Settings()


CLUSTERS = {
    "redis://a:7000,redis://b:7001": "redis://a:7000,redis://b:7001",
    "redis://a:7000, redis://b:7001": "redis://a:7000,redis://b:7001",
    "redis://a:7000,b:7001, c:7002": "redis://a:7000,redis://b:7001,redis://c:7002",
    "rediss://:p%2Cw@a:7000,[::1]:7001?ssl_cert_reqs=none": (
        "rediss://:p%2Cw@a:7000?ssl_cert_reqs=none,rediss://:p%2Cw@[::1]:7001?ssl_cert_reqs=none"
    ),
}


@pytest.mark.parametrize("text", CLUSTERS)
def test_nodes_of_a_cluster_are_written_as_the_page_says(text: str) -> None:
    """SPEC O1: "some of its nodes, comma-separated": URLs, or one URL and further nodes."""
    assert Settings(redis_url=text).redis_url == CLUSTERS[text]


@pytest.mark.parametrize("text", ["redis://a:7000,", "redis://a,b:x", "a:7000,b:7001", "redis://a,unix://b", ","])
def test_what_names_no_node_is_refused(text: str) -> None:
    """SPEC O1: at the start, not when it is connected to."""
    with pytest.raises(ValidationError, match="redis_url"):
        Settings(redis_url=text)


def test_the_name_of_the_embedded_road_engine_is_taken() -> None:
    """SPEC O9: a scenario that names `roads` means one engine."""
    other = {"roads": {"kind": "osrm", "url": "http://osrm:5000"}}
    assert Settings(routers=other).router_names == ("roads",)
    with pytest.raises(ValidationError, match="PLANNER_ROUTERS names an engine roads"):
        Settings(routers=other, roads_pbf="city.osm.pbf")
    assert Settings(roads_pbf="city.osm.pbf").router_names == ("roads",)


@pytest.mark.parametrize("url", ["gpu-host:5000", "ftp://gpu-host", "http://gpu-host?x=1"])
def test_an_address_of_cuopt_is_an_http_url(url: str) -> None:
    """Our choice: a setting that cannot work is refused at the start."""
    with pytest.raises(ValidationError, match="not an http"):
        Settings(cuopt_url=url)
    assert Settings(cuopt_url="http://gpu-host:5000").cuopt_url == "http://gpu-host:5000"
