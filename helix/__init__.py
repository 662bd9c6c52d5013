"""Helix answers questions from your documents, with citations that resolve, or says it cannot."""

__version__ = "0.1.0"
