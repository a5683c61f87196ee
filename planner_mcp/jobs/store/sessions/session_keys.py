"""The names of the keys of one MCP session, which share its hash tag; `session_store.py` lists what they hold."""


def session_key(session_id: str) -> str:
    """Return the key of a session itself, which is over when that is gone."""
    return f"mcp:{{{session_id}}}"


def streams_key(session_id: str) -> str:
    """Return the key of its streams and the requests that each owes an answer."""
    return f"{session_key(session_id)}:streams"


def watch_key(session_id: str) -> str:
    """Return the key of what it watches."""
    return f"{session_key(session_id)}:watch"


def work_key(session_id: str) -> str:
    """Return the key of what is being answered."""
    return f"{session_key(session_id)}:work"


def level_key(session_id: str) -> str:
    """Return the key of which log messages it wants."""
    return f"{session_key(session_id)}:level"


def lasting_keys(session_id: str) -> tuple[str, ...]:
    """Return the keys that live as long as the session, itself first; its streams have lives of their own."""
    return tuple(key(session_id) for key in (session_key, streams_key, watch_key, work_key, level_key))


def stream_key(session_id: str, name: str) -> str:
    """Return the key of the messages of one stream."""
    return f"{session_key(session_id)}:e:{name}"


def lease_key(session_id: str, name: str) -> str:
    """Return the key of which replica produces a stream."""
    return f"{session_key(session_id)}:o:{name}"


def question_key(session_id: str, question_id: str) -> str:
    """Return the key of the answer to a question that the server asked."""
    return f"{session_key(session_id)}:q:{question_id}"
