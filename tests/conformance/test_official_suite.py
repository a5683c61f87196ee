"""The official conformance suite of MCP, both of its lines, against the fixture variant of the server."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from examples.planner_server import running_server
from tests.shared.http.free_ports import free_port
from tests.shared.http.load_balancer import balancing
from tests.shared.node import external_clients, node_packages

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.node,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not external_clients.has_npm(), reason="needs npm"),
]


@dataclass(frozen=True)
class Run:
    """One run of the suite."""

    name: str
    program: Path
    arguments: tuple[str, ...]
    least: int
    """Checks that passed when this line was written: fewer would mean that scenarios were skipped."""


RUNS = (
    Run("0.1.16", external_clients.HANDSHAKE_CONFORMANCE, ("--suite", "all"), 46),
    Run("2025-03-26", external_clients.CONFORMANCE, ("--suite", "all", "--spec-version", "2025-03-26"), 3),
    Run("2025-06-18", external_clients.CONFORMANCE, ("--suite", "all", "--spec-version", "2025-06-18"), 56),
    Run("2025-11-25", external_clients.CONFORMANCE, ("--suite", "all", "--spec-version", "2025-11-25"), 83),
    Run("2026-07-28", external_clients.CONFORMANCE, ("--suite", "all", "--spec-version", "2026-07-28"), 152),
    Run("2026-07-28 with tasks", external_clients.CONFORMANCE, ("--requirements", "2026-07-28"), 196),
)


@pytest.fixture(scope="module")
def packages() -> None:
    node_packages.install(external_clients.FOLDER)


@pytest.fixture(scope="module")
async def urls(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """Where the variant is served: by one replica, and by two behind a balancer that switches at each request."""
    folder, port = tmp_path_factory.mktemp("conformance"), free_port()
    settings = {"PLANNER_PUBLIC_URL": f"http://localhost:{port}"}
    variant = partial(running_server, folder, module="tests.conformance.fixture_server", settings=settings)
    async with (
        variant(workers=1) as one,
        variant(workers=0, log=folder / "two.log") as two,
        balancing(one.url, two.url, port=port) as (balanced, _switch),
    ):
        yield {"one": one.mcp, "switching": f"{balanced}/mcp"}


@pytest.mark.parametrize("replicas", ["one", "switching"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
async def test_no_check_of_the_official_suite_fails(
    packages: None, urls: dict[str, str], run: Run, replicas: str, tmp_path: Path
) -> None:
    """SPEC X1, X2: no failure and no unexplained warning, whichever replica answers."""
    url = urls[replicas].replace("127.0.0.1", "localhost")
    ended = await external_clients.node(
        run.program, "server", "--url", url, *run.arguments, "-o", tmp_path, timeout_s=300
    )
    counts, bad = _checks(tmp_path)
    print(f"\nconformance {run.name}, {replicas}: {dict(counts)}")  # noqa: T201 the figures of docs/conformance.md
    assert bad == []
    assert ended.returncode == 0, ended.stdout.decode()[-2000:]
    assert counts["SUCCESS"] >= run.least


def _checks(folder: Path) -> tuple[Counter[str], list[str]]:
    """Return how many checks had each outcome, and those that failed or warn."""
    counts: Counter[str] = Counter()
    bad = []
    for path in sorted(folder.glob("*/checks.json")):
        for check in json.loads(path.read_text(encoding="utf-8")):
            counts[check["status"]] += 1
            if check["status"] in ("FAILURE", "WARNING"):
                bad.append(f"{path.parent.name}: {check['id']}: {check.get('errorMessage')}")
    return counts, bad
