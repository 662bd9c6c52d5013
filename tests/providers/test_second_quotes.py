"""A second quote where two are likely, and answers to the parts of a question put together."""

from __future__ import annotations

import pytest

from helix.domain.citations import marker_numbers
from helix.domain.relevance import SourcePlace
from helix.providers.offline.extract import _together
from helix.providers.offline.quotes import likeliest
from helix.providers.offline.reading import OfferedSource
from tests.support.offline_answers import ask_over as ask
from tests.support.offline_answers import sources_over

PROBATION = "The probation of employees lasts six months. It may be extended once."
CONTRACTORS = "Contractors have a probation of four weeks."


def test_where_two_are_likely_both_are_quoted_the_likelier_first() -> None:
    answer = ask("How long does a probation last?", CONTRACTORS, PROBATION)
    assert answer == (f"The probation of employees lasts six months. [2]\n\n{CONTRACTORS} [1]")


def test_what_was_quoted_is_not_quoted_again_from_a_copy() -> None:
    copies = (PROBATION, f"{PROBATION}\n\nIt is set by law.", "It may be extended once.")
    assert marker_numbers(ask("How long is the probation?", *copies)) == [1]


def test_a_list_that_a_chunk_cuts_is_quoted_from_the_one_that_has_it_whole() -> None:
    lead = "The probation of employees ends with these steps:\n\n- a talk"
    whole = f"{lead}\n- a letter\n- a party"
    question = "Which steps end the probation of employees?"
    assert ask(question, f"It lasts six months.\n\n{lead}", whole).endswith("- a party [2]")
    other = "The employees\n\n" + whole.replace("a talk", "a form")
    assert ask(question, f"It lasts six months.\n\n{lead}", other).endswith("- a talk [1]")
    place = SourcePlace("Handbook")
    sources = (sources_over(lead)[0], OfferedSource(2, whole, place))
    found = likeliest(question, sources, 0.99)
    assert found[0][-1].source == 0  # of another document


def test_an_entry_of_a_table_of_contents_is_no_answer() -> None:
    entry = "- How long a probation of employees is"
    found = likeliest("How long is the probation of employees?", sources_over(entry), 0.99)
    assert [[one.start for one in quotes] for quotes in found] == [[0]]
    place = SourcePlace("Handbook", ("How long a probation of employees is",))
    known = [*sources_over(entry), OfferedSource(2, PROBATION, place)]
    found = likeliest("How long is the probation of employees?", known, 0.99)
    assert {one.source for quotes in found for one in quotes} == {1}


def test_a_version_is_found_by_its_number() -> None:
    told = "While npm v6 had uninstall scripts, npm v7 does not."
    for version in ("7", "v7"):
        assert told in ask(f"Why does npm {version} have no uninstall scripts?", told)
    assert told not in ask("Why does npm 8 have no uninstall scripts?", told)
    limit = "The rate limit of the API v1 is 2 requests in a second."
    assert limit in ask("What is the rate limit of the API v1?", limit)
    assert limit not in ask("What is the rate limit of the API v2?", limit)


def test_an_entry_with_a_number_of_several_parts_is_no_answer_either() -> None:
    title = "6.3. How long a probation of employees is"
    place = SourcePlace("Handbook", (title,))
    known = [*sources_over(f"- {title}"), OfferedSource(2, PROBATION, place)]
    found = likeliest("How long is the probation of employees?", known, 0.99)
    assert {one.source for quotes in found for one in quotes} == {1}


@pytest.mark.parametrize(
    ("answers", "together"),
    [
        (["5 kg [1]", "15 kg [1]"], ["5 kg [1]", "15 kg [1]"]),
        (["A b. [1]", "C. [2]", "A b. [1] D. [1]"], ["A b. [1] D. [1]", "C. [2]"]),
        (["A b. [1] D. [1]", "D. [1]"], ["A b. [1] D. [1]"]),
        (["A. [1]", "B. [1]", "A. [1]\nB. [1]"], ["A. [1]\nB. [1]"]),
    ],
)
def test_answers_to_parts_of_a_question_say_nothing_twice(
    answers: list[str], together: list[str]
) -> None:
    assert _together(answers) == "\n\n".join(together)


def test_a_follow_up_of_a_follow_up_is_about_its_thing() -> None:
    theses = "A Bachelor's thesis counts 12 credits.", "A Master's thesis counts 30 credits."
    first, then = "How long is the Bachelor's thesis?", "And the Master's?"
    for follows, place in ((first, 0), (f"{then}\n{first}", 1), (f"Why?\n{first}", 0)):
        found = likeliest("How many credits?", sources_over(*theses), 0.99, follows=follows)
        assert found[0][0].source == place


def test_a_second_quote_is_not_what_was_just_said() -> None:
    question, sources = (
        "How long is the probation of employees?",
        sources_over(CONTRACTORS, PROBATION),
    )
    follows = "What is the probation of contractors?"

    def places(said: str) -> list[int]:
        found = likeliest(question, sources, 0.99, follows=follows, said=said)
        return [quotes[0].source for quotes in found]

    assert places("") == [1, 0] and places(CONTRACTORS) == [1]
