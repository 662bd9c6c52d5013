"""Logging: one line an event with the id of its request; no question, document text or key.

As text, or with HELIX_LOG_FORMAT=json as one JSON object a line.
"""

from __future__ import annotations

import contextvars
import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal

LogFormat = Literal["text", "json"]

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")
trace_id: contextvars.ContextVar[str] = contextvars.ContextVar("trace_id", default="-")
"""32 hex characters: that of the request's answers and spans."""

_OURS = ("helix", "pipelines")
_LONGEST_CHAIN = 10

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _RequestIdFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class _OthersFilter(logging.Filter):
    """For the root's handler: our own loggers have theirs."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name.partition(".")[0] not in _OURS


class _StandardError(logging.Handler):
    """Writes to what standard error is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except Exception:  # noqa: BLE001 - a log line costs no answer
            self.handleError(record)


class _Text(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # another handler may have kept one there, with the message
        return super().format(record)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's own name
        return "\n".join(frames_of(ei[1])) if ei[1] else ""


class JsonFormatter(logging.Formatter):
    """One JSON object: time (RFC 3339, UTC, milliseconds), level, logger, ids, message.

    An error's frames are in ``stack``, outermost first, without what the error says.
    """

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        told: dict[str, object] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": request_id.get(),
            "trace_id": trace_id.get(),
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1]:
            told["stack"] = frames_of(record.exc_info[1])
        return json.dumps(told, ensure_ascii=True)


def configure_logging(level: str, log_format: LogFormat = "text") -> None:
    """Send the `helix` and `pipelines` loggers to standard error at ``level``.

    A handler that somebody else gave them stays and ours is not added. Called again, it changes
    level and format. As JSON, warnings of libraries and what the HTTP server says are JSON too.
    """
    formatter = JsonFormatter() if log_format == "json" else _Text()
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.setLevel(level.upper())
        _handle(logger, formatter, _RequestIdFilter())
    if log_format == "json":
        _handle(logging.getLogger(), formatter, _OthersFilter())
        for handler in logging.getLogger("uvicorn").handlers:
            handler.setFormatter(formatter)


def _handle(logger: logging.Logger, formatter: logging.Formatter, chosen: logging.Filter) -> None:
    ours = [old for old in logger.handlers if isinstance(old, _StandardError)]
    for old in ours:
        old.setFormatter(formatter)
    if not ours and not any(old.formatter for old in logger.handlers):
        handler = _StandardError()
        handler.setFormatter(formatter)
        handler.addFilter(chosen)
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


def frames_of(error: BaseException) -> list[str]:
    """The frames of ``error`` and of what led to it, outermost first, each error by its class.

    No message: it may quote a question (pydantic's do), a row (Postgres's do) or a document.
    """
    chain: list[BaseException] = []
    led: BaseException | None = error
    while led is not None and len(chain) < _LONGEST_CHAIN:
        chain.append(led)
        led = led.__cause__ or (None if led.__suppress_context__ else led.__context__)
    return [line for one in reversed(chain) for line in _frames(one)]


def _frames(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)
    told = [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}' for frame in frames]
    return [*told, type(error).__name__]
