"""Who is calling and what they may do: tokens, API keys, sessions, links, audit."""
