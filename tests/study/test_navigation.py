"""Study sets have no contents, no index, no heading alone, no lone word and no cut version."""

from __future__ import annotations

from helix.domain.context import Source
from helix.domain.records import Hit
from helix.study.heading_outline import key_terms
from helix.study.offline.values import values_of
from helix.study.passages import Place
from helix.study.sentences import Sentence, clear_sentences, sentences_of

LEADERS = " . . . . . . . . . . "
TEXT = f"""\
2.1.

## Connections

Contents

1 Database{LEADERS}3
2 Connect{LEADERS}5
2.1 Pools{LEADERS}6
3 Replicas{LEADERS}9

The database keeps each connection open until the client closes it by itself.
Every connection pool of the database server has room for 40 clients at once.
A connection pool is emptied when the database server is stopped for the night."""


def source_of(text: str) -> Source:
    hit = Hit(1, 1, "Manual", "m.pdf", 0, text, 0, len(text), "n", 0.1, None, ("Connections",))
    return Source(hit, (hit,), text, 0, len(text))


def test_sentences_are_those_of_the_text_alone() -> None:
    found = [sentence.text for sentence in sentences_of(source_of(TEXT))]
    assert found == TEXT.splitlines()[-3:]
    assert [sentence.text for sentence in clear_sentences(source_of(TEXT))]


def test_a_topic_is_no_lone_word() -> None:
    assert [label for label, _ in key_terms([source_of(TEXT)], 5)] == [
        "connection pool", "database server",
    ]  # fmt: skip


def test_a_version_has_no_gap_in_it() -> None:
    def values(text: str) -> list[str]:
        return [value.text for value in values_of(Sentence(text, 0, source_of(text)))]

    assert not values("The pool of connections came with version 4.19.0 of the server in use.")
    assert not values("The pool of connections came with version 2.0.0 of the server in use.")
    assert values("The pool of connections has room for 40 clients at the same time.") == ["40"]


def test_a_place_is_named_by_headings_that_say_something() -> None:
    place = Place(1, 1, "Manual", ("2.1.", "Connections", "Connections", ""), 900)
    assert place.path == ("Manual", "Connections")
