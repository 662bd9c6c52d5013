"""Metrics: counts are right, labels are few and hold nobody's text, a scrape is safe."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import httpx
import psycopg
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from helix.answering.outcome import OutcomeRecorder
from helix.errors import UpstreamError
from helix.library.run_counts import RunCounts
from helix.providers.gemini.embedding import gemini_embedder
from helix.providers.retries import RetryPolicy
from helix.serving.middleware import RequestLog
from helix.settings import load_settings
from helix.telemetry.metrics import Metrics
from tests.support.live_server import emptied, live, new_content, upload, upload_ready
from tests.support.process_counters import retries
from tests.support.repository import ROOT
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import unavailable


def _sample(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def _samples(text: str) -> dict[str, float]:
    """By name and labels, as they are written."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(one.labels.items()))
            found[f"{one.name}{{{labels}}}"] = one.value
    return found


def test_a_route_is_its_template_and_what_is_unknown_is_other() -> None:
    metrics = Metrics()
    metrics.request("GET", "/v1/documents/{document_id}", 200, 0.02)
    metrics.request("BREW", None, 404, 0.001)
    labels = {"method": "GET", "route": "/v1/documents/{document_id}"}
    assert _sample(metrics, "helix_http_requests_total", **labels, status="200") == 1
    assert _sample(metrics, "helix_http_request_seconds_sum", **labels) == 0.02
    other = {"method": "other", "route": "other", "status": "404"}
    assert _sample(metrics, "helix_http_requests_total", **other) == 1
    assert _sample(Metrics(), "helix_http_requests_total", **other) is None, "each has its own"


async def _request(app: RequestLog, method: str, path: str) -> int:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return (await client.request(method, path)).status_code


async def test_the_middleware_counts_by_template_and_status() -> None:
    async def document(request: Request) -> Response:
        if request.path_params["document_id"] == "0":
            raise ZeroDivisionError
        return PlainTextResponse("x")

    metrics = Metrics()
    inner = Starlette(routes=[Route("/documents/{document_id}", document)])
    # a router that sets the route, as FastAPI's does
    app = RequestLog(inner, metrics)
    assert await _request(app, "GET", "/documents/17") == 200
    assert await _request(app, "GET", "/documents/0") == 500
    for number in range(30):
        assert await _request(app, "GET", f"/nobody/{number}") == 404
    text = metrics.exposition()[0].decode()
    assert "17" not in re.sub(r"[\d.e+-]+\n", "\n", text) and "nobody" not in text
    samples = _samples(text)
    assert samples["helix_http_requests_total{method=GET,route=other,status=404}"] == 30


def test_kinds_of_flags_are_bounded() -> None:
    metrics = Metrics()
    metrics.flagged(["instruction", "instruction", *(f"kind{number}" for number in range(50))])
    text = metrics.exposition()[0].decode()
    kinds = set(re.findall(r'helix_guard_flags_total\{kind="(\w+)"\}', text))
    assert len(kinds) == 21 and "other" in kinds
    assert _sample(metrics, "helix_guard_flags_total", kind="instruction") == 2
    assert _sample(metrics, "helix_guard_flags_total", kind="other") == 31


def test_verdicts_hygiene_and_receipts_are_counted() -> None:
    metrics = Metrics()
    for grounded in (True, True, False, None):
        metrics.judged(grounded)
    metrics.guard_removals.inc(3)
    metrics.receipt_failures.inc()
    assert _sample(metrics, "helix_verdicts_total", grounded="true") == 2
    assert _sample(metrics, "helix_verdicts_total", grounded="false") == 1
    assert _sample(metrics, "helix_verdict_failures_total") == 1
    assert _sample(metrics, "helix_guard_removals_total") == 3
    assert _sample(metrics, "helix_receipt_failures_total") == 1


@pytest.mark.parametrize(
    ("before", "error", "outcome"),
    [
        (UpstreamError("down"), None, "error"),
        (asyncio.CancelledError(), None, "left"),
        (None, UpstreamError("down"), "cut"),
        (None, GeneratorExit(), "left"),
        (None, None, "cut"),  # its error was dealt with inside the block
    ],
)
async def test_an_answer_that_fails_is_counted_once_by_how(
    before: BaseException | None, error: BaseException | None, outcome: str
) -> None:
    metrics = Metrics()
    recorder = OutcomeRecorder(metrics, 0.0)
    try:
        with recorder:
            if before:
                raise before
            recorder.first_token()
            if error:
                raise error
    except BaseException as raised:  # noqa: BLE001
        assert raised is (before or error)
    recorder.fail(RuntimeError())
    counts = _samples(metrics.exposition()[0].decode())
    answers = {k: v for k, v in counts.items() if k.startswith("helix_answers_total")}
    assert answers == {f"helix_answers_total{{outcome={outcome},reason=}}": 1}
    begun = _sample(metrics, "helix_first_token_seconds_count")
    assert begun == (0 if before else 1)


def test_both_formats() -> None:
    metrics = Metrics()
    metrics.judged(True)
    body, kind = metrics.exposition("text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    assert "helix_verdicts_total" in body.decode()
    body, kind = metrics.exposition("application/openmetrics-text;version=1.0.0;q=0.5")
    assert kind.startswith("application/openmetrics-text; version=1.0.0")
    assert body.endswith(b"# EOF\n") and list(open_metrics(body.decode()))  # type: ignore[no-untyped-call]


async def test_retries_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    with GeminiWire() as wire:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", wire.base_url)
        settings = load_settings(database_url="embedded", gemini_api_key="k")
        policy = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.01, budget=1.0)
        embedder = gemini_embedder(settings, policy=policy)
        before = retries("gemini")
        wire.script(unavailable(), unavailable(), on="embed")
        await embedder.model.aget_query_embedding("x")
        await embedder.aclose()
    assert retries("gemini") == before + 2


async def test_a_database_that_is_gone_is_told_and_nothing_old(database_url: str) -> None:
    ingest = RunCounts(database_url, open_seconds=0, ended_seconds=0)
    await ingest.refresh()
    assert {one.name for one in ingest.collect()} >= {"helix_ingest_queue_length"}
    ingest.url = "postgresql://nobody@127.0.0.1:9/none"
    await ingest.refresh()
    told = {one.name: [sample.value for sample in one.samples] for one in ingest.collect()}
    assert told["helix_database_up"] == [0.0]
    assert told["helix_ingest_files"] == [] and "helix_ingest_queue_length" not in told


async def test_the_queue_is_read_once_in_a_while(database_url: str) -> None:
    ingest = RunCounts(database_url)
    await asyncio.gather(ingest.refresh(), ingest.refresh())
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO runs (kind) VALUES ('upload')")
    await ingest.refresh()
    runs = next(one for one in ingest.collect() if one.name == "helix_ingest_runs")
    assert {one.labels["status"]: one.value for one in runs.samples}["queued"] == 0


@pytest.fixture
def sql(module_database_url: str) -> Iterator[psycopg.Connection]:
    with emptied(module_database_url) as connection:
        yield connection


def test_a_scrape_of_a_server_that_has_answered(
    module_database_url: str, sql: psycopg.Connection
) -> None:
    with live(module_database_url, retrieval_max_distance=2, retrieval="dense") as client:
        upload_ready(client, sql, b"Marmalade keeps for nineteen weeks in Trondheim.")
        upload(client, new_content(), tenant_id="acme-gmbh")
        client.get("/v1/documents/987654")
        client.get("/marmalade/nobody")
        about = {"question": "How long does marmalade keep in Trondheim?"}
        client.post("/v1/query", json=about)
        client.post("/v1/query", json={**about, "tenant_id": "nobodys"})
        client.post("/v1/query", json={**about, "document_ids": [987654]})
        client.get("/ask", params={"q": about["question"]})
        response = client.get("/metrics")
        again = client.get("/metrics", headers={"accept": "application/openmetrics-text"})
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert list(open_metrics(again.text))  # type: ignore[no-untyped-call]
    told = _samples(response.text)
    kept = sum(v for k, v in told.items() if k.startswith("helix_answers_total"))
    assert kept == 4
    assert told["helix_answers_total{outcome=refused,reason=no_documents}"] == 1
    assert told["helix_answers_total{outcome=refused,reason=filtered_empty}"] == 1
    assert told["helix_first_token_seconds_count{}"] == 4
    assert told["helix_stage_seconds_count{stage=search}"] == 4
    assert told["helix_tokens_total{kind=context}"] > 0
    assert told["helix_ingest_queue_length{}"] == 1
    assert told["helix_ingest_runs{status=queued}"] == 1
    assert told["helix_ingest_files{status=added}"] == 1
    assert told["helix_ingest_oldest_queued_seconds{}"] > 0
    assert told["helix_database_up{}"] == 1
    assert told["helix_database_connections_limit{pool=read}"] == 10
    assert told["helix_upstream_retries_total{service=gemini}"] >= 0
    template = "helix_http_requests_total{method=GET,route=/v1/documents/{document_id},status=404}"
    assert told[template] == 1
    assert told["helix_http_requests_total{method=GET,route=other,status=404}"] == 1
    private = "marmalade|trondheim|nineteen|acme|nobodys|987654"
    assert not re.search(private, response.text + again.text, re.IGNORECASE)


def test_every_metric_is_documented(database_url: str) -> None:
    metrics = Metrics()
    metrics.watch(RunCounts(database_url), lambda: {"read": {}})
    listed = (ROOT / "docs" / "observability.md").read_text()
    listed = listed.replace("`…_", "`helix_database_connections_")
    for family in metrics.registry.collect():
        assert f"`{family.name}" in listed, family.name


def test_metrics_can_be_turned_off(module_database_url: str) -> None:
    with live(module_database_url, metrics=False) as client:
        response = client.get("/metrics")
    assert response.status_code == 404 and "no route GET /metrics" in response.json()["error"]
