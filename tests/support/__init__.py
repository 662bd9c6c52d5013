"""Helpers that tests share, each module named for what it gives."""
