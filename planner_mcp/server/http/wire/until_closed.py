"""The answer to a client of HTTP/1.0, which knows no chunks: a body of unknown length ends with the connection.

Owns that form alone; uvicorn would send chunks to such a client too (RFC 9112 §6.1 forbids it).
"""

from typing_extensions import override
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


class UntilClosed(RequestResponseCycle):
    """uvicorn's request and answer, the answer in the words of HTTP/1.0."""

    is_open_ended = False
    """Whether nobody said how long the body is."""

    @override
    async def send(self, message: ASGISendEvent) -> None:
        if message["type"] == "http.response.start":
            self.is_open_ended = all(name.lower() != b"content-length" for name, _value in message.get("headers", ()))
            if self.is_open_ended:
                self.chunked_encoding = False
        elif message["type"] == "http.response.body" and self.is_open_ended:
            self.expected_content_length = len(message.get("body", b""))
        await super().send(message)
