"""The event streams of jobs in Redis, and the wake-ups of those who wait for them."""
