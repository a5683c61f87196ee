"""From the caller's units to the integers every engine reads."""
