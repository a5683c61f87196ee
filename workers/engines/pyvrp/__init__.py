"""PyVRP behind the engine interface."""
