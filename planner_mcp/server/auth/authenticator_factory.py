"""Builds the authenticator that the settings describe; what verifies tokens is imported where there are tokens."""

from functools import partial
from typing import TYPE_CHECKING

from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.server.auth.api_key_auth import KeyVerifier
from planner_mcp.server.auth.authenticator import Authenticator
from planner_mcp.settings import Settings

if TYPE_CHECKING:
    from planner_mcp.server.auth.access_tokens import TokenVerifier
    from planner_mcp.server.auth.token_introspection import Introspector


def open_authenticator(settings: Settings, key_store: ApiKeyStore) -> Authenticator:
    """Return the authenticator of a deployment."""
    return Authenticator(
        tokens=_tokens(settings),
        opaque=_opaque(settings),
        keys=KeyVerifier(key_store) if settings.auth_api_keys else None,
    )


def _tokens(settings: Settings) -> "TokenVerifier | None":
    if not settings.auth_issuers or settings.audience is None:
        return None
    from planner_mcp.server.auth.access_tokens import TokenProfile, TokenVerifier
    from planner_mcp.server.auth.jwks import KeySource

    profile = TokenProfile(
        settings.audience, types=frozenset(settings.auth_types), tenant_claim=settings.auth_tenant_claim
    )
    return TokenVerifier(KeySource(settings.auth_issuers, backchannels=settings.auth_backchannels), profile)


def _opaque(settings: Settings) -> "Introspector | None":
    url, issuer = settings.auth_introspection_url, settings.auth_introspection_issuer
    if url is None or issuer is None or settings.audience is None:
        return None
    from planner_mcp.server.auth.token_introspection import Introspector, ask_endpoint

    secret = settings.auth_introspection_client_secret.get_secret_value()
    ask = partial(ask_endpoint, url, settings.auth_introspection_client_id, secret)
    return Introspector(ask, issuer=issuer, audience=settings.audience, tenant_claim=settings.auth_tenant_claim)
