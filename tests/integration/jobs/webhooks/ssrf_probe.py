"""Run inside a network namespace of its own, where every address is this machine: counts who is reached.

Nothing can leave: the namespace has a loopback interface and no other.
Beside the named targets it tries random addresses of special networks, as many as its first argument says: half of
them written in the URL, half told by a name service. Prints `{"control": n, "forged": n, "tried": n, "random": n}`.
"""

import asyncio
import contextlib
import ipaddress
import json
import random
import socket
import ssl
import subprocess
import sys
from collections.abc import Sequence

import anyio
import anyio.lowlevel

from planner_mcp.errors import EndpointUnreachableError
from planner_mcp.jobs.webhooks.address_guard import system_lookup
from planner_mcp.jobs.webhooks.webhook_client import WebhookClient
from planner_mcp.settings import Settings
from tests.shared.http.ssrf_urls import FORBIDDEN_URLS, SPECIAL

PORTS = (80, 443, 8080, 8443)
FORBIDDEN_ANSWERS = [
    ["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["192.0.0.192"], ["100.100.100.200"], ["168.63.129.16"],
    ["8.8.8.8", "127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["64:ff9b:1::1"], ["2002:7f00:1::"],
    ["fec0::1"], ["fd00::1"], ["fe80::1"], ["ff02::1"], ["::127.0.0.1"], ["2001:0:7f00:1::"], ["0.0.0.0"], ["::"],  # noqa: S104 - an answer, no address to listen on
]  # fmt: skip
TLS = ssl.create_default_context()
connections = 0


def enclose() -> None:
    """Make every address of the namespace this machine, after checking that it holds nothing but loopback."""
    if [name for _index, name in socket.if_nameindex() if name != "lo"]:
        sys.exit("this is no empty network namespace")
    for command in (
        "ip link set lo up",
        "ip route add local 0.0.0.0/0 dev lo",
        "ip -6 route add local ::/0 dev lo",
    ):
        subprocess.run(command.split(), check=True)


async def count(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    global connections
    connections += 1
    writer.close()


async def tried(url: str, answers: Sequence[str] | None = None) -> int:
    """Return how many connections one attempt makes."""

    async def lookup(host: str) -> Sequence[str]:
        return answers if answers is not None else await system_lookup(host)

    before = connections
    try:
        await WebhookClient(Settings(webhook_timeout_s=1.0), lookup=lookup, tls=TLS).post(url, {}, b"{}")
    except EndpointUnreachableError:
        await anyio.lowlevel.checkpoint()
    await anyio.sleep(0.005)
    return connections - before


async def tried_at_random(count: int) -> int:
    """Return how many connections random addresses of special networks see."""
    dice, networks = random.Random(20261121), [ipaddress.ip_network(text) for text in SPECIAL]
    answers: list[str] = []

    async def lookup(_host: str) -> Sequence[str]:
        return answers

    webhook_client, before = WebhookClient(Settings(webhook_timeout_s=1.0), lookup=lookup, tls=TLS), connections
    for number in range(count):
        network = dice.choice(networks)
        address = network[dice.randrange(network.num_addresses)]
        answers[:] = [str(address)]
        literal = f"[{address}]" if address.version == 6 else str(address)
        host = literal if number % 2 else "hooks.example.com"
        with contextlib.suppress(EndpointUnreachableError):
            await webhook_client.post(f"https://{host}/", {}, b"{}")
    await anyio.sleep(0.1)
    return connections - before


async def main() -> None:
    for port in PORTS:
        for host in ("0.0.0.0", "::"):  # noqa: S104 - inside the namespace
            await asyncio.start_server(count, host, port)
    control = await tried("https://8.8.8.8/") + await tried("https://[2606:4700::1111]/")
    control += await tried("https://hooks.example.com/", ["8.8.8.8"])
    forged = [await tried(url) for url in FORBIDDEN_URLS]
    forged += [await tried("https://hooks.example.com/", answers) for answers in FORBIDDEN_ANSWERS]
    at_random = int(sys.argv[1])
    seen = {"control": control, "forged": sum(forged) + await tried_at_random(at_random), "tried": len(forged)}
    print(json.dumps({**seen, "random": at_random}))  # noqa: T201


if __name__ == "__main__":
    enclose()
    asyncio.run(main())
