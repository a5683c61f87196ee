"""Verifies JWT access tokens and returns the principal they name.

Owns the strict profile: RFC 9068 access tokens checked as RFC 8725 advises. The JOSE library verifies signatures; what
it leaves open (`typ`, a required `kid`, header keys, number types, lifetimes) is closed here. Reasons given to a caller
name the claim that failed, never its value.

One departure from RFC 9068: a setting can allow further values of `typ`, because some servers still send `JWT`.
"""

import base64
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from joserfc import jws
from joserfc.errors import JoseError

from planner_mcp.errors import UnauthenticatedError
from planner_mcp.jobs.principals import SCOPES, Principal, group_id, principal_id
from planner_mcp.server.auth.authenticator import MAX_TOKEN_BYTES
from planner_mcp.server.auth.jwks import KeySource
from planner_mcp.text import Json

MAX_LIFETIME_S: Final = 24 * 3600
LEEWAY_S: Final = 5
FORBIDDEN_HEADERS: Final = ("jku", "jwk", "x5u", "x5c", "crit", "b64")
"""Header parameters that name a key or change the rules from inside the token (RFC 8725 §3.10)."""


@dataclass(frozen=True, slots=True)
class TokenProfile:
    """What a token must be to be accepted."""

    audience: str
    """This server's resource identifier (RFC 8707), exact."""
    algorithms: frozenset[str] = frozenset({"RS256", "PS256", "ES256", "EdDSA", "Ed25519"})
    types: frozenset[str] = frozenset({"at+jwt"})
    tenant_claim: str | None = None


class TokenVerifier:
    """Verifies JWT access tokens of the configured issuers."""

    def __init__(self, keys: KeySource, profile: TokenProfile, *, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._profile = profile
        self._clock = clock

    async def verify(self, token: str) -> Principal:
        """Return the principal that a token names.

        Raises:
            UnauthenticatedError: Any check failed.
        """
        header, claims = _split(token)
        self._check_header(header)
        issuer = claims.get("iss")
        if not isinstance(issuer, str):
            raise UnauthenticatedError("The token's issuer is not accepted here.")
        key = await self._keys.key(issuer, header["kid"])
        try:
            jws.deserialize_compact(token, key, algorithms=[header["alg"]])
        except (JoseError, ValueError, TypeError) as error:
            raise UnauthenticatedError("The token's signature does not verify.") from error
        self._check_claims(claims)
        return self._principal(claims)

    def _check_header(self, header: Json) -> None:
        typ = header.get("typ")
        name = typ.lower().removeprefix("application/") if isinstance(typ, str) else ""
        if name not in {accepted.lower() for accepted in self._profile.types}:
            raise UnauthenticatedError("The token is not of an accepted type (typ).")
        alg = header.get("alg")
        if not isinstance(alg, str) or alg not in self._profile.algorithms:
            raise UnauthenticatedError("The token's algorithm (alg) is not accepted.")
        if not isinstance(header.get("kid"), str) or not header["kid"]:
            raise UnauthenticatedError("The token names no key (kid).")
        if any(name in header for name in FORBIDDEN_HEADERS):
            raise UnauthenticatedError("The token's header holds a parameter that is not accepted.")

    def _check_claims(self, claims: Json) -> None:
        now = self._clock()
        expires, issued = _seconds(claims, "exp", required=True), _seconds(claims, "iat")
        not_before = _seconds(claims, "nbf")
        if expires is None or expires <= now - LEEWAY_S:
            raise UnauthenticatedError("The token has expired.")
        if expires - (issued if issued is not None else now) > MAX_LIFETIME_S + LEEWAY_S:
            raise UnauthenticatedError("The token lives longer than is accepted (exp).")
        if (not_before is not None and not_before > now + LEEWAY_S) or (issued is not None and issued > now + LEEWAY_S):
            raise UnauthenticatedError("The token is not valid yet.")
        audience = claims.get("aud")
        audiences = [audience] if isinstance(audience, str) else audience
        if not isinstance(audiences, list) or self._profile.audience not in audiences:
            raise UnauthenticatedError("The token was not issued for this server (aud).")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise UnauthenticatedError("The token names no subject (sub).")

    def _principal(self, claims: Json) -> Principal:
        tenant = ""
        if self._profile.tenant_claim is not None:
            value = claims.get(self._profile.tenant_claim)
            if not isinstance(value, str) or not 0 < len(value) <= 255:
                raise UnauthenticatedError("The token names no tenant.")
            tenant = value
        return Principal(
            principal_id(claims["iss"], claims["sub"], tenant),
            scopes_of(claims) & SCOPES,
            subject=claims["sub"],
            tenant=tenant,
            group=group_id(claims["iss"], tenant),
            expires_at=float(claims["exp"]) + LEEWAY_S,
        )


def scopes_of(claims: Json) -> frozenset[str]:
    """Return the scopes of a claim set: `scope` as RFC 8693 text, or the `scp` list some servers send."""
    if isinstance(scope := claims.get("scope"), str):
        return frozenset(scope.split())
    listed = claims.get("scp", scope)
    return frozenset(item for item in listed if isinstance(item, str)) if isinstance(listed, list) else frozenset()


def _split(token: str) -> tuple[Json, Json]:
    """Return header and claims, before the signature is checked."""
    if len(token) > MAX_TOKEN_BYTES or not token.isascii() or token.count(".") != 2:
        raise UnauthenticatedError("The token is not a signed JWT.")
    header, claims, _ = token.split(".")
    return _part(header), _part(claims)


def _part(text: str) -> Json:
    try:
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UnauthenticatedError("The token is not a signed JWT.") from error
    if not isinstance(value, dict):
        raise UnauthenticatedError("The token is not a signed JWT.")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _seconds(claims: Json, name: str, *, required: bool = False) -> int | None:
    """Return a NumericDate as an integer; text, booleans, fractions beyond a second and absurd sizes are refused."""
    value = claims.get(name)
    if value is None and not required:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**40:
        raise UnauthenticatedError(f"The token's {name} is not a time.")
    return int(value)
