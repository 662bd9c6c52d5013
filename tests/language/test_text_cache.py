"""Readings of texts are cached: the same result, in bounded memory, by several threads too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from helix.language.text_cache import TextCache, text_cache


def test_a_text_that_is_kept_is_not_read_again() -> None:
    asked: list[str] = []

    @text_cache(most_bytes=10_000, bytes_a_character=1)
    def read(text: str) -> str:
        asked.append(text)
        return text.upper()

    assert [read("a chunk"), read("a chunk"), read("another")] == ["A CHUNK", "A CHUNK", "ANOTHER"]
    assert asked == ["a chunk", "another"]
    read.clear()
    assert read("a chunk") == "A CHUNK"
    assert (asked[2:], len(read)) == (["a chunk"], 1)


def test_what_was_not_asked_for_longest_makes_room() -> None:
    room = TextCache(len, most_bytes=2_000, bytes_a_character=4)
    for text in ("a" * 50, "b" * 50, "a" * 50, "c" * 50):  # 750 bytes each: two have room
        room(text)
    assert ("a" * 50 in room, "b" * 50 in room, "c" * 50 in room) == (True, False, True)


def test_the_size_stays_below_the_most_whatever_comes() -> None:
    room = TextCache(len, most_bytes=50_000, bytes_a_character=10)
    for number in range(1_000):
        assert room(str(number) * (number % 300 + 1)) == len(str(number)) * (number % 300 + 1)
        assert 0 <= room.size <= 50_000
    assert room("a" * 100_000) == 100_000  # too large to be kept at all
    assert "a" * 100_000 not in room


def test_threads_that_ask_at_once_are_told_the_same() -> None:
    room = TextCache(lambda text: text * 2, most_bytes=20_000, bytes_a_character=1)
    texts = [str(number % 60) for number in range(6_000)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(room, texts)) == [text * 2 for text in texts]
    assert room.size == sum(500 + 2 * len(text) for text in room)
