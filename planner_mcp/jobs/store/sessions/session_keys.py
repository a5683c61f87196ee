"""The names of the keys of one MCP session. All share its hash tag; those of questions are in
`elicitation_store.py`.

What they hold is listed in `session_store.py`.
"""


def lasting_keys(session_id: str) -> tuple[str, ...]:
    """Return the keys that live as long as the session, itself first; its streams have lives of their own."""
    return tuple(name(session_id) for name in (row_key, names_key, watch_key, work_key, level_key))


def row_key(session_id: str) -> str:
    """Return the key of a session itself; the session is over when it is gone."""
    return f"mcp:{{{session_id}}}"


def names_key(session_id: str) -> str:
    """Return the key of which streams a session has, and of the requests each answers."""
    return f"{row_key(session_id)}:streams"


def stream_key(session_id: str, name: str) -> str:
    """Return the key of the messages of one stream."""
    return f"{row_key(session_id)}:e:{name}"


def lease_key(session_id: str, name: str) -> str:
    """Return the key of which replica produces a stream."""
    return f"{row_key(session_id)}:o:{name}"


def watch_key(session_id: str) -> str:
    """Return the key of what a session watches."""
    return f"{row_key(session_id)}:watch"


def work_key(session_id: str) -> str:
    """Return the key of what is being answered for a session."""
    return f"{row_key(session_id)}:work"


def level_key(session_id: str) -> str:
    """Return the key of which log messages a session's client wants."""
    return f"{row_key(session_id)}:level"
