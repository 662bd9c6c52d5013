"""Errors of a vendor's SDK as Helix's UpstreamError; Helix's own errors pass as they are."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from helix.errors import HelixError, UpstreamError
from helix.providers.base import LanguageModel

_logger = logging.getLogger(__name__)


@contextmanager
def model_failures(llm: LanguageModel) -> Iterator[None]:
    """Around a call of ``llm``: log the type of what it raises, and raise UpstreamError."""
    try:
        yield
    except HelixError:
        raise
    except Exception as error:
        _logger.warning("model %s failed: %s", llm.identity, type(error).__name__)
        raise _failed("the model's service", error) from error


@contextmanager
def embedding_failures() -> Iterator[None]:
    """Around a call of an embedder: raise UpstreamError for what it raises."""
    try:
        yield
    except HelixError:
        raise
    except Exception as error:
        raise _failed("the embedding service", error) from error


def _failed(service: str, error: Exception) -> UpstreamError:
    return UpstreamError(f"{service} failed ({type(error).__name__}); try again")
