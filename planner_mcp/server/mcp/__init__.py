"""The MCP edge: every revision, over HTTP and stdio, through one kernel.

From the outside in: `doors` take requests of HTTP and give their answers; `notifications` tell clients what happened
since; `methods` answer; `kernel` wraps the official SDK and is the only importer of its runner; `jsonrpc` reads and
refuses what comes, the lines of stdio too. Beside them stands what all of these ask: `callers` who calls, `sessions`
what a handshake left in Redis, `channel` and `asking` the ways back to a client, `auditing` the lines of the audit log.

To read: `kernel` first, then the room of your question; each says in its first lines where to begin.
"""
