"""Logs: as text or JSON, an object a line; no question, key or document text at any level."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
import uvicorn

from helix.protocols.mcp_server import build_server
from helix.settings import load_settings
from helix.store import ChunkStore
from helix.telemetry.logs import (
    LogFormat,
    configure_logging,
    format_server_lines,
    frames_of,
    request_id,
)
from helix.telemetry.tracing import request_span
from pipelines.runs.worker import open_worker
from tests.support.fake_embedder import nodes_of, record
from tests.support.live_server import live
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, unavailable

KEY = "wire-key-of-the-log-test"
TEXT = "Marmalade parcels reach Trondheim within nineteen weekdays of the purchase."
QUESTION = "How soon do marmalade parcels reach Trondheim?"
PRIVATE = re.compile(f"marmalade|trondheim|nineteen|weekdays|parcels reach|{KEY}", re.IGNORECASE)
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(autouse=True)
def _unconfigured() -> Iterator[None]:
    """No handler, as a process begins; logging is as it was afterwards."""
    loggers = [logging.getLogger(name) for name in ("", "helix", "pipelines", "uvicorn")]
    before = [(one, one.level, list(one.handlers)) for one in loggers]
    for one in loggers:
        one.handlers = []
    yield
    for one, level, handlers in before:
        one.setLevel(level)
        one.handlers = handlers


@pytest.fixture(scope="module")
def filled(module_database_url: str) -> str:
    store = ChunkStore(module_database_url, "gemini:gemini-embedding-001:1536")
    document = record("parcels.txt", TEXT)
    reference = store.reserve(document.source_uri)
    store.stage(str(reference), document)
    store.add(nodes_of(document, str(reference)))
    store.connections.close_writing()
    return module_database_url


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_full_answer_at_debug_leaves_no_text_in_the_log(
    log_format: LogFormat,
    capsys: pytest.CaptureFixture[str],
    filled: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's, of this very call
    for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)
    with GeminiWire() as wire:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", wire.base_url)
        wire.script(unavailable(), on="generate")  # tried again, which is told
        with live(
            filled, llm="gemini", embedder="gemini", gemini_api_key=KEY, rewrite=True,
            retrieval_max_distance=0.9, log_level="debug", log_format=log_format,
        ) as client:  # fmt: skip
            headers = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Request-ID": "r-1"}
            asked = {"question": QUESTION, "debug": True}
            answer = client.post("/v1/query", json=asked, headers=headers).json()
            streamed = client.get("/ask", params={"q": QUESTION}).text
            wire.script(Answer(deltas=("Marmalade", " parcels"), finish=None), on="generate")
            client.get("/ask", params={"q": f"{QUESTION} Cut."})
            client.post("/v1/query", json={"question": QUESTION, "top_k": "marmalade"})
    assert "nineteen" in answer["answer"] and "nineteen" in streamed
    written = capsys.readouterr().err
    assert "trying again" in written and "POST /v1/query 200" in written
    assert not PRIVATE.search(written)
    if log_format == "json":
        told = [json.loads(line) for line in written.splitlines()]
        assert {"r-1"} < {one["request_id"] for one in told}
        assert {one["trace_id"] for one in told if one["request_id"] == "r-1"} == {TRACE}


def test_json_is_one_object_a_line_with_all_fields(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's, of this very call
    configure_logging("info", "json")
    request_id.set("r-2")
    traced = (b"traceparent", f"00-{TRACE}-00f067aa0ba902b7-01".encode())
    with request_span(None, "GET", [traced]):
        logging.getLogger("helix.part").warning('two\nlines, a "quote", \x1b[31m and %s', "süß")
    logging.getLogger("helix.part").debug("below the level")
    logging.getLogger("someone.elses").warning("a library's")
    first, second = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.pop("time"))
    assert first == {
        "level": "warning", "logger": "helix.part", "request_id": "r-2", "trace_id": TRACE,
        "message": 'two\nlines, a "quote", \x1b[31m and süß',
    }  # fmt: skip
    assert second["logger"] == "someone.elses"


def test_text_stays_as_it_was_and_the_level_can_change(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("warning")
    configure_logging("info")
    request_id.set("r-3")
    logging.getLogger("pipelines.part").info("told\n\tin %s", "one\r\nline")
    [line] = capsys.readouterr().err.splitlines()
    told = r"[-\d]+ [\d:]+,\d{3} INFO pipelines\.part \[r-3\] told \tin one line"
    assert re.fullmatch(told, line)


def test_the_lines_of_a_server_are_json_too() -> None:
    configure_logging("warning", "json")
    uvicorn.Config("helix.app:app")  # gives its loggers handlers of their own
    format_server_lines()
    (handler,) = logging.getLogger("uvicorn").handlers
    line = handler.format(logging.makeLogRecord({"name": "uvicorn.error", "msg": "started"}))
    assert json.loads(line)["message"] == "started"


async def test_the_engine_of_a_worker_logs_in_the_form_of_all_else(
    database_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's, of this very call
    configure_logging("warning", "json")
    settings = load_settings(
        database_url=database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline"
    )
    async with open_worker(settings):
        logging.getLogger("dbos").error("a problem")
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["message"] for one in told if one["logger"] == "dbos"] == ["a problem"]


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_library_that_sets_up_logging_repeats_no_line(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's, of this very call
    configure_logging("info", log_format)
    build_server()  # the MCP SDK calls basicConfig
    logging.getLogger("helix.part").info("told once")
    logging.getLogger("someone.elses").warning("a library's")
    first, second = capsys.readouterr().err.splitlines()
    assert "told once" in first and "a library's" in second and "someone.elses" in second


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_an_error_is_told_by_its_frames_and_not_by_what_it_says(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging("info", log_format)
    try:
        try:
            int(QUESTION)
        except ValueError as error:
            raise RuntimeError(TEXT) from error
    except RuntimeError as error:
        logging.getLogger("helix.part").exception("unexpected error")
        frames = frames_of(error)
    written = capsys.readouterr().err
    assert not PRIVATE.search(written)
    assert "unexpected error" in written and "test_logs.py" in written
    assert frames[1] == "ValueError" and frames[-1] == "RuntimeError"
    assert written.index("ValueError") < written.index("RuntimeError")


def test_a_handler_of_somebody_elses_stays_alone(capsys: pytest.CaptureFixture[str]) -> None:
    theirs = logging.StreamHandler(io.StringIO())
    theirs.setFormatter(logging.Formatter("%(message)s"))
    logging.getLogger("helix").addHandler(theirs)
    configure_logging("info")
    logging.getLogger("helix.part").info("told")
    assert capsys.readouterr().err == "" and theirs.stream.getvalue() == "told\n"


def test_others_do_not_repeat_a_line_while_ours_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's, of this very call
    configure_logging("info")
    for _ in range(3):
        logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "read", "refused")
        logging.getLogger("helix.app").warning("asked again")
    logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "write", "refused")
    err = capsys.readouterr().err
    assert err.count("error connecting in 'read': refused") == 1
    assert err.count("error connecting in 'write': refused") == 1
    assert err.count("asked again") == 3


def test_another_error_under_the_same_line_is_no_repeat(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    configure_logging("info")
    for kind in (KeyError, ValueError, ValueError):
        try:
            raise kind
        except kind:
            logging.getLogger("some.library").exception("it failed")
    err = capsys.readouterr().err
    assert (err.count("\nKeyError\n"), err.count("\nValueError\n")) == (1, 1)


def test_a_line_that_cannot_be_made_fails_nobody(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    configure_logging("info")
    logging.getLogger("psycopg.pool").warning("%d attempts", "three")
    assert "--- Logging error ---" in capsys.readouterr().err


def test_a_line_is_written_again_once_the_clock_was_set_back(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    configure_logging("info")
    for created in (1000.0, 1005.0, 400.0):
        told = {"name": "psycopg.pool", "levelno": 30, "msg": "away", "created": created}
        logging.getLogger().handle(logging.makeLogRecord(told))
    assert capsys.readouterr().err.count("away") == 2
