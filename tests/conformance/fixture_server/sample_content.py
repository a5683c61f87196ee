"""Sample content of every kind that MCP knows, made here and small."""

import base64
import struct
import zlib
from typing import Any, Final

import mcp_types as types


def _png() -> bytes:
    """Return one red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def _wav() -> bytes:
    """Return two silent samples of 8 kHz mono."""
    form = struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", 2) + b"\x80\x80"
    return b"RIFF" + struct.pack("<I", len(body)) + body


PNG: Final = base64.b64encode(_png()).decode()
WAV: Final = base64.b64encode(_wav()).decode()


def text(value: str) -> types.TextContent:
    """Return a text block."""
    return types.TextContent(type="text", text=value)


def image() -> types.ImageContent:
    """Return a picture."""
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def audio() -> types.AudioContent:
    """Return a sound."""
    return types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")


def embedded(uri: str, value: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    """Return a resource with its text inside."""
    inside = types.TextResourceContents(uri=uri, mime_type=mime_type, text=value)
    return types.EmbeddedResource(type="resource", resource=inside)


def answer(*blocks: Any, is_error: bool = False) -> types.CallToolResult:
    """Return a tool's answer; text may be given as it is."""
    return types.CallToolResult(
        content=[text(block) if isinstance(block, str) else block for block in blocks], is_error=is_error
    )
