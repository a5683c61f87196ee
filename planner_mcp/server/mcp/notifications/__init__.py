"""Notifications: what clients subscribe to, where that is kept, and how it is sent.

Begin with `watched_resources`, which reads URIs. Handshake sessions: `session_watches` keeps what a session watches,
`resource_subscriptions` writes it to the session's stream, `stdio_watches` replaces the store on stdio. Revision
2026-07-28: `listen_method` is the method and its streams, `listen_filter` what a client asks for. Both:
`log_notifications` of a call, and `list_capabilities`, which notices that a list changed.
"""
