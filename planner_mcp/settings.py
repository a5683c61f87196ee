"""Every setting, its default and its meaning: read from `PLANNER_*` environment variables, overridden by the CLI."""

import json
import os
import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticUseDefault

from planner_mcp.setting_urls import is_address, is_host, is_origin, is_url, store_url_fault, store_urls
from planner_mcp.text import DAY_S
from planner_mcp.translation import Language

PREFIX: Final = "PLANNER_"
"""Of the environment variables; the rest is the name of a setting in capitals."""
MIN_SECRET_LENGTH: Final = 16
"""Characters of a secret that is not easily guessed."""
_BARE_IPV6: Final = r"[0-9a-fA-F:]*::?[0-9a-fA-F]{1,4}:\d{1,5}"
"""An IPv6 address without brackets, and a port."""
T = TypeVar("T")


def _split(value: Any) -> Any:
    """Return the items of a text: a JSON list, or parts between commas."""
    if not isinstance(value, str):
        return value
    is_json = value.lstrip().startswith("[")
    return _from_json(value) if is_json else [part.strip() for part in value.split(",") if part.strip()]


def _from_json(value: Any) -> Any:
    """Return the value of a JSON text. The error never quotes the text, which may hold a secret."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("it is no JSON") from None


def _network(text: str) -> str:
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        raise ValueError("it is no network; write it like 10.0.0.0/8") from None


def _host(text: str) -> str:
    if re.fullmatch(_BARE_IPV6, text):  # what $(POD_IP):8080 of a chart becomes on an IPv6 cluster
        address, _colon, port = text.rpartition(":")
        text = f"[{address}]:{port}"
    if not is_host(text):
        how = "like planner.example or planner.example:8080, an IPv6 address like [fd00::1]:8080"
        raise ValueError(f"it is no Host a request could name; write it {how}")
    return text


def _origin(text: str) -> str:
    if not is_origin(text):
        how = "like https://app.example or http://localhost:3000: in lower case, without a path or the usual port"
        raise ValueError(f"it is no Origin a browser could name; write each {how}")
    return text


Listed = Annotated[list[T], BeforeValidator(_split)]
"""A list that an environment variable gives as `a,b` or as JSON."""
Mapped = Annotated[dict[str, T], BeforeValidator(_from_json)]
"""A map that an environment variable gives as JSON."""
Delay = Annotated[float, Field(ge=0, le=30 * DAY_S)]
MAX_MEMORY_MB: Final = 16 * 1024**2
"""16 TiB: more than a machine has, and less than the operating system refuses."""
MAX_COUNT: Final = 10**9
"""Of anything: Lua and Redis count beyond it without a fault."""
MAX_BYTES: Final = 1024**4
MAX_RATE: Final = 1e6
"""A second. Buckets are counted in Redis with the numbers of Lua."""
Life = Annotated[int, Field(ge=1, le=100 * 365 * DAY_S)]
"""Seconds, at most a century: Redis refuses larger expiry times."""
Port = Annotated[int, Field(ge=1, le=65535)]
Network = Annotated[str, AfterValidator(_network)]
Host = Annotated[str, AfterValidator(_host)]
Origin = Annotated[str, AfterValidator(_origin)]
ScopeName = Annotated[str, Field(pattern=r"^planner:[a-z]+$")]


TOOLSETS: Final = ("core", "planning", "data", "admin")
"""The sets a tool may belong to."""


ROADS: Final = "roads"
"""Name of the road engine that `roads_pbf` starts."""


def names_in(text: str) -> frozenset[str]:
    """Return the names between commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def default_data_dir() -> Path:
    """Return the default folder of the embedded store: `~/.local/share/planner-mcp`."""
    return Path.home() / ".local" / "share" / "planner-mcp"


CHINESE_GEOCODERS: Final = frozenset({"amap", "baidu", "tencent"})
"""Services whose terms forbid to keep answers, and that need a key."""


class RouterSettings(BaseModel):
    """One configured road engine."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["osrm", "valhalla"]
    url: str = Field(
        pattern=r"^https?://[^\s?#]+$", description="URL of the road engine, without the path of a service."
    )
    profile: str = Field(
        default="", pattern=r"^[\w-]*$", description="OSRM profile (driving) or Valhalla costing (auto)."
    )
    version: str = Field(
        default="",
        max_length=100,
        description="Version of the engine, written on plans where the engine does not report it.",
    )
    data_date: str = Field(
        default="", max_length=100, description="Date of its map, written on plans where the engine does not report it."
    )
    block: int = Field(
        default=50, ge=1, le=1000, description="Largest number of origins, and of targets, of one request."
    )


class GeocoderSettings(BaseModel):
    """One configured geocoding service."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["amap", "baidu", "tencent", "nominatim", "photon", "pelias"]
    url: str = Field(
        default="",
        pattern=r"^(https?://[^\s?#]+)?$",
        description="URL of the service, without the path of a request; empty: that of AMap, Baidu or Tencent.",
    )
    key: SecretStr = Field(default=SecretStr(""), description="Key of the account.")
    keep_s: float = Field(
        default=0,
        ge=0,
        le=30 * DAY_S,
        description="Answers are kept in memory this long; 0 for AMap, Baidu and Tencent, whose terms forbid more.",
    )

    @model_validator(mode="after")
    def _check_terms(self) -> Self:
        if self.kind in CHINESE_GEOCODERS and self.keep_s:
            raise ValueError(f"the terms of {self.kind} forbid to keep answers; leave keep_s out")
        if self.kind in CHINESE_GEOCODERS and not self.key.get_secret_value():
            raise ValueError(f"{self.kind} needs a key")
        if self.kind not in CHINESE_GEOCODERS and not self.url:
            raise ValueError(f"{self.kind} needs a url")
        return self


ANY_FILE: Final = Path("/")
"""As `files_dir`: any file of this machine that its user may read, by a path that may be relative."""


class Settings(BaseModel):
    """Settings of servers and workers alike."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, validate_default=True)

    # ---- store
    redis_url: str | None = Field(
        default=None,
        description=(
            "URL of Redis or Valkey ≥ 7.0 (rediss:// with TLS); for a cluster some of its nodes, comma-separated, each "
            "as a URL or as in `redis://:password@node1:6379,node2:6379`. Empty: the bundled server in data_dir."
        ),
    )
    data_dir: Path = Field(
        default_factory=default_data_dir, description="Folder of the embedded store and of local files."
    )
    pools: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Pools: independent queues, each on one hash slot; they divide the limits. More than one only with "
        "Redis Cluster.",
    )
    appendfsync: Literal["always", "everysec"] = Field(
        default="always", description="Durability of the embedded store."
    )
    replication: Literal["none", "wait", "waitaof"] = Field(
        default="none",
        description="When a submit, a step of a review or a share link is answered. none: at once; wait: a replica has "
        "it; waitaof: it is on both disks.",
    )
    replication_wait_s: float = Field(
        default=2.0,
        gt=0,
        le=2.5,
        description="A submit that no replica has confirmed after this time is answered with a retryable error.",
    )

    # ---- server
    server: Literal["planner", "address", "bridge"] = Field(
        default="planner",
        description="What is served: the planner, the address server (`serve --address`), or a bridge (`--bridge`).",
    )
    bridge_config: Path | None = Field(
        default=None,
        description="Configuration of the bridge: which operations of which OpenAPI document it serves as tools.",
    )
    events_advertised: Literal["asked", "always"] = Field(
        default="asked",
        description="Which clients see MCP Events also as `capabilities.events`, where some of them look: those that "
        "asked for the extension, or all.",
    )
    events_errors: Literal["sketch", "sep"] = Field(
        default="sketch",
        description="Error codes of MCP Events. `sketch`: -32011 to -32015, which current clients expect; `sep`: those "
        "of SEP-3415.",
    )
    lang: Language = Field(
        default="en",
        description="Language of titles, descriptions, prompts, reasons and messages: en, or zh for Chinese. A request "
        "over HTTP may ask for reasons and messages in the other by `Accept-Language`.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    workers: int = Field(
        default=1, ge=0, le=256, description="Worker processes started beside a server, over HTTP or stdio; 0 for none."
    )
    public_url: str | None = Field(
        default=None,
        description="URL by which clients reach this deployment, without /mcp. It is never taken from request headers.",
    )
    allowed_hosts: Listed[Host] = Field(
        default_factory=list, description="Further accepted Host values, exact, with the port if it is not the default."
    )
    allowed_origins: Listed[Origin] = Field(
        default_factory=list,
        description="Accepted browser origins, exact. Requests without Origin are always accepted.",
    )
    max_body_bytes: int = Field(default=4 * 1024 * 1024, ge=1024, le=MAX_BYTES, description="Largest request body.")
    max_nesting: int = Field(default=32, ge=4, le=1000, description="Deepest JSON nesting of a request body.")
    max_values: int = Field(default=500_000, ge=1000, le=MAX_COUNT, description="Most JSON values of a request body.")
    max_open_body_bytes: int = Field(
        default=128 * 1024 * 1024,
        ge=1024,
        le=MAX_BYTES,
        description="Most bytes in the open request bodies of one principal on a replica; a single one may have more.",
    )
    body_mb_per_s: float = Field(
        default=16.0,
        gt=0,
        le=1e6,
        description="Sustained rate of request bodies of one authenticated principal on a replica, in MiB per second.",
    )
    read_share: float = Field(
        default=0.5,
        gt=0,
        le=1000,
        description="CPU seconds per second that one principal may use on a replica for reading large inputs.",
    )
    read_time_s: float = Field(
        default=20.0, ge=1, le=600, description="CPU seconds that reading one input may take; three times that in all."
    )
    read_memory_mb: int = Field(
        default=1024,
        ge=128,
        le=1 << 20,
        description="Memory of reading one input in MiB; enforced on Linux.",
    )
    max_streams: int = Field(
        default=256, ge=1, le=MAX_COUNT, description="Most open streams of one principal on a replica."
    )
    otel: bool = Field(
        default=False,
        description="Export OpenTelemetry spans; needs the extra `otel` and the variables OTEL_EXPORTER_OTLP_….",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="Least severe log line written. Where it is not set, `serve` at a terminal writes from warning on.",
    )
    toolsets: str = Field(
        default="core",
        description="Tool sets that are listed, comma-separated: core, planning, data, admin; or all.",
    )
    toolsets_allowed: str = Field(
        default=",".join(TOOLSETS),
        description="Tool sets a client may add by enable_toolset or by ?toolsets= on the URL, in the same form; set "
        "but empty: none.",
    )
    reports_dir: Path | None = Field(
        default=None,
        description="Folder of static reports, served as file:/// resources to every principal with the read scope.",
    )
    ask_missing: bool = Field(
        default=True,
        description="Ask the user of a client that supports elicitation: for a missing depot, shift or required "
        "parameter, unclear columns and addresses, and before a plan is approved or rejected.",
    )

    # ---- jobs
    lease_s: float = Field(
        default=4.0, gt=0.2, le=3600, description="Time without a renewal after which a job is taken from its worker."
    )
    max_solve_time_s: int = Field(
        default=3600, ge=1, le=30 * DAY_S, description="Longest solve_time a caller may ask for."
    )
    max_tickets: int = Field(
        default=10_000, ge=1, le=MAX_COUNT, description="Largest number of tickets of one scenario."
    )
    max_agents: int = Field(default=1000, ge=1, le=MAX_COUNT, description="Largest number of agents of one scenario.")
    max_queued: int = Field(
        default=10_000, ge=1, le=MAX_COUNT, description="Queued jobs in all; further ones are refused."
    )
    max_queued_per_principal: int = Field(default=1000, ge=1, le=MAX_COUNT, description="Queued jobs of one principal.")
    max_solving_per_principal: int = Field(
        default=64, ge=1, le=MAX_COUNT, description="Jobs of one principal that are solved at the same time."
    )
    max_share: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Share of all worker slots that one principal may hold; below 1 some stay free for others.",
    )
    submit_rate_per_s: float = Field(
        default=0.0,
        ge=0,
        le=MAX_RATE,
        description="Sustained rate of new jobs of one principal, per second; 0 for no limit.",
    )
    submit_burst: int = Field(
        default=100,
        ge=1,
        le=MAX_COUNT,
        description="New jobs one principal may submit at once, where the rate is limited.",
    )
    solve_memory_mb: int = Field(
        default=2048, ge=128, le=MAX_MEMORY_MB, description="Memory of one solve in MiB; enforced on Linux."
    )
    cuopt_url: str = Field(
        default="",
        description="Address of a cuOpt server. auto asks it from 800 tickets on, beside its own searches.",
    )
    solve_cores: int = Field(
        default=1,
        ge=1,
        le=64,
        description=(
            "CPU cores of one solve. Where it is not set, a server with its own store and workers takes the cores it "
            "may use, divided by its workers, at least 1 and at most 8."
        ),
    )
    ray_address: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Ray cluster that workers run solves on, one actor each: `auto` for that of this host, HOST:PORT, or "
            "`local` to start one. Needs the extra `ray`. Without it solves are processes of the worker."
        ),
    )
    max_scenarios: int = Field(
        default=100_000, ge=1, le=MAX_COUNT, description="Most scenarios of one principal, in each pool."
    )
    max_scenarios_bytes: int = Field(
        default=2 * 1024**3,
        ge=1024,
        le=MAX_BYTES,
        description="Most bytes that the scenarios of one principal take, in each pool.",
    )
    scenario_ttl_s: Life = Field(default=30 * DAY_S, description="Scenarios are kept this long after last use.")
    job_ttl_s: Life = Field(default=7 * DAY_S, description="Jobs, events and plans are kept this long after their end.")
    idempotency_ttl_s: Life = Field(default=DAY_S, description="Explicit idempotency keys are remembered this long.")
    approval: Literal["off", "on", "four_eyes"] = Field(
        default="off",
        description=(
            "Plans are proposed, approved and published by people. four_eyes: never approved by the principal that "
            "proposed them."
        ),
    )
    drain_s: float = Field(
        default=20.0, ge=0, le=DAY_S, description="Time that open calls of a server may go on after SIGTERM."
    )
    solve_drain_s: float = Field(
        default=0.0,
        ge=0,
        le=DAY_S,
        description=(
            "Time a solve may go on after SIGTERM of its worker. Then its job is handed back with its best plan within "
            "2 s, and another worker goes on from there."
        ),
    )
    target_wait_s: float = Field(
        default=30.0,
        gt=0,
        le=DAY_S,
        description="Target wait for a worker, in seconds. `GET /scale` requests enough slots to keep waits below it.",
    )
    scale_token: SecretStr | None = Field(
        default=None,
        min_length=MIN_SECRET_LENGTH,
        description="Bearer token that reads `GET /scale` and nothing else, for autoscalers.",
    )

    # ---- travel
    routers: Mapped[RouterSettings] = Field(
        default_factory=dict,
        description=(
            "Road engines by the name that `travel.router` uses: a JSON object of "
            "`{kind: osrm or valhalla, url, profile, version, data_date, block}`."
        ),
    )
    roads_pbf: Path | None = Field(
        default=None,
        description=(
            "OpenStreetMap extract (.osm.pbf) of a city or region: servers and workers of a host then share one road "
            "engine, which scenarios name as `travel.router` `roads`. Needs the extra `roads`."
        ),
    )
    roads_engine: Literal["osrm", "valhalla"] = Field(
        default="osrm",
        description="What serves the roads of roads_pbf: OSRM, or Valhalla with the extra `roads-valhalla`.",
    )
    roads_profile: Literal["car", "bicycle", "foot", "truck"] = Field(
        default="car", description="Vehicle of the roads of roads_pbf; `truck` is known to Valhalla alone."
    )
    roads_max_bytes: int = Field(
        default=2 * 1024**3,
        ge=1024,
        le=MAX_BYTES,
        description="Largest extract that is built; building takes about 12 times as much disk, and memory.",
    )
    router_snap_m: float = Field(
        default=1000.0,
        gt=0,
        le=1_000_000,
        description="Metres from a road beyond which a location is off the network, and its tickets are left out. "
        "Servers and workers must agree on it.",
    )
    router_request_s: float = Field(
        default=15.0, gt=0, le=DAY_S, description="Timeout of a road engine for one block of a matrix, in seconds."
    )
    router_total_s: float = Field(
        default=300.0, gt=0, le=DAY_S, description="Timeout of a road engine for the matrix of a scenario, in seconds."
    )
    max_matrix_locations: int = Field(
        default=2000,
        ge=2,
        le=MAX_COUNT,
        description="Most locations of a travel matrix, uploaded or from a road engine.",
    )
    max_matrix_bytes: int = Field(
        default=64 * 1024 * 1024, ge=1024, le=MAX_BYTES, description="Largest body of PUT /matrices."
    )
    max_file_bytes: int = Field(
        default=8 * 1024 * 1024, ge=1024, le=20 * 1024 * 1024, description="Largest body of PUT /files."
    )
    file_ttl_s: float = Field(
        default=3600.0,
        ge=1,
        le=DAY_S,
        description="How long an uploaded file is kept after the last upload, in seconds.",
    )
    link_ttl_s: float = Field(
        default=900.0,
        ge=10,
        le=30 * DAY_S,
        description="How long the URL of a download works, in seconds. Whoever has the URL can read it until then.",
    )
    files_dir: Path | None = Field(
        default=None,
        description="Folder whose files clients may name by path in imports; over stdio, where unset, any file.",
    )
    max_matrices: int = Field(
        default=20,
        ge=1,
        le=MAX_COUNT,
        description="Uploaded matrices that one principal may keep, and as many from road engines.",
    )

    # ---- addresses
    geocoders: Mapped[GeocoderSettings] = Field(
        default_factory=dict,
        description=(
            "Geocoding services by the name that `provider` uses: a JSON object of "
            "`{kind: amap, baidu, tencent, nominatim, photon or pelias, url, key, keep_s}`."
        ),
    )
    geocoder: str = Field(
        default="offline",
        description="Name of the entry in PLANNER_GEOCODERS that is used by default. `offline` uses no service.",
    )
    geocoder_request_s: float = Field(
        default=5.0, gt=0, le=60, description="Timeout of a geocoding service for one address, in seconds."
    )
    geocoder_total_s: float = Field(
        default=20.0, gt=0, le=300, description="Time for all addresses of one call; the others are read offline."
    )

    # ---- authorization
    auth_issuers: Mapped[str | None] = Field(
        default_factory=dict,
        description="Accepted token issuers, each with the URL of its key set or null to discover it.",
    )
    auth_backchannels: Mapped[str] = Field(
        default_factory=dict,
        description=(
            "URL by which the server reaches an issuer whose own URL it cannot reach, and reads its metadata: a JSON "
            "object, by issuer."
        ),
    )
    auth_audience: str | None = Field(
        default=None, description="Audience that tokens must be issued for. Default: public_url + /mcp."
    )
    auth_types: Listed[str] = Field(
        default_factory=lambda: ["at+jwt"],
        min_length=1,
        description="Accepted typ headers of tokens; add JWT for authorization servers that use it.",
    )
    auth_tenant_claim: str | None = Field(
        default=None, description="Claim that names the tenant; once set, every token must have it."
    )
    auth_introspection_url: str | None = Field(
        default=None,
        description="Introspection endpoint for opaque tokens (RFC 7662); empty: only signed tokens are accepted.",
    )
    auth_introspection_issuer: str | None = Field(
        default=None,
        description="Issuer of the tokens that are introspected; part of the id of their principals.",
    )
    auth_introspection_client_id: str = Field(
        default="", description="Client id of this server at the introspection endpoint."
    )
    auth_introspection_client_secret: SecretStr = Field(
        default=SecretStr(""), description="Client secret of this server at the introspection endpoint."
    )
    auth_dashboard_clients: Mapped[str] = Field(
        default_factory=dict,
        description=(
            "Client id of the dashboard at each issuer where people may sign in by code with PKCE: a JSON object. The "
            "redirect URI to register there is public_url + /ui/signed-in."
        ),
    )
    auth_dashboard_scopes: Listed[ScopeName] = Field(
        default_factory=lambda: [f"planner:{name}" for name in ("read", "write", "sensitive", "approve", "admin")],
        min_length=1,
        description="Scopes that the dashboard asks an issuer for, of those the issuer knows.",
    )
    auth_session_s: int = Field(
        default=8 * 3600,
        ge=60,
        le=30 * DAY_S,
        description=(
            "Longest time one stays signed in to the dashboard, in seconds. After a sign-in at an issuer the session "
            "outlives the token; one opened with a pasted token ends with it."
        ),
    )
    auth_api_keys: bool = Field(default=False, description="Accept API keys made by `planner-mcp keys create`.")
    auth_failures_per_s: float = Field(
        default=0.5,
        gt=0,
        le=MAX_RATE,
        description="Sustained rate of refused credentials from one address at one replica, per second.",
    )
    auth_failures_burst: int = Field(
        default=20, ge=1, le=MAX_COUNT, description="Refused credentials that one address may send at once."
    )
    rate_per_s: float = Field(
        default=50.0,
        gt=0,
        le=MAX_RATE,
        description="Sustained rate of requests of one authenticated principal, per second.",
    )
    rate_burst: int = Field(default=200, ge=1, le=MAX_COUNT, description="Requests one principal may send at once.")
    max_open_requests: int = Field(
        default=512,
        ge=1,
        le=MAX_COUNT,
        description="Most open requests of one principal on a replica, streams included.",
    )
    max_sessions: int = Field(default=10_000, ge=1, le=MAX_COUNT, description="Most MCP sessions of one principal.")
    audit_ttl_s: Life = Field(
        default=90 * DAY_S, description="Each day of the audit log is kept this long after its last entry."
    )

    # ---- webhooks
    webhook_allow_networks: Listed[Network] = Field(
        default_factory=list,
        description="Networks (CIDR) that webhooks may reach beside public addresses, by http:// too.",
    )
    webhook_allow_ports: Listed[Port] = Field(
        default_factory=list, description="Ports that webhooks may use beside 443."
    )
    webhook_schedule_s: Listed[Delay] = Field(
        default_factory=lambda: [0.0, 5.0, 300.0, 1800.0, 7200.0, 18000.0, 36000.0, 36000.0],
        min_length=1,
        description="Delay before each delivery attempt.",
    )
    webhook_jitter: float = Field(
        default=0.2, ge=0, le=1, description="Largest random share by which each delay varies."
    )
    webhook_timeout_s: float = Field(
        default=15.0, gt=0, le=3600, description="Timeout of one delivery attempt, in seconds."
    )
    webhook_rate_per_s: float = Field(
        default=50.0, gt=0, le=MAX_RATE, description="Attempts per second to one endpoint, and its burst."
    )
    webhook_disable_after_s: float = Field(
        default=5.0 * DAY_S,
        gt=0,
        le=365 * DAY_S,
        description="An endpoint that failed for this long is disabled until its owner enables it again.",
    )
    secret_key: str | None = Field(
        default=None,
        description=(
            "Key that encrypts stored secrets, and the cursors, questions, links and cookies that clients hold; the "
            "same on every server and worker. Empty: generated and kept in data_dir."
        ),
    )

    @property
    def router_names(self) -> tuple[str, ...]:
        """Road engines that scenarios may name."""
        return (*self.routers, *([ROADS] if self.roads_pbf is not None else []))

    @property
    def roads_folder(self) -> Path:
        """Where the map of the road engine, its register of streets and the state of its daemon lie."""
        return self.data_dir / "roads"

    @property
    def grace_s(self) -> int:
        """Time that open connections have to end once a server stops; whole seconds."""
        return max(1, round(self.drain_s))

    @property
    def has_auth(self) -> bool:
        """Whether callers must authenticate. Without it there is one principal, on loopback (SPEC A3)."""
        return bool(self.auth_issuers or self.auth_introspection_url or self.auth_api_keys)

    @property
    def resource(self) -> str | None:
        """The URL clients connect to, by which they find the issuer (RFC 9728); None where neither setting says it."""
        if self.public_url is not None:
            return f"{self.public_url.rstrip('/')}/mcp"
        return self.auth_audience if self.auth_audience and is_address(self.auth_audience) else None

    @property
    def token_issuers(self) -> tuple[str, ...]:
        """Whom a client without a token is sent to, each once; none where keys alone are known."""
        return tuple(dict.fromkeys(filter(None, (*self.auth_issuers, self.auth_introspection_issuer))))

    @property
    def described_resource(self) -> str | None:
        """The resource whose metadata is served; None without an issuer, since there is nobody to point to."""
        return self.resource if self.token_issuers else None

    @property
    def audience(self) -> str | None:
        """What tokens must be issued for (RFC 8707): by default the URL clients connect to."""
        return self.auth_audience or self.resource

    @model_validator(mode="before")
    @classmethod
    def _read_environment(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Add what the environment sets; an empty variable sets nothing, save where empty has a meaning of its own."""
        names = {f"{PREFIX}{name.upper()}": name for name in cls.model_fields}
        variables = {names[key.upper()]: value for key, value in os.environ.items() if key.upper() in names}
        return {name: value for name, value in (variables | given).items() if value != "" or name == "toolsets_allowed"}

    @field_validator("port", mode="before")
    @classmethod
    def _ignore_service_link(cls, value: Any) -> Any:
        """Kubernetes puts `tcp://10.0.0.1:8080` into PLANNER_PORT where a Service is called planner."""
        if isinstance(value, str) and value.startswith("tcp://"):
            raise PydanticUseDefault
        return value

    @model_validator(mode="after")
    def _check_bridge(self) -> Self:
        if self.server == "bridge" and self.bridge_config is None:
            raise ValueError("a bridge needs PLANNER_BRIDGE_CONFIG to say what it serves")
        return self

    @field_validator("data_dir", "reports_dir", "roads_pbf", "files_dir", "bridge_config")
    @classmethod
    def _expand_home(cls, value: Path | None) -> Path | None:
        """Expand `~`, because no shell does so for an `env` block or a file of variables."""
        try:
            return None if value is None else value.expanduser()
        except RuntimeError:
            raise ValueError("there is no home folder to put for ~; write the path in full") from None

    @field_validator("scale_token", mode="before")
    @classmethod
    def _check_scale_token(cls, value: Any) -> Any:
        """Refuse a short one in characters: of a secret pydantic counts items."""
        if isinstance(value, str) and len(value) < MIN_SECRET_LENGTH:
            raise ValueError(f"it has fewer than {MIN_SECRET_LENGTH} characters and can be guessed")
        return value

    @field_validator("cuopt_url")
    @classmethod
    def _check_cuopt_url(cls, value: str) -> str:
        if value and not is_address(value):
            raise ValueError("not an http(s) URL without a query")
        return value

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, value: str | None) -> str | None:
        urls = store_urls(value) if value else []
        if fault := next(filter(None, map(store_url_fault, urls)), ""):
            raise ValueError(fault)
        return ",".join(urls) or None

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, value: str | None) -> str | None:
        if value is not None and not is_address(value):
            raise ValueError("it is no URL clients could use; write it like https://planner.example")
        if value is not None and urlsplit(value).path.rstrip("/").endswith("/mcp"):
            raise ValueError("it ends in /mcp, which clients find below it; leave that out")
        return value

    @field_validator("auth_issuers")
    @classmethod
    def _check_issuers(cls, value: dict[str, str | None]) -> dict[str, str | None]:
        for issuer, keys in value.items():
            if not (is_address(issuer) if keys is None else is_url(keys)):  # beside its keys an issuer is just a word
                how = '{"https://login.example": null}, or with the http(s) URL of its key set for null'
                raise ValueError(f"an issuer cannot be asked for its keys; write it like {how}")
        return value

    @field_validator("auth_backchannels")
    @classmethod
    def _check_backchannels(cls, value: dict[str, str]) -> dict[str, str]:
        if not all(map(is_address, value.values())):
            raise ValueError('it is no URL of an issuer; write it like {"https://login.example": "http://login:8080"}')
        return value

    @field_validator("auth_introspection_url")
    @classmethod
    def _check_introspection_url(cls, value: str | None) -> str | None:
        if value is not None and not is_url(value):
            raise ValueError("it is no URL that could be asked; write it like https://login.example/introspect")
        return value

    @field_validator("toolsets", "toolsets_allowed")
    @classmethod
    def _check_toolsets(cls, value: str) -> str:
        if names_in(value) - {*TOOLSETS, "all"} or (value and not names_in(value)):
            raise ValueError(f"each name between commas is one of {', '.join(TOOLSETS)} and all")
        return value

    @model_validator(mode="after")
    def _check_geocoder(self) -> Self:
        if self.geocoder not in {"offline", *self.geocoders}:
            raise ValueError("PLANNER_GEOCODER names none of PLANNER_GEOCODERS; write one of them, or offline")
        if "offline" in self.geocoders:
            raise ValueError("offline is no name for a service of PLANNER_GEOCODERS")
        return self

    @model_validator(mode="after")
    def _check_roads(self) -> Self:
        if self.roads_pbf is not None and ROADS in self.routers:
            raise ValueError(f"PLANNER_ROUTERS names an engine {ROADS}, which is the one of PLANNER_ROADS_PBF")
        if self.roads_profile == "truck" and self.roads_engine != "valhalla":
            raise ValueError("PLANNER_ROADS_PROFILE=truck needs PLANNER_ROADS_ENGINE=valhalla")
        return self

    @model_validator(mode="after")
    def _check_auth(self) -> Self:
        if (self.auth_issuers or self.auth_introspection_url) and self.audience is None:
            raise ValueError("tokens need PLANNER_PUBLIC_URL or PLANNER_AUTH_AUDIENCE to say whom they are issued for")
        if self.auth_introspection_url and not self.auth_introspection_issuer:
            raise ValueError("PLANNER_AUTH_INTROSPECTION_URL needs PLANNER_AUTH_INTROSPECTION_ISSUER")
        if not all(issuer in self.token_issuers and is_address(issuer) for issuer in self.auth_dashboard_clients):
            raise ValueError("PLANNER_AUTH_DASHBOARD_CLIENTS names an issuer whose tokens are not accepted, or no URL")
        if not self.auth_backchannels.keys() <= set(self.token_issuers):
            raise ValueError("PLANNER_AUTH_BACKCHANNELS names an issuer whose tokens are not accepted")
        return self
