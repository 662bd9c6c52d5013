"""Limits of a crawl: the usual ones, and the highest that can be asked for."""

from __future__ import annotations

PAGES, DEPTH = 200, 5
"""Pages that are asked for, and links that are followed from the start, where nobody says."""
MOST_PAGES, MOST_DEPTH = 10_000, 50
