"""A sign-in by code with PKCE: which answers of a browser count, and what it is sent away with."""

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from planner_mcp.errors import AuthorityUnavailableError, UnauthenticatedError
from planner_mcp.jobs.principals import READ, WRITE, Principal
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.server.auth.oauth_sign_in import SIGN_IN_S, START_PLACE, OAuthSignIn, RefusedSignInError

pytestmark = pytest.mark.anyio
ISSUER, OTHER = "https://login.example", "https://other.example"
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/auth",
    "token_endpoint": f"{ISSUER}/token",
    "code_challenge_methods_supported": ["S256"],
    "scopes_supported": ["openid", READ],
    "authorization_response_iss_parameter_supported": True,
}
BACK = "https://planner.example/ui/signed-in"


class World:
    """An issuer's metadata and a clock."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = dict(METADATA)
        self.now = 1000.0
        self.exchanged: list[str] = []
        self.reached_at = ISSUER

    async def fetch(self, url: str) -> Any:
        return self.metadata if url.startswith(self.reached_at) else {}

    def sign_in(self, *issuers: str, key: bytes = b"k", backchannel: str = "") -> "Watched":
        return Watched(
            self,
            dict.fromkeys(issuers or (ISSUER,), "dash"),
            scopes=frozenset({READ, WRITE}),
            resource="https://planner.example/mcp",
            authenticate=_never,
            cipher=SecretCipher(key),
            backchannels={ISSUER: backchannel} if backchannel else {},
            fetch=self.fetch,
            clock=lambda: self.now,
        )


class Watched(OAuthSignIn):
    """Notes the codes that would be sent to the token endpoint."""

    def __init__(self, world: World, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._world = world

    async def _exchanged(self, asked: Any, code: str, endpoints: Any) -> str:
        self._world.exchanged.append(code)
        return "token"


async def _never(_token: str) -> Principal:
    raise UnauthenticatedError("not accepted")


@pytest.fixture
def world() -> World:
    return World()


async def _begun(sign_in: OAuthSignIn, place: str = "#/jobs/job-0-a") -> tuple[dict[str, str], str]:
    url, cookie = await sign_in.begin(ISSUER, BACK, place)
    assert url.startswith(f"{ISSUER}/auth?")
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}, cookie


async def test_a_browser_is_sent_with_state_challenge_and_resource(world: World) -> None:
    """RFC 7636, RFC 8707: S256 and this resource; scopes that the issuer does not know are not asked for."""
    sign_in = world.sign_in()
    asked, cookie = await _begun(sign_in)
    verifier = sign_in._opened(cookie).verifier
    digest = hashlib.sha256(verifier.encode()).digest()
    assert asked["code_challenge"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert asked["code_challenge_method"] == "S256"
    assert (asked["response_type"], asked["client_id"], asked["redirect_uri"]) == ("code", "dash", BACK)
    assert (asked["scope"], asked["resource"]) == (READ, "https://planner.example/mcp")
    assert verifier not in cookie
    assert (await _begun(sign_in))[0]["state"] != asked["state"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"iss": None}, "refused"),
        ({"iss": OTHER}, "refused"),
        ({"state": None}, "expired"),
        ({"state": "x"}, "expired"),
        ({"state": "\u00e9"}, "expired"),
        ({"code": None}, "refused"),
        ({"code": "x" * 5000}, "refused"),
        ({"error": "access_denied"}, "denied"),
        ({"error": "<script>"}, "refused"),
    ],
)
async def test_an_answer_that_is_not_to_this_sign_in_sends_no_code_on(
    world: World, answer: dict[str, str | None], reason: str
) -> None:
    """RFC 9207, RFC 9700 §4.4: a mix-up, a foreign state or an error end it before anything is asked for."""
    sign_in = world.sign_in()
    asked, cookie = await _begun(sign_in)
    given = {"iss": ISSUER, "state": asked["state"], "code": "c", **answer}
    with pytest.raises(RefusedSignInError) as refused:
        await sign_in.finish(cookie, {name: value for name, value in given.items() if value is not None})
    assert refused.value.reason == reason
    assert world.exchanged == []


async def test_an_answer_counts_in_the_browser_that_asked_and_for_a_while(world: World) -> None:
    """SPEC A1: another browser, deployment or moment opens nothing."""
    sign_in = world.sign_in()
    asked, cookie = await _begun(sign_in)
    answer = {"iss": ISSUER, "state": asked["state"], "code": "c"}
    for wrong in ("", "00" * 40, cookie[:-2], "x" * 9000):
        with pytest.raises(RefusedSignInError, match="this browser"):
            await sign_in.finish(wrong, answer)
    with pytest.raises(RefusedSignInError, match="this browser"):
        await world.sign_in(key=b"other").finish(cookie, answer)
    world.now += SIGN_IN_S
    with pytest.raises(RefusedSignInError, match="too long"):
        await sign_in.finish(cookie, answer)
    assert world.exchanged == []


async def test_of_several_issuers_each_names_itself(world: World) -> None:
    """RFC 9700 §4.4: where a mix-up is possible an answer without `iss` is refused, whatever the metadata says."""
    world.metadata["authorization_response_iss_parameter_supported"] = False
    for sign_in, sent in ((world.sign_in(), ["c"]), (world.sign_in(ISSUER, OTHER), [])):
        asked, cookie = await _begun(sign_in)
        with pytest.raises(RefusedSignInError):
            await sign_in.finish(cookie, {"state": asked["state"], "code": "c"})
        assert world.exchanged == sent
        world.exchanged.clear()


@pytest.mark.parametrize("place", ["//evil.example", "https://evil.example", "#/x\r\nSet-Cookie: a", "#ticket=x", ""])
async def test_a_browser_comes_back_to_a_place_of_the_page_alone(world: World, place: str) -> None:
    """Our choice: no open redirect; a deep link is kept."""
    sign_in = world.sign_in()
    assert sign_in._opened((await _begun(sign_in, place))[1]).place == START_PLACE
    assert sign_in._opened((await _begun(sign_in))[1]).place == "#/jobs/job-0-a"


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": OTHER},
        {"code_challenge_methods_supported": ["plain"]},
        {"code_challenge_methods_supported": None},
        {"token_endpoint": "http://login.example/token"},
        {"authorization_endpoint": None},
    ],
)
async def test_an_issuer_that_is_not_safe_gets_nobody(world: World, change: dict[str, Any]) -> None:
    """RFC 8414 §3.3, RFC 9700 §2.1.1: another name, no S256 or a plain token endpoint end it at the start."""
    world.metadata |= change
    with pytest.raises(AuthorityUnavailableError):
        await world.sign_in().begin(ISSUER, BACK, "")


async def test_an_issuer_is_asked_at_its_backchannel(world: World) -> None:
    """RFC 8414 §3.3: there it has its public name; browsers go to its public endpoint."""
    inside = "http://login:8080/realms/r"
    world.reached_at = inside
    world.metadata["token_endpoint"] = f"{inside}/token"
    with pytest.raises(AuthorityUnavailableError):
        await world.sign_in().begin(ISSUER, BACK, "")
    url, _cookie = await world.sign_in(backchannel=inside).begin(ISSUER, BACK, "")
    assert url.startswith(f"{ISSUER}/auth?")
    world.metadata["issuer"] = inside
    with pytest.raises(AuthorityUnavailableError):
        await world.sign_in(backchannel=inside).begin(ISSUER, BACK, "")
