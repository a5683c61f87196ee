"""Who is calling and what they may do: tokens, API keys, scopes, audit, masking."""
