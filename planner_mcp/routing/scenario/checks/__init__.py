"""What a well-formed day may still get wrong, reported together."""
