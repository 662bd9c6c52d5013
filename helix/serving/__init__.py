"""HTTP: middleware, limits, authentication, event streams, and one file a resource in routes."""
