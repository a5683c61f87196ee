"""What clients are told unasked: how they say what they want to hear, what is kept of it, and the telling.

Begin with `subjects`, what a URI is about. Handshake sessions: `watching` keeps what a session watches, `subscriptions`
tells it on its stream, `pipe` stands in for the store on stdio. Revision 2026-07-28: `listen` is the method,
`listen_filter` what a client asks for, `listen_stream` the telling. Both eras: `logs` of a call, and `offer`, which
notices that a list changed.
"""
