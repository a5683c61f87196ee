"""Contents that people open or print, instead of text through a model (SPEC T5).

Owns how they are handed over: over HTTP as a URL with an access link, which works at every replica until it expires,
and over stdio as a file on the machine of the client. `server/http/routes/downloads_api.py` serves the URLs.
"""

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import anyio.to_thread

from planner_mcp.errors import StoreError
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.server.resources.resource_definition import Contents
from planner_mcp.settings import Settings

PREFIX: Final = "/downloads/"
"""Of the path of each URL; the token follows, then a name for the file."""
FOLDER: Final = "downloads"
"""Folder of the files in the data folder."""
MAX_NAME: Final = 120


@dataclass(frozen=True, slots=True)
class Download:
    """Where contents can be had."""

    address: str
    """A URL, or the path of a file."""
    expires_at: datetime | None = None
    """None for a file."""


OfferDownload = Callable[[str, Contents], Awaitable[Download]]
"""`(uri, contents)`: hands contents over to the client of a call."""


class Downloads:
    """Hands contents over.

    Args:
        settings: Where this server is reached, its data folder, and how long a URL works.
        links: Of the use `download`; the grant is the URI of the resource.
    """

    def __init__(self, settings: Settings, links: AccessLinks) -> None:
        self._settings = settings
        self.links = links

    def by_url(self, principal: Principal, scope: Mapping[str, Any]) -> OfferDownload:
        """Return what hands over to the client of an HTTP request."""
        server = base_url(self._settings, scope)

        async def offer(uri: str, _contents: Contents) -> Download:
            token, expires_at = self.links.make(principal, uri, self._settings.link_ttl_s)
            url = f"{server}{PREFIX}{token}/{file_name(uri.rpartition('/')[2])}"
            return Download(url, datetime.fromtimestamp(expires_at, UTC))

        return offer

    async def as_file(self, uri: str, contents: Contents) -> Download:
        """Write a file for a client on this machine; those older than a job is kept are removed.

        Raises:
            StoreError: The folder cannot be written.
        """
        folder = self._settings.data_dir / FOLDER
        name = file_name("-".join(filter(None, uri.partition("://")[2].split("/"))))
        try:
            path = await anyio.to_thread.run_sync(_written, folder, name, contents, self._settings.job_ttl_s)
        except OSError as error:
            raise StoreError(f"The folder {folder} cannot be written: {error.strerror}.") from error
        return Download(str(path))


def file_name(text: str) -> str:
    """Return a name that every file system and URL takes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)[-MAX_NAME:].lstrip(".") or "file"


def _written(folder: Path, name: str, contents: Contents, keep_s: float) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.stat().st_mtime < time.time() - keep_s:
            old.unlink(missing_ok=True)
    path = folder / name
    path.write_bytes(contents.body)
    return path.resolve()


def base_url(settings: Settings, scope: Mapping[str, Any]) -> str:
    """Return where the server is reached: by its settings, else by a request's socket. Headers are never believed."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    host, port = scope["server"]
    return f"{scope['scheme']}://{f'[{host}]' if ':' in host else host}:{port}"
