"""Splitters: a document's text to chunks, each an exact slice of it."""
