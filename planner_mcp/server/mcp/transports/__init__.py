"""The doors of MCP over HTTP: where a request comes in and how its answer goes out, through any replica.

Begin with `http`, which routes by era. A request without handshake is answered by `stateless`; one of a session by
`exchange`, whose frames and event ids are those of `streams`. `sse2024` is the transport of 2024-11-05, and `answering`
its work on messages. Standard input and output have no door here: the kernel serves them, over `jsonrpc.stdio`.
"""
