"""OR-Tools behind the engine interface."""
