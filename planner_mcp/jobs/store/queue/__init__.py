"""Jobs, scenarios and matrices in Redis, and the queue between callers and workers."""
