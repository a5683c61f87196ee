"""Request bodies: received, bounded and decoded."""
