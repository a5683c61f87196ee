"""Measures the dashboard: its first paint, its size, and what open pages cost the server while nothing happens.

`python -m benchmarks.dashboard` writes `benchmarks/results/dashboard-….json`. It needs Playwright and Chromium
(`make setup-browser`). Goals: first paint within 1 s on two cores, 50 open pages at rest within 10 % of one
core, 200 kB of files, 100 kB of the page in a chat.
"""

import argparse
import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.process_stats import tree_cpu_s
from benchmarks.result_files import Figure, keep, machine, share, spread
from examples.planner_server import PlannerServer, running_server
from planner_mcp.server.http.routes.dashboard_routes import FILES_FOLDER
from planner_mcp.server.resources.app_page import page as app_page

PAGES: Final = 50
SETTLE_S: Final = 5.0
REST_S: Final = 30.0
ARGUMENTS: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
_PAINT: Final = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


async def measure(n: int, rest_s: float) -> list[Figure]:
    """Return the figures of `n` visits, and of a rest of so many seconds."""
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        async with running_server(Path(folder), workers=1) as server:
            return [*await _first_paints(server, n), await _rest(server, rest_s), *_sizes()]


async def _first_paints(server: PlannerServer, n: int) -> list[Figure]:
    """Return when a browser without a cache has painted the list of jobs, and when that is complete."""
    from playwright.async_api import async_playwright

    paints, lists = [], []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for _ in range(n + 1):
            context = await browser.new_context()
            page = await context.new_page()
            await page.goto(f"{server.url}/ui#/jobs")
            await page.get_by_text("No jobs yet").wait_for()
            lists.append(await page.evaluate("performance.now()") / 1000)
            paints.append(await page.evaluate(_PAINT) / 1000)
            await context.close()
        await browser.close()
    note = "empty cache, loopback; the first visit of the browser is left out"
    return [spread("first paint of the dashboard", paints[1:], note), spread("list of jobs shown", lists[1:], note)]


async def _rest(server: PlannerServer, rest_s: float) -> Figure:
    """Return the CPU of server and worker beyond their own rest while many pages show the list of jobs.

    Each page has a profile of its own, as pages of different people have: those of one profile share six connections.
    """
    from playwright.async_api import async_playwright

    alone_s = await _cpu_in(server, rest_s)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for _ in range(PAGES):
            page = await (await browser.new_context()).new_page()
            await page.goto(f"{server.url}/ui#/jobs")
            await page.get_by_text("No jobs yet").wait_for()
        await asyncio.sleep(SETTLE_S)
        open_s = await _cpu_in(server, rest_s)
        await browser.close()
    note = f"of one core, beyond {100 * alone_s / rest_s:.1f} % without a page; real pages, visible, {rest_s:.0f} s"
    return share(f"{PAGES} open pages at rest", max(0.0, open_s - alone_s) / rest_s, note)


async def _cpu_in(server: PlannerServer, seconds: float) -> float:
    before = tree_cpu_s(server.pid)
    await asyncio.sleep(seconds)
    return tree_cpu_s(server.pid) - before


def _sizes() -> list[Figure]:
    files = sum(path.stat().st_size for path in FILES_FOLDER.rglob("*") if path.is_file())
    return [
        Figure("files of the dashboard", "kB", 1, round(files / 1000, 1), None, "unpacked"),
        Figure("page in a chat", "kB", 1, round(len(app_page().encode()) / 1000, 1), None, "one file"),
    ]


def main() -> None:
    """Measure, print and record."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few samples; not for the tables")
    is_quick = options.parse_args().quick
    about = machine()
    figures = asyncio.run(measure(3 if is_quick else 20, 10.0 if is_quick else REST_S))
    for figure in figures:
        print(f"{figure.name}: {figure.p50} {figure.unit} (p99 {figure.p99}, n {figure.n}) {figure.note}")
    print(keep(figures, about, seed=0, is_quick=is_quick, name="dashboard"))


if __name__ == "__main__":
    main()
