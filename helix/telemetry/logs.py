"""Logging: one line an event, with its request's id, as text or JSON (HELIX_LOG_FORMAT).

No line has a question, a document's text or a key.
"""

from __future__ import annotations

import contextvars
import json
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal

from helix.telemetry.tracing import request_trace_id

LogFormat = Literal["text", "json"]

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")

_OURS = ("helix", "pipelines")
_LONGEST_CHAIN = 10
_QUIET_SECONDS = 10.0
_MOST_LINES = 1000

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def _is_of_others(record: logging.LogRecord) -> bool:
    """True if another library logs: our own loggers have handlers besides the root logger's."""
    return record.name.partition(".")[0] not in _OURS


class _RepeatFilter:
    """A filter of lines written in the last ten seconds, word for word and of the same error.

    While the database is away its pools say so of every attempt to connect, many times a second.
    """

    def __init__(self) -> None:
        self._written: dict[tuple[str, ...], float] = {}

    def __call__(self, record: logging.LogRecord) -> bool:
        try:
            line = (record.name, record.getMessage(), *_frames(record))
        except Exception:  # noqa: BLE001 - a call of logging that is wrong: the handler says so
            return True
        written = self._written.get(line)
        if written is not None and 0 <= record.created - written < _QUIET_SECONDS:
            return False
        if len(self._written) >= _MOST_LINES:
            self._written.clear()
        self._written[line] = record.created
        return True


def _frames(record: logging.LogRecord) -> list[str]:
    return frames_of(record.exc_info[1]) if record.exc_info and record.exc_info[1] else []


class _StandardError(logging.Handler):
    """Writes to ``sys.stderr`` as it is when the line is written."""

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
        # another handler may have cached a traceback there, with the error's message
        record.exc_text = None
        record.request_id = request_id.get()
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        # psycopg's have lines of Postgres, and a request must not write a line of its own
        return " ".join(super().formatMessage(record).splitlines())

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's own name
        return "\n".join(frames_of(ei[1])) if ei[1] else ""


class JsonFormatter(logging.Formatter):
    """One JSON object: time (RFC 3339, UTC, milliseconds), level, logger, ids, message.

    An error's frames are in ``stack``, outermost first, without the error's message.
    """

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": request_id.get(),
            "trace_id": request_trace_id() or "-",
            "message": record.getMessage(),
        }
        if frames := _frames(record):
            line["stack"] = frames
        return json.dumps(line, ensure_ascii=True)


def configure_logging(level: str, log_format: LogFormat = "text") -> None:
    """Send what `helix` and `pipelines` log to standard error at ``level``, and others' warnings.

    A handler that other code gave them stays, and ours is not added. Called again, it changes
    level and format. As JSON, lines of the HTTP server are JSON too. The root logger has a handler
    in either format: a library's ``basicConfig`` (that of the MCP SDK, by its first request) would
    repeat each line there in another form, with tracebacks that quote questions.
    """
    formatter = JsonFormatter() if log_format == "json" else _Text()
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.setLevel(level.upper())
        _set_handler(logger, formatter)
    _set_handler(logging.getLogger(), formatter, _is_of_others, _RepeatFilter())
    format_server_lines()


def format_server_lines() -> None:
    """Have lines of the HTTP server be JSON where Helix's are: uvicorn sets handlers of its own."""
    ours = (handler.formatter for handler in logging.getLogger(_OURS[0]).handlers)
    formatter = next((one for one in ours if isinstance(one, JsonFormatter)), None)
    if formatter:
        for handler in logging.getLogger("uvicorn").handlers:
            handler.setFormatter(formatter)


def _set_handler(
    logger: logging.Logger,
    formatter: logging.Formatter,
    *line_filters: Callable[[logging.LogRecord], bool],
) -> None:
    ours = [old for old in logger.handlers if isinstance(old, _StandardError)]
    for old in ours:
        old.setFormatter(formatter)
    if not ours and not any(old.formatter for old in logger.handlers):
        handler = _StandardError()
        handler.setFormatter(formatter)
        for line_filter in line_filters:
            handler.addFilter(line_filter)
        logger.addHandler(handler)


def silence_access_log() -> None:
    """Turn off uvicorn's access log: it prints the query string, and that is the question."""
    access = logging.getLogger("uvicorn.access")
    access.handlers.clear()
    access.propagate = False


def where(error: BaseException) -> str:
    """The class and place of ``error``, and the SQLSTATE of a database's error or its consequence.

    Not its message, which may hold text of a document.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    cause = error.__cause__
    state = getattr(error, "sqlstate", None) or getattr(cause, "sqlstate", None)
    return f"{type(error).__name__}{place}{f', {state}' if state else ''}"


def frames_of(error: BaseException) -> list[str]:
    """The frames of ``error`` and its causes, outermost first, each error by its class.

    No message: it may quote a question (pydantic's do), a row (Postgres's do) or a document.
    """
    lines: list[str] = []
    cause: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if cause is None:
            break
        frames = traceback.extract_tb(cause.__traceback__)
        places = [f'  File "{at.filename}", line {at.lineno}, in {at.name}' for at in frames]
        lines = [*places, type(cause).__name__, *lines]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return lines
