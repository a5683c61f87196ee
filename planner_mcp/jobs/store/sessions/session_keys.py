"""The names of the keys of one MCP session, which share its hash tag; `session_store.py` lists what they hold."""


def session_key(session_id: str, *parts: str) -> str:
    """Return the key of a session itself, which is over when that is gone; with parts that of something of it."""
    return ":".join((f"mcp:{{{session_id}}}", *parts))


def lasting_keys(session_id: str) -> tuple[str, ...]:
    """Return the keys that live as long as the session, itself first; its streams have lives of their own."""
    return session_key(session_id), *(session_key(session_id, part) for part in ("streams", "watch", "work", "level"))


def stream_key(session_id: str, name: str) -> str:
    """Return the key of the messages of one stream."""
    return session_key(session_id, "e", name)


def lease_key(session_id: str, name: str) -> str:
    """Return the key of which replica produces a stream."""
    return session_key(session_id, "o", name)
