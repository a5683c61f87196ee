"""Published instances: the texts researchers exchange, read once for days and for benchmarks alike."""
