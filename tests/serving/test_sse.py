"""Frames and markers: any text, cut into deltas anyhow, gives the same text and citations."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import AsyncGenerator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helix.answering.stream import AnswerStream
from helix.domain.citations import cite, is_refusal, marker_numbers, snippet
from helix.domain.context import Source
from helix.domain.contract import REFUSAL, Citation
from helix.domain.gate import GateDecision, decide
from helix.domain.records import Hit
from helix.domain.retrieval import Retrieval, SearchSpace, Trace
from helix.serving.sse import citations_frame, token_frame


def hit(n: int, content: str = "Some text.") -> Hit:
    return Hit(100 + n, 1, f"Title {n}", "a.txt", n, content, 0, len(content), f"node{n}", 0.1)


HITS = [hit(n) for n in range(1, 6)]

_markers = st.sampled_from(
    ["[1]", "[2, 3]", "[1][4]", "[ 5 ,1]", "[9]", "[0]", "[x]", "[", "]", "1,"]
)
_texts = st.lists(st.one_of(st.text(), _markers, st.just("\n"), st.just("é☃𝕏\r\n\u2028"))).map(
    "".join
)

CUTTINGS = 4
"""In how many ways each text is cut: finding a text takes longer than all else of a case."""


def cut(text: str, draw: random.Random) -> list[str]:
    """``text`` in one to nine deltas, some of them empty."""
    cuts = sorted(draw.randint(0, len(text)) for _ in range(draw.randint(0, 8)))
    return [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]


def parse_stream(stream: bytes) -> tuple[str, list[Citation]]:
    """The text and citations that a client reads, by the rules of server-sent events."""
    text, citations = "", None
    for frame in stream.decode().removesuffix("\n\n").split("\n\n"):
        lines = frame.split("\n")
        payload = json.loads(lines[-1].removeprefix("data: "))
        if lines[0] == "event: citations":
            assert citations is None and len(lines) == 2
            citations = payload
        else:
            assert len(lines) == 1 and list(payload) == ["t"]
            text += payload["t"]
    assert citations is not None
    return text, citations


async def _streamed(deltas: list[str]) -> bytes:
    async def generate() -> AsyncGenerator[str, None]:
        for delta in deltas:
            yield delta

    stream = AnswerStream(
        generate(),
        Retrieval(
            HITS,
            GateDecision(True, 0.1),
            Trace(),
            SearchSpace("fake", 0.5),
            sources=[Source(hit, (hit,), hit.content, None, None) for hit in HITS],
        ),
    )
    await stream.prime()
    frames = [token_frame(delta) async for delta in stream]
    return b"".join([*frames, citations_frame(stream.citations)])


@settings(max_examples=1000 // CUTTINGS)
@given(_texts, st.integers(0, 2**32))
def test_any_split_into_deltas_gives_the_same_text_and_citations(text: str, seed: int) -> None:
    asyncio.run(_check_cuttings(text, random.Random(seed)))


@pytest.mark.soak
@settings(max_examples=1000)
@given(_texts, st.integers(0, 2**32))
def test_any_split_of_a_thousand_texts(text: str, seed: int) -> None:
    asyncio.run(_check_cuttings(text, random.Random(seed)))


async def _check_cuttings(text: str, draw: random.Random) -> None:
    for _ in range(CUTTINGS):
        streamed_text, citations = parse_stream(await _streamed(cut(text, draw)))
        assert streamed_text == text
        assert citations == cite(text, HITS)
        assert [c["n"] for c in citations] == [n for n in marker_numbers(text) if 1 <= n <= 5]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters()))
@example("\u2028a\u2029b\x85")
def test_a_frame_is_one_line_of_json_whatever_the_text(text: str) -> None:
    frame = token_frame(text)
    assert frame.startswith(b"data: {") and frame.endswith(b"}\n\n")
    assert frame.count(b"\n") == 2 and b"\r" not in frame
    assert len(frame.decode().splitlines()) == 2  # as httpx has lines
    assert json.loads(frame[6:]) == {"t": text}


def test_lone_surrogates_travel_as_escapes() -> None:
    assert json.loads(token_frame("a\ud800b")[6:]) == {"t": "a\ud800b"}


def test_frames_to_the_byte() -> None:
    assert token_frame("Refunds are accepted within ") == (
        b'data: {"t":"Refunds are accepted within "}\n\n'
    )
    citation = Citation(n=1, chunk_id=42, document_title="Refund Policy", snippet="Refunds … days…")
    assert (
        citations_frame([citation])
        == (
            'event: citations\ndata: [{"n":1,"chunk_id":42,"document_title":"Refund Policy",'
            '"snippet":"Refunds … days…"}]\n\n'
        ).encode()
    )
    assert citations_frame([]) == b"event: citations\ndata: []\n\n"


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("A [1]. B [1, 2]. C [3][2].", [1, 2, 3]),
        ("[2] before [1]", [2, 1]),
        ("[1,2,3]", [1, 2, 3]),
        ("[ 4 , 1 ]", [4, 1]),
        ("[01]", [1]),
        ("[1-3] [a] [1.5] [] [,1] [1,] (1) [1;2]", []),
        ("split [\n1]", [1]),
        ("[١]", []),
        ("[99999999999999999999]", []),
    ],
)
def test_markers(answer: str, numbers: list[int]) -> None:
    assert marker_numbers(answer) == numbers


def test_a_marker_beyond_the_sources_is_not_cited() -> None:
    assert [c["n"] for c in cite("[7][2][0][6]", HITS)] == [2]
    assert list(cite("[2]", HITS)[0]) == ["n", "chunk_id", "document_title", "snippet"]


@pytest.mark.parametrize(
    "answer",
    [
        REFUSAL,
        f" {REFUSAL}\n",
        f'"{REFUSAL}"',
        f"{REFUSAL} [1]",
        f"{REFUSAL[:-1]} [1].",
        f"{REFUSAL} [1], [2]",
        f"**{REFUSAL}** [1]",
        REFUSAL.replace("'", "’"),
    ],
)
def test_a_refusal_cites_nothing(answer: str) -> None:
    assert is_refusal(answer)
    assert cite(answer, HITS) == []


def test_an_answer_that_mentions_the_refusal_is_none() -> None:
    assert not is_refusal(f"It rains [1]. {REFUSAL}")


@given(st.text(min_size=0, max_size=600))
def test_a_snippet_is_a_prefix_of_about_160_characters(content: str) -> None:
    short = snippet(content)
    assert content.startswith(short.removesuffix("…")) and len(short) <= 161
    assert short == content or short.endswith("…")


def test_a_snippet_is_cut_between_words() -> None:
    assert snippet("word " * 100) == ("word " * 32).rstrip() + "…"
    assert snippet("x" * 500) == "x" * 160 + "…"


@given(st.lists(st.floats(0, 2)), st.floats(0, 2), st.floats(0, 2))
def test_a_tighter_gate_never_admits_more(distances: list[float], a: float, b: float) -> None:
    tight, loose = sorted((a, b))
    assert decide(distances, tight).passed <= decide(distances, loose).passed


def test_the_gate() -> None:
    nan = float("nan")
    assert decide([], 2.0) == GateDecision(False, None)
    assert decide([nan, nan], 2.0) == GateDecision(False, None)
    assert decide([nan, 0.5], 0.5) == GateDecision(True, 0.5)
    assert decide([0.50001], 0.5) == GateDecision(False, 0.50001)
