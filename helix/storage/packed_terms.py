"""The terms of a chunk as ``chunk_terms`` has them, packed for COPY; without a database at hand.

A process that reads files makes them (pipelines/sandbox), and whoever writes copies their bytes.

``keys`` are what the inverted index has. A term has one 64-bit key, and one more at 2, 4 and 8
occurrences each, so that of a frequent term only the chunks that it matters most in need be read.
``impacts`` holds ``tf / (tf + K)`` of each term, K by the chunk's length at a nominal mean length:
one inner product orders candidates, and tf, which true BM25 needs, can be read back from it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from operator import itemgetter
from struct import Struct
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from helix.domain.scope import DEFAULT_TENANT
from helix.language.identification import ENGLISH, OTHERS
from helix.language.terms import term_counts

K1 = 0.9
B = 0.4
"""BM25's parameters, those of Anserini for BEIR, which measured best on SciFact too."""
NOMINAL_LENGTH = 200.0
"""Terms of a chunk that ``impacts`` takes for the mean; it is in stored rows: do not change it."""
_MOST_TERMS = 15_000  # a sparsevec holds 16,000 numbers; no chunk that Helix makes has as many
SLOTS = 10**9
"""Dimensions of ``impacts``: a term's slot is its key modulo this."""
LEVELS = (1, 2, 4, 8)
"""Occurrences at which a term has a further key."""

PackedTerms = Mapping[bytes, bytes]
"""Packed terms by ``digest_of`` what they are the terms of."""
NO_TERMS: PackedTerms = MappingProxyType({})

_INT8 = 20  # the type's number in every Postgres
_ELEMENT = np.dtype([("size", ">i4"), ("key", ">i8")])
_LENGTH, _ARRAY, _SPARSE = Struct(">ii"), Struct(">iiiiii"), Struct(">iiii")


@lru_cache(maxsize=2**17)
def key_of(term: str, tenant: str = DEFAULT_TENANT) -> int:
    """The key of a tenant's term at its first occurrence; its lowest two bits are 0, for levels'.

    Each tenant has keys of its own, so that looking one up reads nobody else's chunks.
    """
    salt = b"" if tenant == DEFAULT_TENANT else blake2b(tenant.encode(), digest_size=16).digest()
    encoded = term.encode("utf-8", "surrogatepass")
    digest = blake2b(encoded, digest_size=8, key=salt).digest()
    return int.from_bytes(digest, "big", signed=True) & ~3


def language_key(language: str, tenant: str = DEFAULT_TENANT) -> int:
    """The key that every chunk in a language has: a search reads by it which ones a tenant has.

    It is no term's, which have no NUL.
    """
    return key_of(f"\0{language}", tenant)


def slot_of(key: int) -> int:
    """The dimension of ``impacts``, from 0, that a term's key has."""
    return (key >> 2) % SLOTS


class TermRow(NamedTuple):
    """The row of ``chunk_terms`` for a chunk; ``impacts`` by slot, ascending."""

    length: int
    keys: list[int]
    impacts: dict[int, float]

    def packed(self) -> bytes:
        """Its three fields as binary COPY takes them: the size of each, and its bytes.

        An array is (dimensions, nulls, type, size, first index) and its fields; a sparsevec
        (dimensions, numbers, 0), their places and the numbers (pgvector's sparsevec_recv).
        """
        keys, slots = len(self.keys), len(self.impacts)
        elements = np.empty(keys, _ELEMENT)
        elements["size"], elements["key"] = 8, self.keys
        return b"".join(
            (
                _LENGTH.pack(4, self.length),
                _ARRAY.pack(20 + 12 * keys, 1, 0, _INT8, keys, 1), elements.tobytes(),
                _SPARSE.pack(12 + 8 * slots, SLOTS, slots, 0),
                np.fromiter(self.impacts, ">i4", slots).tobytes(),
                np.fromiter(self.impacts.values(), ">f4", slots).tobytes(),
            )
        )  # fmt: skip


def term_row(
    counts: Mapping[str, int], tenant: str = DEFAULT_TENANT, language: str = ENGLISH
) -> TermRow:
    """The row of a tenant's chunk that has each of these terms so often (``term_counts``).

    In another language than English it has the key of that too.
    """
    length = sum(counts.values())
    softening = K1 * (1 - B + B * length / NOMINAL_LENGTH)
    most = sorted(counts.items(), key=itemgetter(1), reverse=True)[:_MOST_TERMS]
    keys = [language_key(language, tenant)] if language in OTHERS else []
    impacts: dict[int, float] = {}
    for term, count in most:
        key = key_of(term, tenant)
        keys.append(key)
        if count > 1:
            keys += [key + level for level, least in enumerate(LEVELS[1:], 1) if count >= least]
        impacts[(key >> 2) % SLOTS] = count / (count + softening)
    # numbers alone are sorted several times as quickly as pairs
    return TermRow(length, keys, {slot: impacts[slot] for slot in sorted(impacts)})


def searched_text(title: str | None, context: str | None, content: str) -> str:
    """The text that a chunk is found by: its own, with the title and headings above it."""
    return "\n".join(str(part) for part in (title, context, content) if part)


def packed_terms(text: str, language: str, tenant: str) -> bytes:
    """The terms of a tenant's chunk that is found by ``text`` (``searched_text``)."""
    return term_row(term_counts(text, language), tenant, language).packed()


def digest_of(text: str, language: str, tenant: str) -> bytes:
    """A digest of the input of ``packed_terms``: equal digests have equal output."""
    key = blake2b(f"{language} {tenant}".encode(), digest_size=16)
    key.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return key.digest()


def are_terms(packed: bytes) -> bool:
    """True if these bytes are a row as ``TermRow.packed`` makes it; for bytes from elsewhere."""
    try:
        size, length = _LENGTH.unpack_from(packed)
        array, dimensions, nulls, kind, keys, first = _ARRAY.unpack_from(packed, _LENGTH.size)
        at = _LENGTH.size + _ARRAY.size
        elements = np.frombuffer(packed, _ELEMENT, keys, at)
        at += elements.nbytes
        sparse, slots_most, slots, unused = _SPARSE.unpack_from(packed, at)
        places = np.frombuffer(packed, ">i4", slots, at + _SPARSE.size)
        impacts = np.frombuffer(packed, ">f4", slots, at + _SPARSE.size + places.nbytes)
    except (struct.error, ValueError):
        return False
    numbers = (size, array, dimensions, nulls, kind, first, sparse, slots_most, unused)
    right = (4, 20 + 12 * keys, 1, 0, _INT8, 1, 12 + 8 * slots, SLOTS, 0)
    whole = len(packed) == at + _SPARSE.size + 8 * slots
    if not (whole and numbers == right and length >= 0 and 0 <= keys <= len(LEVELS) * _MOST_TERMS):
        return False
    # keys 0 to 3 are no term's: what is counted of a tenant as a whole is under the first two
    fields = (elements["size"] == 8).all() and (elements["key"] >> 2 != 0).all()
    in_order = (np.diff(places.astype(np.int64)) > 0).all() and (places >= 0).all()
    in_bounds = (places < SLOTS).all() and ((impacts > 0) & (impacts < 1)).all()
    return bool(slots <= _MOST_TERMS and fields and in_order and in_bounds)
