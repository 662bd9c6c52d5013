"""Helix beside its peers, each in a process of its own: ``make bench-peers``."""
