"""Frames: the events of a stream, whatever they hold and however its bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.client.errors import InvalidResponse
from helix.client.frames import Frame, FrameParser

_SEPARATORS = "\u2028 \u2029 \x85 \x0b \x0c \x1c 𝕏 é"
_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
_TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n") | st.sampled_from(_SEPARATORS)
)


def parsed(*parts: bytes) -> list[Frame]:
    parser = FrameParser()
    return [frame for part in parts for frame in parser.feed(part)]


def test_what_a_line_means() -> None:
    stream = (
        ': ping\n\nevent: token\ndata: {"t":"a"}\n\nid: 7\ndata:one\ndata:  two\n\n'
        "event: forgotten\n\nretry: 5\nunknown\ndata\n\ndata: cut"
    )
    assert parsed(stream.encode()) == [
        Frame("token", '{"t":"a"}'),
        Frame("message", "one\n two", "7"),
        Frame("message", "", "7"),
    ]
    assert parsed(b"data: 1\r", b"\n\r", b"\n") == [Frame("message", "1")]


@given(st.lists(st.tuples(_TEXT, _ENDS), max_size=4), st.lists(st.integers(0, 80), max_size=6))
def test_frames_depend_on_no_cut(said: list[tuple[str, str]], cuts: list[int]) -> None:
    whole = "".join(f"event: e{end}data: {data}{end}{end}" for data, end in said).encode() + b"\n"
    at = sorted({min(cut, len(whole)) for cut in cuts})
    parts = [whole[a:b] for a, b in zip([0, *at], [*at, len(whole)], strict=True)]
    assert parsed(*parts) == [Frame("e", data) for data, _ in said]


def test_data_that_is_no_json_is_said() -> None:
    assert Frame("token", '{"t":"\u2028"}').json() == {"t": "\u2028"}
    with pytest.raises(InvalidResponse):
        Frame("token", "<html>").json()
