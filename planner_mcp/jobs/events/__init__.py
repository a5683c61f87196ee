"""How events of jobs reach their readers: followers and their buffers, channels, and the notifications made of them."""
