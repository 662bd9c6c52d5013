"""The public name of the query engine: ``helix.query_engine.CitationQueryEngine``."""

from helix.answering.engine import CitationQueryEngine

__all__ = ["CitationQueryEngine"]
