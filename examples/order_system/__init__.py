"""An order system that knows nothing of routes, the document of its API, and the bridge that makes it tools."""
