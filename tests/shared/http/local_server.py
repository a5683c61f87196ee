"""HTTP servers of a test, each in a thread of its own for the length of a block."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Answers requests, and logs none of them."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def reply(self, status: int, answer: Any = b"") -> None:
        """Send an answer: bytes as they are, anything else as JSON."""
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    """Serve, and close the server afterwards."""
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
