"""The public keys of the configured issuers.

Owns fetching and caching of key sets (RFC 7517) and the discovery of where they are (RFC 8414, OpenID discovery).
Only configured issuers are asked. A key that was fetched stays valid while its issuer is unreachable. Unknown key ids
lead to at most one fetch in `REFRESH_GAP_S`, so a caller cannot make this server flood an issuer.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

from planner_mcp.bounded_requests import UpstreamError, fetch_json, http_client
from planner_mcp.errors import UnauthenticatedError
from planner_mcp.text import Json

FRESH_S: Final = 600.0
"""Time a key set is used before it is fetched again."""
REFRESH_GAP_S: Final = 10.0
"""Shortest time between two fetches for one issuer, whatever key ids arrive."""
FETCH_TIMEOUT_S: Final = 5.0
MAX_DOCUMENT_BYTES: Final = 256 * 1024

log = logging.getLogger(__name__)

Fetch = Callable[[str], Awaitable[Any]]


async def fetch_document(url: str) -> Any:
    """Return the JSON document at a URL: no redirects, no proxy environment, bounded time and size.

    Raises:
        UpstreamError: Not reachable in time, not 200, too large or not JSON.
    """
    async with http_client(FETCH_TIMEOUT_S) as client:
        request = client.build_request("GET", url, headers={"accept": "application/json"})
        return await fetch_json(client, request, max_bytes=MAX_DOCUMENT_BYTES)


def metadata_urls(issuer: str) -> tuple[str, ...]:
    """Return where an issuer may describe itself, best first (RFC 8414 §3.1, OpenID Connect Discovery 1.0 §4)."""
    scheme, _, rest = issuer.partition("://")
    host, slash, path = rest.partition("/")
    path = (slash + path).rstrip("/")
    return (
        f"{scheme}://{host}/.well-known/oauth-authorization-server{path}",
        f"{scheme}://{host}{path}/.well-known/openid-configuration",
    )


async def issuer_metadata(issuer: str, fetch: Fetch, backchannel: str) -> Json:
    """Return how an issuer describes itself, in a document that names it exactly (RFC 8414 §3.3).

    Args:
        issuer: Its name, which is its public URL.
        fetch: How a document is read.
        backchannel: Another URL by which this server reaches it.

    Raises:
        ValueError: It publishes no such document.
    """
    for url in metadata_urls(backchannel or issuer):
        try:
            metadata = await fetch(url)
        except (UpstreamError, OSError, ValueError):
            continue
        if isinstance(metadata, dict) and metadata.get("issuer") == issuer:
            return metadata
    raise ValueError("issuer publishes no metadata")


@dataclass(slots=True)
class _Cached:
    keys: KeySet | None = None
    fetched_at: float = float("-inf")
    tried_at: float = float("-inf")


class KeySource:
    """Keys by issuer and key id.

    Args:
        issuers: Issuer → URL of its key set, or None to discover it from the issuer's metadata.
        backchannels: Issuer → URL by which this server reaches it, where that is another.
        fetch: How a document is read.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        issuers: Mapping[str, str | None],
        *,
        backchannels: Mapping[str, str] = MappingProxyType({}),
        fetch: Fetch = fetch_document,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._urls = dict(issuers)
        self._backchannels = backchannels
        self._fetch = fetch
        self._clock = clock
        self._cache = {issuer: _Cached() for issuer in issuers}
        self._locks = {issuer: asyncio.Lock() for issuer in issuers}

    async def key(self, issuer: str, kid: str) -> Key:
        """Return a key of an issuer. While one caller waits for new keys, others go on with those that are known.

        Raises:
            UnauthenticatedError: No such issuer or key, or the issuer never answered.
        """
        if issuer not in self._urls:
            raise UnauthenticatedError("The token's issuer is not accepted here.")
        found = self._find(issuer, kid)
        if found is None or (self._is_stale(issuer) and not self._locks[issuer].locked()):
            await self._refresh(issuer)
            found = self._find(issuer, kid) or found
        if found is None:
            raise UnauthenticatedError("The token names a key its issuer does not publish.")
        return found

    def _find(self, issuer: str, kid: str) -> Key | None:
        keys = self._cache[issuer].keys
        return next((key for key in keys.keys if key.kid == kid), None) if keys else None

    def _is_stale(self, issuer: str) -> bool:
        return self._clock() - self._cache[issuer].fetched_at > FRESH_S

    async def _refresh(self, issuer: str) -> None:
        """Fetch the key set unless that was tried within `REFRESH_GAP_S`; a failure leaves the known keys in place."""
        cached = self._cache[issuer]
        async with self._locks[issuer]:
            if self._clock() - cached.tried_at < REFRESH_GAP_S:
                return
            cached.tried_at = self._clock()
            try:
                keys = _signing_keys(await self._fetch(await self._url(issuer)))
            except (UpstreamError, OSError, ValueError, KeyError, TypeError) as error:
                log.warning("key set not refreshed", extra={"issuer": issuer, "reason": type(error).__name__})
                return
            cached.keys, cached.fetched_at = keys, self._clock()

    async def _url(self, issuer: str) -> str:
        if (url := self._urls[issuer]) is None:
            backchannel = self._backchannels.get(issuer, "")
            metadata = await issuer_metadata(issuer, self._fetch, backchannel)
            url = self._urls[issuer] = as_safe_as(backchannel or issuer, str(metadata["jwks_uri"]))
        return url


def as_safe_as(issuer: str, url: str) -> str:
    """Return a URL an issuer names.

    Raises:
        ValueError: It is less protected than the issuer itself.
    """
    if url.partition("://")[0] != issuer.partition("://")[0]:
        raise ValueError("what the issuer names lies behind another scheme than itself")
    return url


def _signing_keys(document: Any) -> KeySet:
    """Return the keys of a set that may verify a token.

    Those of a type, curve or value that is not understood are ignored (RFC 7517 §5).
    Symmetric and encryption keys are left out too: they could only confuse a verifier (RFC 8725 §2.1).

    Raises:
        KeyError, TypeError, ValueError: No key set, or none of its keys is understood.
    """
    keys = [key for data in document["keys"] if _may_sign(data) and (key := _imported(data)) is not None]
    if not keys:
        raise ValueError("no key that is understood")
    return KeySet(keys)


def _may_sign(data: Any) -> bool:
    return isinstance(data, dict) and data.get("kty") != "oct" and data.get("use", "sig") == "sig"


def _imported(data: Json) -> Key | None:
    try:
        return JWKRegistry.import_key(data)
    except (JoseError, UnsupportedAlgorithm, KeyError, TypeError, ValueError) as error:
        log.info("a key of a set is ignored", extra={"kid": str(data.get("kid"))[:64], "reason": type(error).__name__})
        return None
