"""Limits of a crawl: the usual ones, and the highest that can be asked for."""

PAGES, DEPTH = 200, 5
"""Pages to fetch and links to follow from the start, where a request names no limit."""
MOST_PAGES, MOST_DEPTH = 10_000, 50
