"""The challenge and the resource metadata."""

from planner_mcp.server.auth.bearer_challenge import challenge, metadata_path, metadata_url, resource_metadata

RESOURCE = "https://planner.example/mcp"


def test_a_caller_without_a_token_gets_no_error_code() -> None:
    """SPEC A1; RFC 6750 §3.1: only where to learn more and which scopes it will take."""
    assert challenge(RESOURCE, {"planner:read"}) == (
        'Bearer resource_metadata="https://planner.example/.well-known/oauth-protected-resource/mcp", '
        'scope="planner:read"'
    )


def test_a_missing_scope_is_named_with_all_others_at_once() -> None:
    """SPEC A1: one round trip to the authorization server must be enough."""
    value = challenge(RESOURCE, {"planner:write", "planner:read"}, error="insufficient_scope")
    assert value.startswith('Bearer error="insufficient_scope", ') and 'scope="planner:read planner:write"' in value


def test_text_in_a_challenge_cannot_break_out_of_its_quotes() -> None:
    """SPEC A1: a description holds no quote and no backslash."""
    value = challenge(RESOURCE, (), error="invalid_token", description='bad "typ" \\')
    assert "error_description=\"bad 'typ' /\"" in value


def test_metadata_stands_at_the_path_suffixed_well_known() -> None:
    """SPEC A1; RFC 9728 §3.1."""
    assert metadata_path(RESOURCE) == "/.well-known/oauth-protected-resource/mcp"
    assert metadata_url(RESOURCE) == "https://planner.example/.well-known/oauth-protected-resource/mcp"
    document = resource_metadata(RESOURCE, ["https://as.example"])
    assert document["resource"] == RESOURCE and document["authorization_servers"] == ["https://as.example"]
