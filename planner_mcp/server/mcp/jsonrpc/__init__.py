"""JSON-RPC below MCP: reading messages, and the form of every refusal. Answers no method.

Begin with `jsonrpc_errors` (errors and their `data`) and `jsonrpc_messages` (one body). Messages arrive through
`http_envelope`, the HTTP request that carries a body, or `stdio_messages`, the lines of a process. `sdk_errors`
gives refusals of the SDK's own entry the same form.
"""
