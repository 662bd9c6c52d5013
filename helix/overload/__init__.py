"""Fair turns where many wait: the tenants in turn, of each the one that came first."""
