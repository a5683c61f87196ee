"""Small searches that several engines share."""
