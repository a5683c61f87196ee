"""Bodies that repeat one token at some place of a message, nested or not: what tests send to the limit."""

from typing import Any

from hypothesis import strategies as st

TOKENS = (
    *(b"[", b"]", b"{", b"}", b'"', b"\\", b",", b":", b" ", b"\n", b"1", b"-", b"e", b"\0", b"\xff", b"\xe5\x8c\x97"),
    *(b"[],", b"{},", b'"",', b"1,", b"1e9,", b"0.5,", b"null,", b'{"a":1},', b'["a"],', b'{"":{}},', b"[[]],"),
    *(b'\\"', b"\\\\", b"\\n", b"\\u0041", b"\\ud83d\\ude00", b"\\ud83d", b'"\\ud83d\\ude00",', b"[1,2,3],"),
)
"""What is repeated."""
_CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_scenario",'
FRAMES = (
    (b"", b""),
    (b"[", b"1]"),
    (b'{"a":"', b'"}'),
    (b'{"jsonrpc":"2.0","id":"', b'","method":"ping"}'),
    (b'{"jsonrpc":"2.0","id":1,"method":"', b'"}'),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[', b"1]}}"),
    (_CALL + b'"arguments":{"tickets":[', b"1]}}}"),
    (_CALL + b'"arguments":{"name":"', b'"}}}'),
    (_CALL + b'"_meta":{"a":[', b'1]},"arguments":{}}}'),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"},', b'{"jsonrpc":"2.0","id":2,"method":"ping"}]'),
)
"""Around it: where in a message it stands."""


def hostile_body(token: bytes, frame: tuple[bytes, bytes], depth: int, size: int) -> bytes:
    """Return a body of about `size` bytes."""
    before, after = frame[0] + b"[" * depth, b"1" * bool(depth) + b"]" * depth + frame[1]
    return before + token * max(1, (size - len(before) - len(after)) // len(token)) + after


def generated_bodies(sizes: st.SearchStrategy[int]) -> st.SearchStrategy[Any]:
    """Return a strategy of bodies: token, place and nesting at random."""
    return st.builds(hostile_body, st.sampled_from(TOKENS), st.sampled_from(FRAMES), st.integers(0, 40), sizes)
