"""Logging: one line an event with the id of its request; no question, document text or key."""

from __future__ import annotations

import contextvars
import logging
import sys
import traceback
from pathlib import Path

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")


class _RequestIdFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


def configure_logging(level: str) -> None:
    """Send the `helix` and `pipelines` loggers to standard error at ``level``, once a process."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s")
    )
    handler.addFilter(_RequestIdFilter())
    for name in ("helix", "pipelines"):
        logger = logging.getLogger(name)
        logger.setLevel(level.upper())
        if not any(isinstance(old.formatter, logging.Formatter) for old in logger.handlers):
            logger.addHandler(handler)


def silence_access_log() -> None:
    """Turn off uvicorn's access log: it prints the query string, and that is the question."""
    access = logging.getLogger("uvicorn.access")
    access.handlers.clear()
    access.propagate = False


def where(error: BaseException) -> str:
    """An error's kind and place, without its message, which may hold text of a document.

    Of a database's error, or one that it caused, the SQLSTATE too.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    cause = error.__cause__
    state = getattr(error, "sqlstate", None) or getattr(cause, "sqlstate", None)
    return f"{type(error).__name__}{place}{f', {state}' if state else ''}"
