"""``helix serve`` and ``helix up``: the application on a port."""
