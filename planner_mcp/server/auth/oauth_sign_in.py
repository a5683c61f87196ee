"""Signing in to the dashboard at an authorization server: code with PKCE, as a public client (SPEC A1, O2).

Owns one sign-in from the request to the principal. What was asked for travels with the browser, encrypted in a cookie
of its own, so nothing is stored for strangers and any replica can finish what another began. An answer counts in the
browser that asked, for the state that was sent, from the issuer that was asked (RFC 9207), within `SIGN_IN_S`. The code
is exchanged by the server, so the page never has a token; the token is checked like that of any other caller. The
challenge of PKCE binds a code to this sign-in, as a nonce would (RFC 9700 §2.1.1).
"""

import base64
import hashlib
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from planner_mcp.bounded_requests import UpstreamError, fetch_json, http_client
from planner_mcp.errors import AuthorityUnavailableError, StoreError, UnauthenticatedError
from planner_mcp.jobs.principals import Principal, principal_id
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.server.auth.jwks import FRESH_S, Fetch, as_safe_as, fetch_document, issuer_metadata
from planner_mcp.text import Json

SIGN_IN_S: Final = 600
"""Time to answer the questions of an authorization server."""
TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 64 * 1024
MAX_VALUE: Final = 4096
"""Characters of the longest cookie, code or state that is looked at."""
START_PLACE: Final = "#/jobs"
_PLACE: Final = re.compile(r"#/[A-Za-z0-9/?=&%_.~-]{0,300}")
_OWNER: Final = "dashboard sign-in"

log = logging.getLogger(__name__)

Authenticate = Callable[[str], Awaitable[Principal]]
"""Returns the principal of an access token; raises `UnauthenticatedError`."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """What a browser was sent away with."""

    issuer: str
    state: str
    verifier: str
    """Of PKCE: its digest went to the issuer, itself goes with the code."""
    redirect_uri: str
    place: str
    """The fragment of the page that was looked at."""
    ends_at: float


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What an issuer says of itself."""

    authorization: str
    token: str
    scopes: frozenset[str]
    """That it knows; empty where it does not say."""
    names_itself: bool
    """Whether its answers carry `iss` (RFC 9207)."""


class RefusedSignInError(UnauthenticatedError):
    """A sign-in that came to nothing.

    Args:
        reason: In a word, for the page: `denied`, `expired`, `refused` or `unavailable`.
        message: What happened, for the log.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class OAuthSignIn:
    """Signs people in at the issuers where the dashboard is a client.

    Args:
        clients: Issuer → client id of the dashboard.
        scopes: What is asked for, as far as the issuer knows it.
        resource: The resource indicator of this server (RFC 8707); None where its audience is no URL.
        authenticate: Checks an access token.
        cipher: With the key of the deployment.
        backchannels: Issuer → URL by which this server reaches it, where that is another.
        fetch: How the metadata of an issuer is read.
        clock: Returns seconds since the epoch.
    """

    def __init__(
        self,
        clients: Mapping[str, str],
        *,
        scopes: frozenset[str],
        resource: str | None,
        authenticate: Authenticate,
        cipher: SecretCipher,
        backchannels: Mapping[str, str] = MappingProxyType({}),
        fetch: Fetch = fetch_document,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clients = clients
        self._scopes = scopes
        self._resource = resource
        self._authenticate = authenticate
        self._cipher = cipher
        self._backchannels = backchannels
        self._fetch = fetch
        self._clock = clock
        self._endpoints: dict[str, tuple[float, Endpoints]] = {}

    @property
    def issuers(self) -> list[str]:
        """Where one can sign in."""
        return list(self._clients)

    async def begin(self, issuer: str, redirect_uri: str, place: str) -> tuple[str, str]:
        """Return the URL to send a browser to, and the cookie it takes along.

        Args:
            issuer: One of `issuers`.
            redirect_uri: Where the issuer sends the browser back to.
            place: What to show then; anything but a place of the page is replaced by the first one.

        Raises:
            AuthorityUnavailableError: The issuer does not say how to sign in by code with PKCE.
        """
        endpoints = await self._endpoints_of(issuer)
        asked = SignIn(
            issuer,
            state=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            redirect_uri=redirect_uri,
            place=place if _PLACE.fullmatch(place) else START_PLACE,
            ends_at=self._clock() + SIGN_IN_S,
        )
        query = {
            "response_type": "code",
            "client_id": self._clients[issuer],
            "redirect_uri": redirect_uri,
            "scope": " ".join(sorted(self._scopes & endpoints.scopes if endpoints.scopes else self._scopes)),
            "state": asked.state,
            "code_challenge": _challenge(asked.verifier),
            "code_challenge_method": "S256",
            **self._indicator(),
        }
        mark = "&" if "?" in endpoints.authorization else "?"
        cookie = self._cipher.encrypt(json.dumps(asdict(asked), separators=(",", ":")), _OWNER)
        return f"{endpoints.authorization}{mark}{urlencode(query)}", cookie

    async def finish(self, cookie: str, answer: Mapping[str, str]) -> tuple[Principal, str]:
        """Return who has signed in, and the place to show. The person stays signed in when the token expires.

        Args:
            cookie: The cookie of `begin`, or an empty text.
            answer: The parameters that the issuer sent the browser back with, each once.

        Raises:
            RefusedSignInError: The answer is not to this sign-in, or what came of it is not accepted.
        """
        asked = self._opened(cookie)
        endpoints = await self._known_endpoints(asked.issuer)
        self._check_answer(asked, answer, endpoints)
        token = await self._exchanged(asked, answer["code"], endpoints)
        try:
            principal = await self._authenticate(token)
        except UnauthenticatedError as error:
            raise RefusedSignInError("refused", f"The token was not accepted: {error.message}") from error
        if principal.id != principal_id(asked.issuer, principal.subject, principal.tenant):
            raise RefusedSignInError("refused", "The token is of another issuer than the one that was asked.")
        return replace(principal, expires_at=None), asked.place

    def _opened(self, cookie: str) -> SignIn:
        try:
            asked = SignIn(**json.loads(self._cipher.decrypt(cookie[:MAX_VALUE], _OWNER)))
        except StoreError as error:
            raise RefusedSignInError("expired", "No sign-in was begun in this browser.") from error
        if asked.ends_at <= self._clock() or asked.issuer not in self._clients:
            raise RefusedSignInError("expired", "The sign-in took too long.")
        return asked

    def _check_answer(self, asked: SignIn, answer: Mapping[str, str], endpoints: Endpoints) -> None:
        """Check that an answer is to this sign-in; its issuer first, against mix-up (RFC 9700 §4.4)."""
        needs_name = endpoints.names_itself or len(self._clients) > 1
        if answer.get("iss", None if needs_name else asked.issuer) != asked.issuer:
            raise RefusedSignInError("refused", "The answer does not name the issuer that was asked (RFC 9207).")
        if not secrets.compare_digest(answer.get("state", "").encode(), asked.state.encode()):
            raise RefusedSignInError("expired", "The answer is to another sign-in (state).")
        if "error" in answer:
            is_denied = answer["error"] == "access_denied"
            raise RefusedSignInError("denied" if is_denied else "refused", "The issuer has refused the sign-in.")
        if not 0 < len(answer.get("code", "")) <= MAX_VALUE:
            raise RefusedSignInError("refused", "The answer has no code.")

    async def _exchanged(self, asked: SignIn, code: str, endpoints: Endpoints) -> str:
        """Return the access token that a code stands for."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": asked.redirect_uri,
            "client_id": self._clients[asked.issuer],
            "code_verifier": asked.verifier,
            **self._indicator(),
        }
        try:
            async with http_client(TIMEOUT_S) as http:
                request = http.build_request("POST", endpoints.token, data=form, headers={"accept": "application/json"})
                found = await fetch_json(http, request, max_bytes=MAX_ANSWER_BYTES)
        except UpstreamError as error:
            raise RefusedSignInError("refused", f"The token endpoint {error}.") from error
        token = found.get("access_token") if isinstance(found, dict) else None
        if not isinstance(token, str) or str(found.get("token_type")).lower() != "bearer":
            raise RefusedSignInError("refused", "The token endpoint gave no bearer token.")
        return token

    def _indicator(self) -> dict[str, str]:
        return {} if self._resource is None else {"resource": self._resource}

    async def _known_endpoints(self, issuer: str) -> Endpoints:
        try:
            return await self._endpoints_of(issuer)
        except AuthorityUnavailableError as error:
            raise RefusedSignInError("unavailable", error.message) from error

    async def _endpoints_of(self, issuer: str) -> Endpoints:
        """Return the endpoints of an issuer; they are read again after `FRESH_S`, and kept while it does not answer."""
        read_at, known = self._endpoints.get(issuer, (0.0, None))
        if known is not None and self._clock() - read_at < FRESH_S:
            return known
        try:
            backchannel = self._backchannels.get(issuer, "")
            known = _endpoints(issuer, backchannel, await issuer_metadata(issuer, self._fetch, backchannel))
            self._endpoints[issuer] = self._clock(), known
        except (KeyError, TypeError, ValueError, OSError) as error:
            log.warning("no sign-in at an issuer", extra={"issuer": issuer, "reason": str(error)[:200]})
            if known is None:
                raise AuthorityUnavailableError("The authorization server offers no sign-in now.") from error
        return known


def _endpoints(issuer: str, backchannel: str, metadata: Json) -> Endpoints:
    """Return the endpoints in an issuer's metadata: one for browsers, one that this server asks.

    Raises:
        KeyError, TypeError, ValueError: They are missing, less protected than the issuer, or do without PKCE.
    """
    if "S256" not in metadata["code_challenge_methods_supported"]:
        raise ValueError("the issuer has no PKCE by S256")
    return Endpoints(
        as_safe_as(issuer, str(metadata["authorization_endpoint"])),
        as_safe_as(backchannel or issuer, str(metadata["token_endpoint"])),
        frozenset(map(str, metadata.get("scopes_supported") or ())),
        metadata.get("authorization_response_iss_parameter_supported") is True,
    )


def _challenge(verifier: str) -> str:
    """Return the S256 challenge of a verifier (RFC 7636 §4.2)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
