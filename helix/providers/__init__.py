"""Embedders and language models: one file a vendor, found by name (factories.py)."""
