"""Forty questions in each of six languages, and what is found of them."""

from __future__ import annotations

from evals.corpora import store_corpus
from evals.languages.__main__ import corpora, recall
from evals.languages.sets import LANGUAGES, own_libraries
from helix.language.terms import language_of
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from tests.support.fake_embedder import opened


def test_each_question_has_a_paragraph_of_its_own() -> None:
    libraries = list(own_libraries())
    assert [library.name for library in libraries] == [*LANGUAGES, "all together"]
    for library in libraries:
        for asked in library.asked:
            spans = {question.spans for question in asked.questions}
            texts = {asked.documents[d].text[s:e] for ((d, s, e),) in spans}
            assert len(asked.questions) == len(texts) == 40
            assert not any("\n" in text or not text for text in texts)


def test_the_languages_of_the_documents_are_told() -> None:
    told = {
        library.name: {language_of(document.text) for document in library.asked[0].documents}
        for library in list(own_libraries())[:-1]
    }
    stemmed = {name: {name} for name in LANGUAGES[:4]}
    assert told == {**stemmed, "japanese": {"simple"}, "chinese": {"simple"}}


async def test_most_are_found_in_their_language_and_none_by_words_in_another(
    database_url: str,
) -> None:
    """Half of the German questions, for time; stems alone make 0.9 of them out of 0.7."""
    settings = load_settings(database_url=database_url, embedder="offline", llm="offline")
    embedder = build_embedder(settings)
    german = next(library for library in own_libraries() if library.name == "german")
    own, english = await corpora(german, embedder, 20)
    assert len(own.questions) == len(english.questions) == 20
    async with opened(database_url, embedder.identity) as store:
        await store_corpus(store, own)
        assert await recall(store, own, 0.0) >= 0.85
        assert await recall(store, own, own.weight) >= 0.9
        assert await recall(store, english, 0.0) <= 0.2
