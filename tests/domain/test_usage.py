"""Tokens of several calls, and of the pieces of one."""

from __future__ import annotations

from helix.domain.usage import Usage


def test_calls_add_up_by_the_name_of_the_last_and_an_unknown_count_adds_nothing() -> None:
    first, last = Usage("a", 10, 2, None, 4), Usage("b", 5, None, None, 1)
    assert first + last == Usage("b", 15, 2, None, 5)
    assert (first + Usage("")).model == "a"


def test_a_later_piece_of_an_answer_counts_from_its_beginning() -> None:
    begun = Usage("asked").updated(Usage("answered", 10)).updated(None)
    assert begun.updated(Usage("", 10, 3, 0)) == Usage("answered", 10, 3, 0)
