"""BM25's terms come from another process as the write would make them, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from helix.language.identification import ENGLISH
from helix.sandbox import NoAnswer
from helix.storage.packed_terms import digest_of, packed_terms
from pipelines.sandbox import Sandbox, terms

TEXTS = [f"Refund {n} takes {n} days, under § {n}." for n in range(40)]
ROWS = [packed_terms(text, ENGLISH, "acme") for text in TEXTS]


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    await sandbox.aclose()


async def test_terms_are_those_that_the_write_would_make(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.sandbox._TEXTS_AT_ONCE", 25)
    made = await sandbox.terms(TEXTS, ENGLISH, "acme")
    keys = [digest_of(text, ENGLISH, "acme") for text in TEXTS]
    assert made == dict(zip(keys, ROWS, strict=True))


async def test_a_process_that_fails_leaves_them_to_the_write(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(terms, "WORK", "pipelines.sandbox.terms:nothing")
    assert await sandbox.terms(TEXTS, ENGLISH, "acme") == {}
    assert "terms are made where they are written" in caplog.text
    assert TEXTS[0] not in caplog.text


@pytest.mark.parametrize(
    "rows", [ROWS[:-1], [*ROWS[:-1], ROWS[0][:-1]], [*ROWS, ROWS[0]]], ids=["few", "torn", "many"]
)
def test_rows_that_are_not_those_asked_for_are_not_believed(rows: list[bytes]) -> None:
    with pytest.raises(NoAnswer):
        terms.checked(rows, TEXTS, ENGLISH, "acme")


@pytest.mark.parametrize("body", [b"", b"\0\0\0", b"\0\0\0\2a", b"\0\0\0\1ab"])
def test_a_frame_that_does_not_end_with_a_row_is_refused(body: bytes) -> None:
    with pytest.raises(NoAnswer):
        list(terms._rows_of(bytearray(body)))
