"""Recordings by their bytes: made here as browsers make them, cut and lied about."""

from __future__ import annotations

import io
import random
import struct
import wave

import pytest

from helix.study.voice.sounds import sound_of
from tests.support.recordings import flac, mp4, ogg, wav, webm


@pytest.mark.parametrize(
    ("data", "kind", "seconds"),
    [
        (wav(2.5), "audio/wav", 2.5),
        (flac(61.25), "audio/flac", 61.25),
        (ogg(3.0), "audio/ogg", 3.0),
        (ogg(3.0, vorbis=True), "audio/ogg", 3.0),
        (webm(4.5), "audio/webm", 4.5),
        (webm(700, told=3.0), "audio/webm", 700),
        (webm(2.0, told=12.0), "audio/webm", 12.0),
        (mp4(9.0), "audio/mp4", 9.0),
        (mp4(30.0, fragmented=True), "audio/mp4", 30.0),
    ],
)
def test_kind_and_length(data: bytes, kind: str, seconds: float) -> None:
    sound = sound_of(data)
    assert sound is not None and sound.type == kind
    assert sound.seconds == pytest.approx(seconds, abs=0.05)


def test_a_wav_of_a_recorder_that_was_cut_is_as_long_as_its_bytes() -> None:
    data = bytearray(wav(1.0))
    at = data.index(b"data") + 4
    data[at : at + 4] = b"\xff\xff\xff\xff"
    sound = sound_of(bytes(data))
    assert sound is not None and sound.seconds == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"RIFF", b"OggS", b"ftyp", b"\x1a\x45\xdf\xa3", b"fLaC" + bytes(40),
        b"RIFF\x00\x00\x00\x00WEBPVP8 ", b"ID3\x03" + bytes(90), b"<script>alert(1)</script>",
        b"%PDF-1.7", wav(0.0), b"OggS" + bytes(60), b"\x00\x00\x00\x18ftypmp42" + bytes(30),
        struct.pack(">I4s", 8, b"ftyp") + struct.pack(">I4s", 3, b"moov"),
    ],
)  # fmt: skip
def test_what_is_no_recording_or_has_no_length(data: bytes) -> None:
    assert sound_of(data) is None


@pytest.mark.parametrize("fillers", [50, 400_000])
@pytest.mark.parametrize(
    ("whole", "at", "filler"),
    [
        (webm(4.5), webm(4.5).index(b"\x1f\x43\xb6\x75"), b"\xec\x80"),
        (webm(4.5), webm(4.5).index(b"\x1f\x43\xb6\x75"), b"\xa0\x80"),
        (mp4(9.0), mp4(9.0).index(b"moov") - 4, struct.pack(">I4s", 8, b"free")),
        (mp4(9.0), mp4(9.0).index(b"moov") - 4, struct.pack(">I4s", 8, b"moof")),
        (wav(2.5), 12, struct.pack("<4sI", b"junk", 0)),
    ],
)
def test_parts_without_an_end_are_no_recording(
    whole: bytes, at: int, filler: bytes, fillers: int
) -> None:
    sound = sound_of(whole[:at] + filler * fillers + whole[at:])
    assert (sound is not None) == (fillers == 50)


def test_boxes_in_boxes_without_an_end_are_no_recording() -> None:
    deep, inner = 3000, b""
    for _ in range(deep):
        inner = struct.pack(">I4s", 8 + len(inner), b"moov") + inner
    assert sound_of(struct.pack(">I4s", 8, b"ftyp") + inner) is None


def test_damaged_recordings_are_read_or_refused() -> None:
    draw = random.Random(18)
    whole = [wav(0.2), flac(1), ogg(1), webm(3), mp4(2), mp4(3, fragmented=True)]
    read = 0
    for _ in range(600):
        data = bytearray(draw.choice(whole))
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        sound = sound_of(bytes(data[: draw.randint(1, len(data))]))
        read += sound is not None
        assert sound is None or sound.seconds > 0
    assert 50 < read < 600


def test_the_wav_is_one_that_python_reads() -> None:
    with wave.open(io.BytesIO(wav(1.0))) as recording:
        assert recording.getnframes() == recording.getframerate()
