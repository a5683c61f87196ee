"""Road engines over HTTP: one interface, one file per engine, and the whole table put together from blocks."""
