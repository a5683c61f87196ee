"""Tokens: what is accepted, and every way one is refused."""

import base64
import hmac
import json
from typing import Any

import anyio
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

from planner_mcp.errors import UnauthenticatedError
from planner_mcp.jobs.principals import principal_id
from planner_mcp.server.auth.access_tokens import TokenProfile, TokenVerifier
from planner_mcp.server.auth.jwks import REFRESH_GAP_S, KeySource

pytestmark = pytest.mark.anyio

ISSUER = "https://as.example"
AUDIENCE = "https://planner.example/mcp"
NOW = 1_795_219_200
RSA = RSAKey.generate_key(2048, {"kid": "rsa-1", "use": "sig"})
EC = ECKey.generate_key("P-256", {"kid": "ec-1"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa-1"})


class Issuer:
    """An issuer's key endpoint that can go away and counts how often it is asked."""

    def __init__(self) -> None:
        self.fetches = 0
        self.is_up = True

    async def fetch(self, url: str) -> Any:
        self.fetches += 1
        if not self.is_up:
            raise OSError("connection refused")
        return KeySet([RSA, EC]).as_dict(private=False)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(issuer: Issuer, clock: Clock) -> TokenVerifier:
    keys = KeySource({ISSUER: "https://as.example/jwks"}, fetch=issuer.fetch, clock=clock)
    return TokenVerifier(keys, TokenProfile(AUDIENCE, tenant_claim=None), clock=lambda: NOW)


def claims(**changes: Any) -> dict[str, Any]:
    base = {"iss": ISSUER, "sub": "ada", "aud": AUDIENCE, "iat": NOW, "exp": NOW + 300, "scope": "planner:read x:y"}
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def mint(key: Any = RSA, header: dict[str, Any] | None = None, **changes: Any) -> str:
    alg = "ES256" if key is EC else "RS256"
    head = {"alg": alg, "typ": "at+jwt", "kid": key.kid, **(header or {})}
    head = {name: value for name, value in head.items() if value is not None}
    return jwt.encode(head, claims(**changes), key, algorithms=[alg, "HS256", "none"])


def raw(header: dict[str, Any], body: Any, signature: bytes = b"") -> str:
    def part(value: Any) -> str:
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        return base64.urlsafe_b64encode(text).decode().rstrip("=")

    return f"{part(header)}.{part(body)}.{part(signature)}"


async def test_a_good_token_names_its_principal_and_only_our_scopes(verifier: TokenVerifier) -> None:
    """SPEC A1, A2: the principal is issuer and subject; scopes of other systems are dropped."""
    principal = await verifier.verify(mint())
    assert (principal.id, principal.scopes) == (principal_id(ISSUER, "ada"), frozenset({"planner:read"}))
    assert (await verifier.verify(mint(EC, aud=["https://other", AUDIENCE]))).id == principal.id


async def test_principals_of_different_issuers_or_tenants_never_meet() -> None:
    """SPEC A2: no two (issuer, subject, tenant) share a name, however their texts are cut."""
    names = {principal_id("a", "b"), principal_id("ab", ""), principal_id("a", "", "b"), principal_id("b", "a")}
    assert len(names) == 4


def confused() -> str:
    """A token signed by HMAC with the issuer's public key as the secret."""
    unsigned = raw({"alg": "HS256", "typ": "at+jwt", "kid": "rsa-1"}, claims()).rsplit(".", 1)[0]
    digest = hmac.digest(RSA.as_pem(private=False), unsigned.encode(), "sha256")
    return f"{unsigned}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


UNSIGNED = raw({"alg": "none", "typ": "at+jwt", "kid": "rsa-1"}, claims())
ATTACKS = {
    "alg none": UNSIGNED,
    "alg None in capitals": raw({"alg": "NONE", "typ": "at+jwt", "kid": "rsa-1"}, claims()),
    "alg in a list": raw({"alg": [], "typ": "at+jwt", "kid": "rsa-1"}, claims()),
    "alg in an object": raw({"alg": {}, "typ": "at+jwt", "kid": "rsa-1"}, claims()),
    "typ in a list": raw({"alg": "RS256", "typ": ["at+jwt"], "kid": "rsa-1"}, claims()),
    "kid in a list": raw({"alg": "RS256", "typ": "at+jwt", "kid": ["rsa-1"]}, claims()),
    "RS/HS confusion": confused(),
    "signed by a stranger under a known kid": mint(STRANGER),
    "signature cut off": mint().rsplit(".", 1)[0] + ".",
    "no kid": mint(header={"kid": None}),
    "unknown kid": mint(header={"kid": "rsa-2"}),
    "kid that is a path": mint(header={"kid": "../../dev/null"}),
    "kid that is a number": raw({"alg": "RS256", "typ": "at+jwt", "kid": 1}, claims()),
    "jku": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1", "jku": "https://evil.example"}, claims()),
    "x5u": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1", "x5u": "https://evil.example"}, claims()),
    "own key in the header": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1", "jwk": {}}, claims()),
    "crit": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1", "crit": ["exp"]}, claims()),
    "an id token": mint(header={"typ": "JWT"}),
    "no typ": mint(header={"typ": None}),
    "foreign issuer": mint(iss="https://evil.example"),
    "issuer with a slash more": mint(iss=ISSUER + "/"),
    "issuer in a list": mint(iss=[ISSUER]),
    "no issuer": mint(iss=None),
    "other audience": mint(aud="https://other.example/mcp"),
    "audience as a prefix": mint(aud=AUDIENCE + "/x"),
    "audience in an object": mint(aud={AUDIENCE: 1}),
    "no audience": mint(aud=None),
    "expired": mint(exp=NOW - 60, iat=NOW - 120),
    "no expiry": mint(exp=None),
    "expiry as text": mint(exp=str(NOW + 300)),
    "expiry 1e308": mint(exp=1e308),
    "expiry true": mint(exp=True),
    "expiry in a year": mint(exp=NOW + 365 * 86400),
    "infinite expiry": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1"}, b'{"exp": Infinity}'),
    "not before tomorrow": mint(nbf=NOW + 86400),
    "not before as text": mint(nbf="0"),
    "issued tomorrow": mint(iat=NOW + 86400, exp=NOW + 86700),
    "no subject": mint(sub=None),
    "empty subject": mint(sub=""),
    "endless subject": mint(sub="a" * 300),
    "payload is a list": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1"}, []),
    "payload is not JSON": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1"}, b"\xff\xfe"),
    "payload nests without end": raw({"alg": "RS256", "typ": "at+jwt", "kid": "rsa-1"}, b"[" * 5000),
    "nothing": "",
    "one dot": "a.b",
    "five parts": "a.b.c.d.e",
    "not ASCII": "ä.ö.ü",
    "huge": mint() + "a" * 9000,
}


@pytest.mark.parametrize("token", ATTACKS.values(), ids=ATTACKS.keys())
async def test_a_token_with_any_doubt_is_refused(verifier: TokenVerifier, token: str) -> None:
    """SPEC A1; RFC 8725: one refusal a line of the table above."""
    with pytest.raises(UnauthenticatedError):
        await verifier.verify(token)


async def test_known_keys_outlive_an_outage_of_their_issuer(
    verifier: TokenVerifier, issuer: Issuer, clock: Clock
) -> None:
    """SPEC A1: an issuer that is away for an hour locks nobody out whose key was seen."""
    await verifier.verify(mint())
    issuer.is_up = False
    clock.now += 3600
    await verifier.verify(mint())


ODD_KEYS = [
    {"kty": "EC", "crv": "BP-256", "x": "AA", "y": "AA", "kid": "ec-2"},
    {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "ec-3"},
    {"kty": "OKP", "crv": "Dilithium", "x": "AA"},
    {"kty": "RSA", "n": "!", "e": "AQAB"},
    {"kty": "AKP", "kid": "new"},
    {"kty": ["RSA"]},
    {"kid": "untyped"},
    "text",
    None,
]


@pytest.mark.parametrize("odd", ODD_KEYS)
async def test_a_key_we_do_not_understand_spoils_no_other(issuer: Issuer, clock: Clock, odd: Any) -> None:
    """RFC 7517 §5: keys of unknown type, curve or value are ignored, wherever they stand in the set."""

    async def fetch(url: str) -> Any:
        rsa, ec = (await issuer.fetch(url))["keys"]
        return {"keys": [odd, rsa, odd, ec]}

    keys = KeySource({ISSUER: "https://as.example/jwks"}, fetch=fetch, clock=clock)
    assert [(await keys.key(ISSUER, kid)).kid for kid in ("rsa-1", "ec-1")] == ["rsa-1", "ec-1"]


@pytest.mark.parametrize("document", [{"keys": ODD_KEYS}, {"keys": []}, {"keys": "text"}, {}, [], None])
async def test_a_set_without_a_key_we_understand_leaves_the_known_ones(clock: Clock, document: Any) -> None:
    """SPEC A1: an issuer whose key document breaks locks nobody out whose key was seen."""
    documents = [KeySet([RSA, EC]).as_dict(private=False), document]

    async def fetch(_url: str) -> Any:
        return documents.pop(0)

    keys = KeySource({ISSUER: "https://as.example/jwks"}, fetch=fetch, clock=clock)
    await keys.key(ISSUER, "rsa-1")
    clock.now += 3600
    assert (await keys.key(ISSUER, "rsa-1")).kid == "rsa-1"
    assert not documents


async def test_an_issuer_that_hangs_holds_up_one_caller(clock: Clock) -> None:
    """SPEC A1: with keys to be fetched anew, one asks; the others are judged by the keys that are known."""
    asked, leave = anyio.Event(), anyio.Event()
    leave.set()

    async def fetch(_url: str) -> Any:
        asked.set()
        await leave.wait()
        return KeySet([RSA, EC]).as_dict(private=False)

    keys = KeySource({ISSUER: "https://as.example/jwks"}, fetch=fetch, clock=clock)
    await keys.key(ISSUER, "rsa-1")
    asked, leave, clock.now = anyio.Event(), anyio.Event(), clock.now + 3600
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keys.key, ISSUER, "rsa-1")
            await asked.wait()
            assert (await keys.key(ISSUER, "ec-1")).kid == "ec-1"
            leave.set()


async def test_random_key_ids_do_not_hammer_the_issuer(verifier: TokenVerifier, issuer: Issuer, clock: Clock) -> None:
    """SPEC A1: a thousand unknown kids within ten seconds cost one fetch."""
    for number in range(1000):
        stranger = raw({"alg": "RS256", "typ": "at+jwt", "kid": f"k{number}"}, claims())
        with pytest.raises(UnauthenticatedError):
            await verifier.verify(stranger)
    assert issuer.fetches == 1
    clock.now += REFRESH_GAP_S + 1
    await verifier.verify(mint())
    assert issuer.fetches == 1


async def test_a_tenant_claim_once_configured_is_required(issuer: Issuer, clock: Clock) -> None:
    """SPEC A2: with a tenant claim, a token without it is refused and two tenants of one subject are strangers."""
    keys = KeySource({ISSUER: "https://as.example/jwks"}, fetch=issuer.fetch, clock=clock)
    verifier = TokenVerifier(keys, TokenProfile(AUDIENCE, tenant_claim="org"), clock=lambda: NOW)
    with pytest.raises(UnauthenticatedError):
        await verifier.verify(mint())
    first, second = await verifier.verify(mint(org="acme")), await verifier.verify(mint(org="bolt"))
    assert first.id != second.id and first.tenant == "acme"
