"""Road engines over HTTP: one interface, an engine a file, and the whole table put together from blocks."""
