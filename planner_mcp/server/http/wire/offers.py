"""Reads requests that offer to go on in another protocol as what they are beside that: requests of HTTP/1.1.

Owns this one difference from the parser it wraps, which takes an offer for accepted: it drops the body, or reads it as
the next request. A server may ignore the offer (RFC 9110 §7.8); clients make it of every first request (h2c).
"""

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class SteadyParser:
    """httptools' parser, for a server that speaks one protocol.

    Args:
        protocol: Told what is read; it collects url and headers.
    """

    def __init__(self, protocol: HttpToolsProtocol) -> None:
        self._protocol = protocol
        self._is_offer = False
        self.on_message_begin = protocol.on_message_begin
        self.on_url = protocol.on_url
        self.on_header = protocol.on_header
        self.on_body = protocol.on_body
        self._begin()

    def _begin(self) -> None:
        self._parser = HttpRequestParser(self)
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.get_http_version = self._parser.get_http_version
        self.get_method = self._parser.get_method
        self.should_keep_alive = self._parser.should_keep_alive

    def should_upgrade(self) -> bool:
        """Return whether the protocol changes: never."""
        return False

    def feed_data(self, data: bytes) -> None:
        """Read on; a head with an offer is read again without it.

        Raises:
            HttpParserError: No HTTP.
        """
        while True:
            try:
                self._parser.feed_data(data)
            except HttpParserUpgrade as offer:
                data = self._head_without_offer() + data[offer.args[0] :]
                self._begin()
            else:
                return

    def on_headers_complete(self) -> None:
        """Tell of the head, unless it is read again."""
        self._is_offer = self._parser.should_upgrade()
        if not self._is_offer:
            self._protocol.on_headers_complete()
        elif self.get_method() == b"CONNECT":
            raise HttpParserError("There is no tunnel here.")

    def on_message_complete(self) -> None:
        """Tell of the end, unless all is read again."""
        if not self._is_offer:
            self._protocol.on_message_complete()

    def _head_without_offer(self) -> bytes:
        lines = [b"%b %b HTTP/%b" % (self.get_method(), self._protocol.url, self.get_http_version().encode())]
        lines += [b"%b: %b" % header for header in self._protocol.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])
