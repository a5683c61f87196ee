"""The names of the keys of one MCP session, which share its hash tag, save those of `session_notes.py`.

What they hold is drawn in `session_store.py`.
"""


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
