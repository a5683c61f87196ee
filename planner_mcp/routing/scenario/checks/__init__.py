"""What a well-formed day may still get wrong, told all at once."""
