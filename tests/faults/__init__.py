"""Faults: what callers get, what comes back by itself, and that nothing is lost."""
