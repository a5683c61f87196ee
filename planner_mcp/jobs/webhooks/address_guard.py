"""Decides which addresses a webhook may go to (SPEC W4): rules for the URL, forbidden networks, a checked lookup.

Owns the judgement and no sending: `jobs/webhooks/webhook_client.py` connects to what this module returned and to
nothing else. The table is our own because the flags of the standard library's `ipaddress` are wrong in releases still
in use (CVE-2024-4032). Messages never say how the network looks from here: a name that leads to a forbidden address
reads like one that leads nowhere.

Sources: IANA special-purpose address registries (IPv4, IPv6), RFC 6890, WHATWG URL "ends in a number".
"""

import re
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

import anyio
import anyio.to_thread

from planner_mcp.errors import EndpointForbiddenError, EndpointUnreachableError, Fault
from planner_mcp.settings import Settings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""From a host name to the texts of all its addresses."""

MAX_URL_CHARS: Final = 2048
LOOKUP_S: Final = 5.0
"""Longest wait for the name service."""
LOOKUPS: Final = 128
"""Lookups at one time in a process; each takes a thread."""

FORBIDDEN_V4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; metadata of some clouds
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host agent on a public address
        "169.254.0.0/16",  # link local, metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; metadata of some clouds
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
GLOBAL_V6: Final = IPv6Network("2000::/3")
"""The only part of IPv6 handed out as global unicast. Outside lie loopback, v4-mapped and v4-compatible addresses,
NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard, SRv6, unique local, link local, site local, multicast: all forbidden."""
FORBIDDEN_V6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID, AMT, AS112
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: carries any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
LOCAL_NAMES: Final = ("localhost", "local", "internal", "intranet", "lan", "home.arpa", "corp", "onion")
"""Names, alone or as last labels, that the public name service never answers."""
LOOPBACK: Final = (IPv4Address("127.0.0.1"), IPv6Address("::1"))

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_PARTS = re.compile(r"(https?)://([^/?]*)([/?].*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_PROBLEMS: Final = {
    "form": "callback_url is not a URL this server calls.",
    "scheme": "callback_url must use https.",
    "port": "The port of callback_url is not allowed.",
    "host": "The host of callback_url is not allowed.",
}
_NETWORKS: Final = "PLANNER_WEBHOOK_ALLOW_NETWORKS"
_PORTS: Final = "PLANNER_WEBHOOK_ALLOW_PORTS"


@dataclass(frozen=True, slots=True)
class WebhookUrl:
    """A callback URL in its parts, judged by everything that can be known without the network."""

    scheme: str
    host: str
    """Lower-case name, or the literal address without brackets."""
    port: int
    target: str
    """Path and query."""

    @property
    def authority(self) -> str:
        """What the `Host` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = 443 if self.scheme == "https" else 80
        return host if self.port == default else f"{host}:{self.port}"


class ForbiddenUrlError(ValueError):
    """A URL that this server does not call; `kind` says why: form, scheme, port or host."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def check_callback_url(url: str, settings: Settings, *, path: str = "/callback_url") -> WebhookUrl:
    """Return the parts of a URL that webhooks may call, as far as the URL alone shows.

    Args:
        url: As the caller gave it.
        settings: Names further networks and ports, for tests.
        path: JSON Pointer that the fault names.

    Raises:
        EndpointForbiddenError: With one fault at `path`.
    """
    try:
        return check_url(url, allowed_networks(settings), ports={443, *settings.webhook_allow_ports})
    except ForbiddenUrlError as error:
        raise _refusal(error.kind, path, settings) from None


def check_url(url: str, allowed: Sequence[Network], *, ports: Collection[int]) -> WebhookUrl:
    """Return the parts of a URL that may be called, as far as the URL alone shows.

    Args:
        url: As it was given.
        allowed: Networks opened beside the public ones; plain http is for them alone.
        ports: Those that may be called.

    Raises:
        ForbiddenUrlError: With the kind of the refusal.
    """
    webhook_url = _parsed(url)
    if webhook_url.scheme != "https" and not allowed:
        raise ForbiddenUrlError("scheme")
    if webhook_url.port not in ports:
        raise ForbiddenUrlError("port")
    literal = _literal(webhook_url.host)
    if literal is not None and not _may_reach(literal, webhook_url, allowed):
        # a public address is refused to plain http alone
        raise ForbiddenUrlError("host" if is_forbidden(literal) else "scheme")
    if literal is None and not _may_name(webhook_url.host, allowed):
        raise ForbiddenUrlError("host")
    return webhook_url


async def resolve(webhook_url: WebhookUrl, allowed: Sequence[Network], lookup: Lookup | None = None) -> list[str]:
    """Return the addresses to connect to, all of them checked; asks the name service once.

    Raises:
        EndpointUnreachableError: No answer in time, no address, or one among the answers that is forbidden.
    """
    literal = _literal(webhook_url.host)
    try:
        with anyio.fail_after(LOOKUP_S):
            texts = [str(literal)] if literal is not None else await (lookup or system_lookup)(webhook_url.host)
        addresses = [ip_address(text) for text in texts]
    except (OSError, ValueError) as error:
        raise EndpointUnreachableError from error
    if not addresses or not all(_may_reach(address, webhook_url, allowed) for address in addresses):
        raise EndpointUnreachableError
    return list(dict.fromkeys(str(address) for address in addresses))


def is_forbidden(address: Address) -> bool:
    """Return whether webhooks stay away from an address unless a deployment names its network."""
    if isinstance(address, IPv4Address):
        return any(address in network for network in FORBIDDEN_V4)
    if address.scope_id is not None or address not in GLOBAL_V6:
        return True
    return any(address in network for network in FORBIDDEN_V6)


def allowed_networks(settings: Settings) -> tuple[Network, ...]:
    """Return the networks a deployment opened beside the public ones."""
    return tuple(ip_network(text, strict=False) for text in settings.webhook_allow_networks)


_lookups = anyio.CapacityLimiter(LOOKUPS)


async def system_lookup(host: str) -> list[str]:
    """Ask the system's name service, in a thread that is left behind when the caller stops waiting."""
    answers = await anyio.to_thread.run_sync(_ask, host, abandon_on_cancel=True, limiter=_lookups)
    return [str(answer[4][0]) for answer in answers]


def _ask(host: str) -> list[tuple[int, int, int, str, tuple[str | int, ...]]]:
    return list(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))  # type: ignore[arg-type]


def _parsed(url: str) -> WebhookUrl:
    if len(url) > MAX_URL_CHARS or not _PRINTABLE.fullmatch(url) or "\\" in url or "#" in url:
        raise ForbiddenUrlError("form")
    if not (parts := _PARTS.fullmatch(url)):
        raise ForbiddenUrlError("scheme" if "://" in url else "form")
    scheme, authority, target = parts[1].lower(), parts[2], parts[3] or "/"
    if not (found := _AUTHORITY.fullmatch(authority)):
        raise ForbiddenUrlError("form")
    host, port = found[1].lower(), int(found[2] or (443 if scheme == "https" else 80))
    if not 0 < port < 65536 or not _is_host(host):
        raise ForbiddenUrlError("host")
    return WebhookUrl(scheme, host.strip("[]"), port, target if target.startswith("/") else "/" + target)


def _is_host(host: str) -> bool:
    """Return whether a host is an address in its plain form, or a name that no parser takes for a number.

    No top-level domain starts with a digit, while `0x7f.1` and `127.1` lead to loopback in many parsers.
    """
    if _literal(host.strip("[]")) is not None:
        return host.startswith("[") == (":" in host)
    labels = host.split(".")
    if len(host) > 253 or labels[-1][:1].isdigit():
        return False
    return all(_LABEL.fullmatch(label) for label in labels)


def _literal(host: str) -> Address | None:
    """Return the address a host spells in its strict form (dotted quad without leading zeros, or IPv6 text)."""
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except AddressValueError:
        return None


def _may_name(host: str, allowed: Sequence[Network]) -> bool:
    """Return whether a name may lead somewhere: a local one only where networks are allowed, `localhost` its own."""
    if _is_below(host, "localhost"):
        return any(address in network for address in LOOPBACK for network in allowed)
    return bool(allowed) or not ("." not in host or any(_is_below(host, name) for name in LOCAL_NAMES))


def _is_below(host: str, name: str) -> bool:
    return host == name or host.endswith("." + name)


def _may_reach(address: Address, webhook_url: WebhookUrl, allowed: Sequence[Network]) -> bool:
    """Return whether an address may be connected to; plain http only within networks that were named."""
    is_named = any(address in network for network in allowed if network.version == address.version)
    return is_named or (webhook_url.scheme == "https" and not is_forbidden(address))


def _refusal(kind: str, path: str, settings: Settings) -> EndpointForbiddenError:
    problem, (accepted, hint) = _PROBLEMS[kind], _accepted_and_hint(kind, settings)
    return EndpointForbiddenError(problem, errors=[Fault(path, problem, accepted, hint, "forbidden")])


def _accepted_and_hint(kind: str, settings: Settings) -> tuple[str, str]:
    """Return what a deployment accepts in place of what was refused, and which setting of its operator would let in."""
    is_closed = not settings.webhook_allow_networks
    if kind == "scheme":
        accepted = "an https:// URL" if is_closed else f"an https:// URL, or http:// within {_NETWORKS}"
        return accepted, f"The operator can allow http:// by {_NETWORKS}." if is_closed else ""
    if kind == "port":
        ports = dict.fromkeys((443, *settings.webhook_allow_ports))
        return f"port {' or '.join(map(str, ports))}", f"The operator can allow others by {_PORTS}."
    if kind == "host":
        accepted = "a public host name, or a public address in its plain form"
        return accepted, f"The operator can allow others by {_NETWORKS}."
    return "https://host/path in printable ASCII, without user info, fragment or backslash", ""
