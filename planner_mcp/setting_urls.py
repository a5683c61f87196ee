"""What an address in a setting may look like: of a store, of a server, of a page in a browser.

Owns the forms alone: it resolves no name and opens nothing. It never repeats a text that it refuses, which may hold a
password.
"""

import re
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?", re.ASCII | re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*")
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_STORE_PATHS: Final = {"redis": r"(/\d*)?/?", "rediss": r"(/\d*)?/?", "unix": r"/.+"}
"""By the scheme, what stands behind the host of a store: the number of a database, or a socket."""
_ANY_STORE: Final = {"username": ".+", "password": ".+", "db": r"\d+", "health_check_interval": r"\d+"}
_TLS: Final = dict.fromkeys(
    ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname", "ssl_ca_data", "ssl_ciphers"), ".+"
)
_STORE_OPTIONS: Final = {
    "unix": _ANY_STORE,
    "redis": _ANY_STORE | {"socket_keepalive": ".+"},
    "rediss": _ANY_STORE | {"socket_keepalive": ".+", "ssl_cert_reqs": "none|optional|required", **_TLS},
}
"""By the scheme, what may stand behind `?`, and its form: what each client of ours takes and none sets itself."""


def is_url(text: str) -> bool:
    """Return whether a text is an http(s) URL with a host."""
    parts = _parts(text)
    has_host = parts is not None and parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    return has_host and "\\" not in text and not any(map(str.isspace, text))


def is_address(text: str) -> bool:
    """Return whether a text is an http(s) URL with a host, nobody's name before it and nothing behind its path."""
    return is_url(text) and not any(mark in text for mark in "?#@")


def is_host(text: str) -> bool:
    """Return whether a text is what a `Host` header may say: `host` or `host:port`."""
    parts = _parts(f"//{text}") if _HOST.fullmatch(text) else None
    return parts is not None and parts.port != 0


def is_origin(text: str) -> bool:
    """Return whether a text is what a browser may write as `Origin`: lower case, and no port where it is the usual."""
    scheme, _colon, host = text.partition("://")
    usual = _DEFAULT_PORTS.get(scheme)
    is_plain = text == text.lower() and bool(_SCHEME.fullmatch(scheme)) and is_host(host)
    return text == "null" or (is_plain and not (usual and host.endswith(usual)))


def origin_of(address: str) -> str:
    """Return the origin of an http(s) address, as a browser writes it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(_DEFAULT_PORTS[parts.scheme])}"


def store_urls(text: str) -> list[str]:
    """Return the URL of each node that a setting names, comma-separated.

    Nodes behind the first may be `host:port` alone: they have scheme and password of the first, and what stands behind
    `?` of the last holds for all.
    """
    first, *others = [part.strip() for part in text.split(",")]
    if not (others and all(others)) or any("://" in other for other in others):
        return [first, *others]
    scheme, _colon, rest = first.partition("://")
    password, at, _host = rest.rpartition("@")
    hosts, mark, options = ",".join(others).partition("?")
    own_options = first if "?" in first else first + mark + options
    return [own_options, *(f"{scheme}://{password}{at}{host}{mark}{options}" for host in hosts.split(","))]


def store_url_fault(text: str) -> str:
    """Return what is wrong with the URL of a store, in words that repeat nothing of it; "" for one that is right."""
    parts, scheme = _parts(text), text.partition("://")[0]
    if parts is None or parts.fragment or not re.fullmatch(_STORE_PATHS.get(scheme, "(?!)"), parts.path):
        return (
            "it is no URL of a store; write it like redis://:password@host:6379/0, or rediss:// for TLS, "
            "in the password / as %2F, ? as %3F, # as %23 and , as %2C"
        )
    known = _STORE_OPTIONS[scheme]
    given = parse_qsl(parts.query, keep_blank_values=True)
    if all(re.fullmatch(known.get(name, "(?!)"), value) for name, value in given):
        return ""
    return (
        f"behind ? of a {scheme}:// URL may stand {', '.join(sorted(known))}; for TLS write rediss://, ? itself as %3F"
    )


def _parts(text: str) -> SplitResult | None:
    """Return the parts of a URL whose port, if it has one, is a port."""
    try:
        parts = urlsplit(text)
        _port = parts.port  # reading it checks it
    except ValueError:
        return None
    return parts
