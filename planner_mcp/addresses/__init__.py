"""Text to structured addresses with coordinates, offline: divisions of China, cities of the world."""
