"""MCP in every revision, over HTTP and stdio, on one kernel.

From the outside in: `transports` take HTTP requests and send their answers; `notifications` inform clients of what
happened since; `methods` answer requests; `kernel` wraps the official SDK and is the only importer of its runner;
`jsonrpc` reads and refuses what arrives, on stdio too. All of these use `request_context` (who calls),
`mcp_sessions` (what a handshake left in the store), `dispatch_context` and `client_requests` (the ways back to a
client) and `method_audit`.

Begin with `kernel`; each package says in its first lines where to go on.
"""
