"""Which URLs and addresses webhooks may reach (SPEC W4)."""

import ipaddress
import random
from collections.abc import Sequence
from contextlib import nullcontext

import pytest

from planner_mcp.errors import EndpointForbiddenError, EndpointUnreachableError
from planner_mcp.jobs.webhooks.address_guard import allowed_networks, check_callback_url, is_forbidden, resolve
from planner_mcp.settings import Settings
from tests.shared.http.ssrf_urls import FORBIDDEN_URLS, PUBLIC_URLS, SPECIAL

NETWORK_WORDS = ("127.", "10.", "private", "loopback", "resolve", "dns", "refused", "timeout", "metadata", "network")


@pytest.fixture(scope="module")
def plain() -> Settings:
    return Settings()


@pytest.fixture(scope="module")
def opened() -> Settings:
    return Settings(webhook_allow_networks=["127.0.0.0/8", "::1"], webhook_allow_ports=[8443])


@pytest.mark.parametrize("url", FORBIDDEN_URLS)
def test_a_forbidden_url_is_refused_at_submit(url: str, plain: Settings) -> None:
    """SPEC W4: literals are refused before anything is stored, and the text tells nothing of the network."""
    with pytest.raises(EndpointForbiddenError) as refused:
        check_callback_url(url, plain)
    (fault,) = refused.value.errors
    assert fault.path == "/callback_url"
    message_text = f"{refused.value.message} {fault.problem} {fault.accepted} {fault.hint}".lower()
    message_text = message_text.replace(
        "planner_webhook_allow_networks", ""
    )  # the setting's name is the same everywhere
    assert not [word for word in NETWORK_WORDS if word in message_text]


SAID = {"form": "is not a URL", "scheme": "must use https", "port": "The port", "host": "The host"}
"""What each kind of refusal says, as far as it tells the kinds apart."""


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://hooks.example.com/x", "scheme"),
        ("http://hooks.example.com:443/x", "scheme"),
        ("http://127.0.0.1:443/x", "scheme"),
        ("ftp://hooks.example.com/x", "scheme"),
        ("https://hooks.example.com:8443/x", "port"),
        ("https://127.0.0.1:8443/x", "port"),
        ("https://hooks.example.com:99999/x", "host"),
        ("https://127.0.0.1/x", "host"),
        ("https://127.1/x", "host"),
        ("https://localhost/x", "host"),
        ("https://user@hooks.example.com/x", "form"),
        ("https://hooks.example.com/x#y", "form"),
        ("hooks.example.com/x", "form"),
    ],
)
def test_a_refusal_says_what_is_wrong_with_the_url(url: str, kind: str, plain: Settings) -> None:
    """SPEC T7, W4: of four kinds the one that the caller can mend."""
    with pytest.raises(EndpointForbiddenError) as refused:
        check_callback_url(url, plain)
    assert [each for each, words in SAID.items() if words in refused.value.message] == [kind]
    (fault,) = refused.value.errors
    assert SAID[kind] in fault.problem


@pytest.mark.parametrize(("url", "host", "port", "target"), PUBLIC_URLS)
def test_a_public_url_is_read_as_it_stands(url: str, host: str, port: int, target: str, plain: Settings) -> None:
    """SPEC W4: https and public addresses."""
    webhook_url = check_callback_url(url, plain)
    assert (webhook_url.host, webhook_url.port, webhook_url.target) == (host, port, target)


def test_there_are_enough_targets() -> None:
    """Our choice: 77 forgery targets and more."""
    assert len(set(FORBIDDEN_URLS)) >= 77


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("http://127.0.0.1:8443/x", True),
        ("https://127.9.9.9:8443/x", True),
        ("https://127.0.0.1/x", True),
        ("http://[::1]:8443/x", True),
        ("http://localhost:8443/x", True),
        ("http://127.0.0.1/x", False),
        ("http://127.0.0.1:8080/x", False),
        ("http://10.0.0.1:8443/x", False),
        ("http://8.8.8.8:8443/x", False),
        ("https://[::ffff:127.0.0.1]:8443/x", False),
        ("http://127.1:8443/x", False),
    ],
)
def test_a_deployment_opens_named_networks_and_ports(url: str, is_allowed: bool, opened: Settings) -> None:
    """SPEC W5: test networks by name, http within them alone."""
    if is_allowed:
        check_callback_url(url, opened)
    else:
        with pytest.raises(EndpointForbiddenError):
            check_callback_url(url, opened)


@pytest.mark.parametrize("name", ["localhost", "a.localhost", "LOCALHOST"])
@pytest.mark.parametrize(("network", "is_named"), [("10.0.0.0/8", False), ("127.0.0.0/8", True), ("::1/128", True)])
def test_localhost_is_refused_at_submit_unless_its_network_is_named(name: str, network: str, is_named: bool) -> None:
    """SPEC W4: another network that is open does not open the machine itself; names of that network pass."""
    settings = Settings(webhook_allow_networks=[network])
    check_callback_url("https://receiver/x", settings)
    with nullcontext() if is_named else pytest.raises(EndpointForbiddenError):
        check_callback_url(f"https://{name}/x", settings)


@pytest.mark.parametrize(
    ("url", "is_open", "accepted", "setting"),
    [
        ("http://a.example/x", False, "an https:// URL", "PLANNER_WEBHOOK_ALLOW_NETWORKS"),
        ("http://8.8.8.8:8443/x", True, "an https:// URL, or http:// within PLANNER_WEBHOOK_ALLOW_NETWORKS", ""),
        ("https://a.example:99/x", False, "port 443", "PLANNER_WEBHOOK_ALLOW_PORTS"),
        ("https://a.example:99/x", True, "port 443 or 8443", "PLANNER_WEBHOOK_ALLOW_PORTS"),
        (
            "https://10.0.0.1/x",
            True,
            "a public host name, or a public address in its plain form",
            "PLANNER_WEBHOOK_ALLOW_NETWORKS",
        ),
    ],
)
def test_a_refusal_names_what_this_deployment_accepts(
    url: str, is_open: bool, accepted: str, setting: str, plain: Settings, opened: Settings
) -> None:
    """SPEC T7, W5: as its settings are, and which of them the operator could change."""
    with pytest.raises(EndpointForbiddenError) as refused:
        check_callback_url(url, opened if is_open else plain)
    (fault,) = refused.value.errors
    assert fault.accepted == accepted
    assert setting in fault.hint and bool(setting) == bool(fault.hint)


# ---- addresses

MISJUDGED = [ipaddress.ip_network(text) for text in (
    "168.63.129.16/32", "192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24",
    "2001::/23", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)]  # fmt: skip
"""Special-purpose networks that `ipaddress` calls global in some release, or that we refuse on purpose."""


def reference(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Judge by the standard library and the exceptions above."""
    if any(address in network for network in MISJUDGED if network.version == address.version):
        return True
    if address.version == 6 and address not in ipaddress.ip_network("2000::/3"):
        return True
    return not address.is_global or address.is_multicast or address.is_reserved


def test_ten_thousand_addresses_are_classified_as_by_another_library() -> None:
    """Our choice: half of them near the edge of some special network."""
    dice = random.Random(20261121)
    networks = [ipaddress.ip_network(text) for text in EDGES]
    wrong = []
    for _ in range(10_000):
        if dice.random() < 0.5:
            address = dice.choice(
                [ipaddress.IPv4Address(dice.getrandbits(32)), ipaddress.IPv6Address(dice.getrandbits(128))]
            )
        else:
            network = dice.choice(networks)
            edge = dice.choice([int(network.network_address), int(network.broadcast_address)]) + dice.randrange(-2, 3)
            size = 2**network.max_prefixlen
            address = (ipaddress.IPv4Address if network.version == 4 else ipaddress.IPv6Address)(edge % size)
        if is_forbidden(address) is not reference(address):
            wrong.append(address)
    assert wrong == []


EDGES = (*SPECIAL, "2000::/3")


# ---- resolving


async def looked_up(answers: Sequence[str], settings: Settings, url: str = "https://hooks.example.com/") -> list[str]:
    async def lookup(_host: str) -> Sequence[str]:
        return answers

    return await resolve(check_callback_url(url, settings), allowed_networks(settings), lookup)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "answers",
    [
        [],
        ["10.0.0.1"],
        ["8.8.8.8", "10.0.0.1"],
        ["8.8.8.8", "::1"],
        ["::ffff:8.8.8.8"],
        ["64:ff9b::808:808"],
        ["fe80::1%eth0"],
        ["169.254.169.254"],
        ["what?"],
    ],
)
async def test_one_forbidden_answer_refuses_the_name(answers: list[str], plain: Settings) -> None:
    """SPEC W4: checked as a whole; the refusal reads like a name that leads nowhere."""
    with pytest.raises(EndpointUnreachableError, match="did not answer"):
        await looked_up(answers, plain)


@pytest.mark.anyio
async def test_public_answers_are_what_is_connected_to(plain: Settings) -> None:
    """SPEC W4: resolved once, checked and pinned."""
    assert await looked_up(["8.8.8.8", "2606:4700::1111", "8.8.8.8"], plain) == ["8.8.8.8", "2606:4700::1111"]


@pytest.mark.anyio
async def test_http_goes_to_named_networks_alone(opened: Settings) -> None:
    """SPEC W5: a name over http must lead into a network that was opened."""
    url = "http://hooks.example.com:8443/"
    assert await looked_up(["127.0.0.1"], opened, url) == ["127.0.0.1"]
    with pytest.raises(EndpointUnreachableError):
        await looked_up(["8.8.8.8"], opened, url)


@pytest.mark.anyio
async def test_a_literal_asks_no_name_service(plain: Settings) -> None:
    """SPEC W4: what was judged at submit is what is connected to."""

    async def lookup(_host: str) -> Sequence[str]:
        raise AssertionError

    webhook_url = check_callback_url("https://[2606:4700::1111]/", plain)
    assert await resolve(webhook_url, allowed_networks(plain), lookup) == ["2606:4700::1111"]
