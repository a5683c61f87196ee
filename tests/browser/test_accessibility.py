"""Every page held against the rules of axe-core, in light and dark, in a real browser."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from examples.planner_server import PlannerServer
from tests.browser.conftest import solved
from tests.shared.node import node_packages
from tests.shared.scenarios.client_scenarios import ring

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.node,
    pytest.mark.skipif(not node_packages.IS_THERE, reason="Node and npm are not installed"),
]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
AXE = node_packages.FOLDER / "node_modules" / "axe-core" / "axe.min.js"

MISFITS = """() => [
    Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
    [...document.querySelectorAll("*")].map(getComputedStyle)
        .filter((style) => parseFloat(style.transitionDuration) > 0 || style.animationName !== "none").length,
]"""
"""Pixels that a page is too wide, and its elements that move by themselves."""


@pytest.fixture(scope="module")
async def paths(server: PlannerServer) -> AsyncIterator[list[str]]:
    """The pages, with a job that has ended."""
    scenario_id, job_id = await solved(server, ring(6))
    plan_id = job_id.replace("job-", "plan-")
    yield [
        *("jobs", "scenarios", "import", "system", f"jobs/{job_id}", f"scenarios/{scenario_id}"),
        f"compare/{plan_id}/{plan_id}",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_no_page_has_a_serious_violation(
    server: PlannerServer, page: Any, paths: list[str], colours: str
) -> None:
    """SPEC O2: WCAG 2.2 AA, as far as a program can judge it."""
    node_packages.install()
    await page.emulate_media(color_scheme=colours)
    found = {}
    for path in paths:
        await page.goto(f"{server.url}/ui#/{path}")
        await page.reload()
        await page.get_by_role("heading", level=1).wait_for()
        await page.get_by_text("Loading…").wait_for(state="detached")
        await page.evaluate(AXE.read_text() + "; 0")
        result = await page.evaluate(f"axe.run({{runOnly: {RULES}}})")
        found[path] = [
            (violation["id"], violation["nodes"][0]["html"][:200], violation["nodes"][0]["failureSummary"][:300])
            for violation in result["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
    assert {path: problems for path, problems in found.items() if problems} == {}


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 2560])
async def test_pages_fit_the_screen_and_keep_still_where_that_is_asked(
    server: PlannerServer, page: Any, paths: list[str], width: int
) -> None:
    """Our choice: from 390 px to 2,560 px without a horizontal scroll bar; reduced motion."""
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(reduced_motion="reduce")
    found = {}
    for path in paths:
        await page.goto(f"{server.url}/ui#/{path}")
        await page.reload()
        await page.get_by_role("heading", level=1).wait_for()
        await page.get_by_text("Loading…").wait_for(state="detached")
        found[path] = await page.evaluate(MISFITS)
    assert found == {path: [0, 0] for path in paths}
