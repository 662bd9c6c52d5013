"""BM25's terms made beforehand: believed where they are a row's, and written as those made here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.scope import DEFAULT_TENANT
from helix.language.identification import ENGLISH, SIMPLE
from helix.language.terms import term_counts
from helix.storage.packed_terms import (
    PackedTerms,
    TermRow,
    are_terms,
    digest_of,
    packed_terms,
    searched_text,
    term_row,
)
from tests.support.fake_embedder import nodes_of, opened, record, rows

TEXT = "Refunds take thirty days.\n\nShipping is free, and refunds of shipping are too.\n\nCall us."
ROW = term_row(term_counts("Refunds take thirty days, and refunds are free"))
PACKED = ROW.packed()


@given(st.text(max_size=200), st.sampled_from([ENGLISH, SIMPLE]), st.sampled_from(["default", "a"]))
def test_what_is_packed_is_believed(text: str, language: str, tenant: str) -> None:
    assert are_terms(packed_terms(text, language, tenant))


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        PACKED[:-1],
        PACKED + b"\0",
        TermRow(ROW.length, [0, *ROW.keys], ROW.impacts).packed(),
        TermRow(ROW.length, [1, *ROW.keys], ROW.impacts).packed(),
        TermRow(-1, ROW.keys, ROW.impacts).packed(),
        TermRow(ROW.length, ROW.keys, dict(reversed(ROW.impacts.items()))).packed(),
        TermRow(ROW.length, ROW.keys, {10**9: 0.5}).packed(),
        TermRow(ROW.length, ROW.keys, {3: float("nan")}).packed(),
        TermRow(ROW.length, ROW.keys, {3: 1.0}).packed(),
        TermRow(ROW.length, list(range(4, 60_006)), ROW.impacts).packed(),
    ],
    ids=[
        "nothing", "cut", "longer", "key of the chunks", "key of the terms", "length", "order",
        "slot", "no number", "impact", "too many keys",
    ],
)  # fmt: skip
def test_what_is_no_row_is_not_believed(packed: bytes) -> None:
    assert are_terms(PACKED)
    assert not are_terms(packed)


@given(st.binary(max_size=200) | st.integers(0, len(PACKED)).map(lambda at: PACKED[:at]))
def test_no_bytes_are_too_wild_to_be_judged(packed: bytes) -> None:
    assert are_terms(packed) == (packed == PACKED)


def test_a_digest_stands_for_text_language_and_tenant() -> None:
    inputs = [("a", "b", "c"), ("a", "c", "b"), ("b", "a", "c"), ("a c", "b", "c"), ("", "b", "c")]
    assert len({digest_of(*one) for one in inputs}) == len(inputs)


async def _stored(url: str, terms: PackedTerms) -> list[Any]:
    """The rows that a write of TEXT with ``terms`` leaves."""
    async with opened(url) as store:
        document = record("a.txt", TEXT)
        reserved = store.reserve("a.txt")
        await store.write(document, nodes_of(document, str(reserved)), reserved, terms=terms)
        stored = rows(url, "SELECT length, keys, impacts::text FROM chunk_terms ORDER BY chunk_id")
        store.clear()
    return stored


async def test_terms_made_beforehand_are_written_where_they_are_of_the_chunk(
    database_url: str,
) -> None:
    texts = [searched_text(None, None, content) for content in TEXT.split("\n\n")]
    key = [digest_of(text, ENGLISH, DEFAULT_TENANT) for text in texts]
    made = {key[n]: packed_terms(texts[n], ENGLISH, DEFAULT_TENANT) for n in range(3)}
    usual = await _stored(database_url, {})
    assert await _stored(database_url, made) == usual
    # the first chunk's terms say which language the document was read in, so another's are not its
    of_others = {digest_of(texts[2], SIMPLE, DEFAULT_TENANT): PACKED, key[1]: PACKED}
    [first, second, third] = await _stored(database_url, of_others)
    assert [first, third] == [usual[0], usual[2]]
    assert second[0] == ROW.length
