"""The HTTP transports of MCP: how a request arrives and how its answer is sent, through any replica.

Begin with `streamable_http`, which routes by revision. A request without handshake is answered by `stateless_http`;
one of a session by `post_exchange`, whose events and event ids are those of `session_streams`. `http_sse_transport`
is the transport of 2024-11-05, and `http_sse_requests` answers its messages. Standard input and output need no
transport here: the kernel serves them through `jsonrpc/stdio_messages.py`.
"""
