"""Signing in at an authorization server that we did not write, in a real browser (oidc-provider, code with PKCE)."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest

from examples.planner_server import PlannerServer, running_server
from tests.shared.http.free_ports import free_port
from tests.shared.http.http_clients import http_client
from tests.shared.node import node_packages
from tests.shared.node.authority import Authority, authority
from tests.shared.scenarios.client_scenarios import ring

pytestmark = [pytest.mark.anyio, pytest.mark.node, pytest.mark.slow]
PAGE = {"x-planner-ui": "1"}
COOKIE = "__Host-planner-sign-in"


@dataclass(frozen=True)
class Guarded:
    """A server where people sign in at an authorization server."""

    server: PlannerServer
    authority: Authority
    client_id: str

    def http(self) -> AbstractAsyncContextManager[httpx.AsyncClient]:
        return http_client(base_url=self.server.url, follow_redirects=False)


@asynccontextmanager
async def _guarded(folder: Any, **further: str) -> AsyncIterator[Guarded]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    async with authority({f"{url}/mcp": "jwt", "https://other.example/mcp": "jwt"}, {}) as issuer:
        asked = {"redirect_uris": [f"{url}/ui/signed-in"], "token_endpoint_auth_method": "none"}
        async with http_client() as http:
            client = (await http.post(f"{issuer.issuer}/reg", json=asked)).json()
        settings = {
            "PLANNER_PUBLIC_URL": url,
            "PLANNER_AUTH_ISSUERS": json.dumps({issuer.issuer: None}),
            "PLANNER_AUTH_DASHBOARD_CLIENTS": json.dumps({issuer.issuer: client["client_id"]}),
        }
        options = ("--port", str(port))
        async with running_server(folder, workers=0, options=options, settings=settings | further) as server:
            yield Guarded(server, issuer, client["client_id"])


@pytest.fixture(scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    if not node_packages.IS_THERE:
        pytest.skip("needs node and npm")
    async with _guarded(tmp_path_factory.mktemp("oauth")) as guarded:
        yield guarded


@pytest.fixture
async def fresh(browser: Any) -> AsyncIterator[Any]:
    """A page in a browser that nobody has used, which notes errors in the console."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


async def test_a_person_signs_in_and_comes_back_to_the_place_they_opened(guarded: Guarded, fresh: Any) -> None:
    """SPEC A1, O2: no token reaches the page; a deep link is kept; a reload stays, a sign-out ends it."""
    seen: list[str] = []
    fresh.on("request", lambda request: seen.append(request.url))
    wrong: list[str] = []
    fresh.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    await fresh.goto(f"{guarded.server.url}/ui#/scenarios")
    await fresh.get_by_role("button", name="Sign in at 127.0.0.1").click()
    await fresh.get_by_role("heading", name="Scenarios").wait_for()
    assert urlsplit(fresh.url).query == ""
    assert urlsplit(fresh.url).fragment == "/scenarios"
    asked = next(parse_qs(urlsplit(url).query) for url in seen if "code_challenge" in url)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["resource"] == [guarded.server.mcp]
    cookies = {cookie["name"]: cookie for cookie in await fresh.context.cookies(guarded.server.url)}
    assert set(cookies) >= {"__Host-planner"} and COOKIE not in cookies
    kept = cookies["__Host-planner"]
    assert (kept["httpOnly"], kept["secure"], kept["sameSite"]) == (True, True, "Strict")
    await fresh.reload()
    await fresh.get_by_role("heading", name="Scenarios").wait_for()
    assert await fresh.evaluate("JSON.stringify({...localStorage, ...sessionStorage})") == "{}"
    assert await fresh.locator("button[title=ada]").count() == 1
    await fresh.get_by_role("button", name="Sign out").click()
    await fresh.get_by_role("button", name="Sign in at 127.0.0.1").wait_for()
    assert wrong == []


async def test_who_is_signed_in_calls_tools_with_the_scopes_of_the_issuer(guarded: Guarded, fresh: Any) -> None:
    """SPEC A1, A3: what is made belongs to the subject of the token, who finds it again with another token."""
    await fresh.goto(f"{guarded.server.url}/ui")
    await fresh.get_by_role("button", name="Sign in at 127.0.0.1").click()
    await fresh.get_by_role("heading", name="Jobs").wait_for()
    call = """async (day) => (await (await fetch("/ui/call", {method: "POST",
        body: JSON.stringify({tool: "create_scenario", arguments: day}),
        headers: {"Content-Type": "application/json", "X-Planner-UI": "1"}})).json()).structured"""
    made = await fresh.evaluate(call, ring(5))
    await fresh.get_by_role("link", name="Scenarios").click()
    await fresh.get_by_role("region", name="Scenarios").get_by_text(made["scenario_id"]).wait_for()
    about = await fresh.evaluate(
        '(async () => (await fetch("/ui/session", {headers: {"X-Planner-UI": "1"}})).json())()'
    )
    assert about["subject"] == "ada"
    assert set(about["scopes"]) == {f"planner:{name}" for name in ("read", "write", "sensitive", "admin", "approve")}


async def test_a_refusal_of_the_issuer_is_shown_on_the_page(guarded: Guarded, fresh: Any) -> None:
    """Our choice: in our words; what the issuer writes is never shown."""
    for answer, text in (
        ("error=access_denied", "took too long"),  # of no sign-in that was begun here
        ("code=x&state=y", "took too long"),
    ):
        await fresh.goto("about:blank")
        await fresh.goto(f"{guarded.server.url}/ui/signed-in?{answer}&error_description=<b>Ada</b>")
        await fresh.get_by_role("alert").get_by_text(text).wait_for()
        assert "failed" not in fresh.url
        assert "Ada" not in await fresh.content()
        await fresh.get_by_role("button", name="Sign in at 127.0.0.1").wait_for()


@dataclass
class Begun:
    """A sign-in that the issuer has answered."""

    cookie: str
    answer: dict[str, str]


async def _answered(guarded: Guarded, who: str = "ada") -> Begun:
    """Begin a sign-in and let the issuer answer it; the answer is not brought to the planner."""
    async with guarded.http() as http:
        asked = {"issuer": guarded.authority.issuer, "place": "#/jobs"}
        began = await http.post("/ui/sign-in", json=asked, headers=PAGE)
        assert began.status_code == 200, began.text
        url = began.json()["url"]
        cookie = began.headers["set-cookie"].partition("=")[2].partition(";")[0]
    async with http_client(follow_redirects=False) as browser:
        url = f"{url}&login_hint={who}"
        while not url.startswith(f"{guarded.server.url}/ui/signed-in"):
            step = await browser.get(url)
            assert step.status_code in (302, 303), step.text
            url = str(httpx.URL(url).join(step.headers["location"]))
    return Begun(cookie, {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()})


async def _return(guarded: Guarded, cookie: str, answer: dict[str, str] | str) -> httpx.Response:
    async with guarded.http() as http:
        return await http.get(
            "/ui/signed-in", params=answer, headers={"cookie": f"{COOKIE}={cookie}"} if cookie else {}
        )


async def test_an_answer_opens_one_session_in_the_browser_that_asked(guarded: Guarded) -> None:
    """SPEC A1: a replay, another browser's answer and another sign-in's code open none."""
    mine, other = await _answered(guarded), await _answered(guarded, "eve")
    assert mine.answer["iss"] == guarded.authority.issuer
    tries: list[tuple[str, str, dict[str, str]]] = [
        ("no cookie", "", mine.answer),
        ("the answer to another browser (login CSRF)", mine.cookie, other.answer),
        ("another sign-in's code (PKCE)", mine.cookie, mine.answer | {"code": other.answer["code"]}),
        ("another issuer (mix-up)", mine.cookie, mine.answer | {"iss": "https://evil.example"}),
        ("no issuer", mine.cookie, {name: value for name, value in mine.answer.items() if name != "iss"}),
        ("a code of nobody", mine.cookie, mine.answer | {"code": "x"}),
    ]
    for what, cookie, answer in tries:
        refused = await _return(guarded, cookie, answer)
        assert refused.status_code == 303, what
        assert refused.headers["location"].startswith("/ui#failed="), what
        assert "__Host-planner=" not in str(refused.headers.get_list("set-cookie")), what
    twice = await _return(guarded, mine.cookie, str(httpx.QueryParams(mine.answer)) + "&code=again")
    assert twice.headers["location"] == "/ui#failed=refused"
    entered = await _return(guarded, mine.cookie, mine.answer)
    assert entered.headers["location"] == "/ui#/jobs"
    session = next(each for each in entered.headers.get_list("set-cookie") if each.startswith("__Host-planner="))
    async with guarded.http() as http:
        cookie = session.partition(";")[0]
        assert (await http.get("/ui/session", headers={**PAGE, "cookie": cookie})).json()["subject"] == "ada"
    replayed = await _return(guarded, mine.cookie, mine.answer)
    assert replayed.headers["location"] == "/ui#failed=refused", "the issuer takes a code once"


async def test_a_sign_in_is_begun_by_the_page_alone(guarded: Guarded) -> None:
    """SPEC X3: not by a form or page of another site, not for an issuer that is not configured, not at another name."""
    body = {"issuer": guarded.authority.issuer, "place": "https://evil.example"}
    async with guarded.http() as http:
        for options, status in (
            ({"json": body, "headers": {"origin": "https://evil.example"}}, 403),
            ({"content": json.dumps(body), "headers": {"content-type": "text/plain"}}, 400),
            ({"json": {**body, "issuer": "https://evil.example"}}, 400),
            ({"json": [body]}, 400),
            ({"json": {**body, "place": 1}}, 400),
            ({"content": b"\xff", "headers": {"content-type": "application/json"}}, 400),
            ({"json": body, "headers": {"host": f"localhost:{httpx.URL(guarded.server.url).port}"}}, 400),
        ):
            assert (await http.post("/ui/sign-in", **options)).status_code == status, options
        assert (await http.get("/ui/sign-in")).status_code == 405


async def test_a_token_that_the_planner_does_not_take_opens_nothing(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """SPEC A1: a token for another resource is refused here as anywhere else; an address has so many tries."""
    if not node_packages.IS_THERE:
        pytest.skip("needs node and npm")
    strict = {"PLANNER_AUTH_TYPES": "something-else"}
    async with _guarded(tmp_path_factory.mktemp("strict"), **strict) as guarded:
        begun = await _answered(guarded)
        assert (await _return(guarded, begun.cookie, begun.answer)).headers["location"] == "/ui#failed=refused"
        guess = begun.answer | {"code": "guess"}
        statuses = [(await _return(guarded, begun.cookie, guess)).status_code for _ in range(25)]
        assert statuses[-1] == 429
