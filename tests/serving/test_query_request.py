"""The JSON of POST /v1/query: what is taken, and the one line that refuses anything else."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from helix.domain.scope import Scope
from helix.errors import BadRequest
from helix.serving.query_request import query_request


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("", "body"), ("[]", "body"), ("{", "body"), ("\x00", "body"), ("null", "body"),
        ("[" * 9999, "body"),
        ('{"question":"\\ud800"}', "body"), ("{}", "question"), ('{"question":null}', "question"),
        ('{"question":[]}', "question"), ('{"question":" \\u200b"}', "question"),
        ('{"question":"%s"}' % ("x" * 4001), "question"),
        ('{"question":"a","q":1}', '"q"'), ('{"question":"a","top_k":0}', "top_k"),
        ('{"question":"a","top_k":51}', "top_k"), ('{"question":"a","top_k":"5"}', "top_k"),
        ('{"question":"a","top_k":5.0}', "top_k"), ('{"question":"a","top_k":true}', "top_k"),
        ('{"question":"a","document_ids":[]}', "document_ids"),
        ('{"question":"a","document_ids":7}', "document_ids"),
        ('{"question":"a","document_ids":["7"]}', "document_ids"),
        ('{"question":"a","document_ids":[-1]}', "document_ids"),
        ('{"question":"a","document_ids":[9223372036854775808]}', "document_ids"),
        ('{"question":"a","document_ids":%s}' % ([1] * 1001), "document_ids"),
        ('{"question":"a","tenant_id":"a b"}', "tenant_id"),
        ('{"question":"a","tenant_id":""}', "tenant_id"),
        ('{"question":"a","conversation_id":5}', "conversation_id"),
        ('{"question":"a","conversation_id":"%s"}' % ("x" * 201), "conversation_id"),
        ('{"question":"a","space":true}', "space"), ('{"question":"a","space":1.5}', "space"),
        ('{"question":"a","space":%s}' % ("1" * 101), "space"),
        ('{"question":"a","debug":1}', "debug"), ('{"question":"a","stream":"yes"}', "stream"),
        ('{"question":"a","filters":[]}', "filters"),
        ('{"question":"a","filters":{"tag":["a"]}}', '"filters.tag"'),
        ('{"question":"a","filters":{"source_prefix":""}}', "filters.source_prefix"),
        ('{"question":"a","filters":{"source_prefix":"a\\u0000"}}', "filters.source_prefix"),
        ('{"question":"a","filters":{"tags":"a"}}', "filters.tags"),
        ('{"question":"a","filters":{"tags":[]}}', "filters.tags"),
        ('{"question":"a","filters":{"tags":["a","\\n"]}}', "filters.tags"),
        ('{"question":"a","filters":{"since":"2026-01-01"}}', "filters.since"),
        ('{"question":"a","filters":{"since":"2026-01-01T00:00:00"}}', "filters.since"),
        ('{"question":"a","filters":{"since":1767225600}}', "filters.since"),
        ('{"question":"a","filters":{"until":"2026-02-30T00:00:00Z"}}', "filters.until"),
        ('{"question":"a","as_of":"0001-01-01T00:00:00+01:00"}', "as_of"),
    ],
)  # fmt: skip
def test_a_bad_request_is_one_line_that_names_the_key(body: str, named: str) -> None:
    with pytest.raises(BadRequest) as refused:
        query_request(body.encode(), 4000)
    assert "\n" not in str(refused.value) and named in str(refused.value)


def test_what_is_asked_for() -> None:
    sent = {
        "question": " a? ", "tenant_id": None, "top_k": 50, "document_ids": [0, 2**63 - 1],
        "filters": {
            "source_prefix": "a/ %", "tags": [" b ", "c", "b"],
            "since": "2026-01-31t09:00:00.5z", "until": "2026-01-31T09:00:00-11:30",
        },
        "conversation_id": "", "debug": False, "stream": True,
    }  # fmt: skip
    asked = query_request(json.dumps(sent).encode(), 4)
    assert (asked.question, asked.top_k, asked.conversation_id) == (" a? ", 50, "")
    assert (asked.debug, asked.stream, asked.tenant_id) == (False, True, None)
    since = datetime(2026, 1, 31, 9, 0, 0, 500000, UTC)
    until = datetime(2026, 1, 31, 20, 30, tzinfo=UTC)
    assert asked.scope("t") == Scope("t", (0, 2**63 - 1), "a/ %", ("b", "c"), since, until)
    assert query_request(b'{"question":"a"}', 1).scope("t") == Scope("t")
    assert query_request(b'{"question":"a","space":1}', 1).space == "1"
    assert query_request(b'\xef\xbb\xbf{"question":"a"}', 1).question == "a"


def test_a_number_of_chunks_that_is_written_topk_is_brought_into_its_range() -> None:
    for sent, read in ((-3, 1), (0, 1), (5, 5), (8, 8), (10**30, 8)):
        clamped = query_request(f'{{"question":"a","topK":{sent}}}'.encode(), 100)
        assert clamped.top_k == read
    with pytest.raises(BadRequest, match="topK"):
        query_request(b'{"question":"a","topK":"5"}', 100)


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    for body in ('{"question":"a","top_k":"secret"}', '{"question":"a","tenant_id":"secret!"}'):
        with pytest.raises(BadRequest) as refused:
            query_request(body.encode(), 10)
        assert "secret" not in str(refused.value)
