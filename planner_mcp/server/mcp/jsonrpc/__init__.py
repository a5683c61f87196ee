"""JSON-RPC before MCP is spoken: reading what comes, and the form of every refusal. Answers no method.

Begin with `faults`, the errors and their `data`, and `messages`, one body. Around them the two ways in: `envelope`, the
HTTP request that carries a body, and `stdio`, the lines of a process. `sdk_faults` gives refusals of the SDK's own
entry the same form.
"""
