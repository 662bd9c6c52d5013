"""The public name of the retriever: ``helix.retriever.GatedRetriever``."""

from helix.retrieval.gated_retriever import GatedRetriever

__all__ = ["GatedRetriever"]
