"""A host of MCP Apps in a real browser: the official client and AppBridge on a real server (`app_host/host.js`).

The page lies in two frames on an origin of their own, under the strictest policy that the specification knows. Files of
the host come from this folder by the browser's routes; requests to the server are real.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from examples.planner_server import PlannerServer

FOLDER: Final = Path(__file__).parent / "app_host"
SANDBOX: Final = "http://sandbox.test/"
STRICT: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; object-src 'none'; connect-src 'none'"
)
"""What a host applies to a page that declares no origin (ext-apps 2026-01-26)."""
TYPES: Final = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript"}
ALL: Final[dict[str, Any]] = {"serverTools": {}, "message": {}, "updateModelContext": {}, "downloadFile": {}}
"""The capabilities of a host that can do everything."""


@dataclass
class ChatHost:
    """The host, and what went wrong in its page."""

    page: Any
    server: PlannerServer
    wrong: list[str] = field(default_factory=list)

    async def start(self, **how: Any) -> dict[str, Any]:
        """Open the host's page and connect its client; return what it sees of the server."""
        await self.page.context.route("**/__host/**", self._serve)
        await self.page.context.route(f"{SANDBOX}**", self._serve)
        self.page.on("console", lambda line: line.type in ("error", "warning") and self.wrong.append(line.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self._is_foreign(request.url) and self.wrong.append(request.url))
        await self.page.goto(f"{self.server.url}/__host/host.html")
        await self.page.wait_for_function("() => window.host")
        return dict(await self.page.evaluate("how => host.connect(how)", how))

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool as the host's model does; return the whole result."""
        return dict(await self.page.evaluate("([name, args]) => host.call(name, args)", [tool, arguments]))

    async def solve(self, day: dict[str, Any], solve_time: str) -> str:
        """Create a day, start a solve and return the job's id."""
        scenario_id = (await self.call("create_scenario", **day))["structuredContent"]["scenario_id"]
        job = await self.call("solve_vrp", scenario_id=scenario_id, solve_time=solve_time, fresh=True)
        return str(job["structuredContent"]["job_id"])

    async def open(self, **profile: Any) -> dict[str, Any]:
        """Show the page of `query_vrp_status`; `profile` is what the host can do and tells the page."""
        whole = {"tool": "query_vrp_status", "capabilities": ALL, **profile}
        return dict(await self.page.evaluate("profile => host.open(profile)", whole))

    async def change(self, **context: Any) -> None:
        """Tell the page of another context."""
        await self.page.evaluate("context => host.change(context)", context)

    async def tear_down(self) -> dict[str, Any]:
        """End the page as a host does, and return its answer."""
        return dict(await self.page.evaluate("() => host.tearDown()"))

    async def seen(self, what: str) -> list[dict[str, Any]]:
        """Return what the page has sent: `messages`, `contexts`, `sizes`, `modes` or `downloads`."""
        return list(await self.page.evaluate("what => host.seen[what]", what))

    async def until_seen(self, what: str, count: int = 1) -> list[dict[str, Any]]:
        """Return what the page has sent once it has sent so many."""
        await self.page.wait_for_function("([what, count]) => host.seen[what].length >= count", arg=[what, count])
        return await self.seen(what)

    @property
    def app(self) -> Any:
        """The page inside its frames."""
        return self.page.frame_locator("iframe").frame_locator("iframe")

    async def _serve(self, route: Any) -> None:
        url = route.request.url.partition("?")[0]
        is_sandbox = url.startswith(SANDBOX)
        file = FOLDER / (url.removeprefix(SANDBOX) if is_sandbox else url.partition("/__host/")[2])
        headers = {"Content-Security-Policy": STRICT} if is_sandbox else {}
        await route.fulfill(body=file.read_bytes(), content_type=TYPES[file.suffix], headers=headers)

    def _is_foreign(self, url: str) -> bool:
        return url.startswith(("http", "ws")) and not url.startswith((self.server.url, SANDBOX))
