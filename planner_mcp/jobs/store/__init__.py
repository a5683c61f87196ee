"""Keys, atomic Lua steps and connections: everything that is kept. The only package that imports redis."""
