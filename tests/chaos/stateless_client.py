"""A client that speaks revision 2026-07-28 with nothing but HTTP: one request, one answer, no session to lose."""

from typing import Any

import httpx2 as httpx

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "chaos", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}


async def post(http: httpx.AsyncClient, url: str, tool: str, **arguments: Any) -> httpx.Response:
    """Call a tool and return the HTTP answer."""
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return await http.post(url, json=body, headers={**HEADERS, "mcp-method": "tools/call", "mcp-name": tool})


async def call(http: httpx.AsyncClient, url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its structured content, or the error of whichever layer answered."""
    answer = await post(http, url, tool, **arguments)
    body = answer.json()
    if "result" in body:
        return dict(body["result"]["structuredContent"])
    return dict(body["error"].get("data", {}) if "error" in body else body)
