"""HTTP clients of tests. They share one TLS context: reading the certificates takes 50 ms for each new one."""

import ssl
from functools import cache
from typing import Any

import httpx2 as httpx


def http_client(**options: Any) -> httpx.AsyncClient:
    """Return a client that takes no proxy and no certificate from the environment.

    Args:
        options: As `httpx.AsyncClient` takes them.
    """
    return httpx.AsyncClient(trust_env=False, verify=_tls(), **options)


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)
