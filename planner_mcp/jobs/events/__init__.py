"""How events of jobs reach their readers: followers and their buffers, and channels."""
