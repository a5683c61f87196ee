"""The MCP edge: every revision, over HTTP and stdio, through one kernel.

`kernel` wraps the official SDK and is the only importer of its runner; `http` routes by era; `sessions`, `streams` and
`exchange` keep the handshake revisions' state in Redis; `stdio` serves one client of a process.
"""
