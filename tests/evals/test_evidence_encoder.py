"""Learning the encoder: questions of manuals, lessons, weights as whole numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evals.evidence.asked import Asked, is_kept_out
from evals.evidence.export import read_weights, write_weights
from evals.evidence.lessons import Lesson, Lessons
from evals.evidence.manuals import questions_of
from helix.evidence.encoder import MOST_QUESTION, MOST_TOKENS, MOST_UNIT, WEIGHTS, evidence_encoder
from helix.language.sentences import Passage, units_of

PAGE = """<html><body><h1>Kettles</h1><p>About them.</p>
<h2>How do I open the lid of it?</h2><p>Press the button on the side of the handle.</p>
<pre>press --hard
press --soft</pre><h2>Parts</h2><p>Three of them are made of steel.</p></body></html>"""
POD = """=head2 How do I descale a C<kettle>?

Boil vinegar in it, and rinse it twice with cold water afterwards.

=head2 Authors

Many people wrote this text over the years.
"""


def test_headings_that_ask_are_questions_with_what_stands_under_them(tmp_path: Path) -> None:
    (tmp_path / "kettle.html").write_text(PAGE)
    (tmp_path / "kettle.pod").write_text(POD)
    first, second = questions_of(tmp_path, "kettles")
    assert first["question"] == "How do I open the lid of it?"
    assert first["answer"] == (
        "Press the button on the side of the handle.\n\npress --hard\npress --soft"
    )
    assert second["question"] == "How do I descale a kettle?"
    assert "vinegar" in second["answer"] and "Many people" not in second["answer"]


TEXT = """Q 2.1b How long does it boil after 30 seconds?
A: It boils until the lever on the side clicks.

kettle ?option? ?argument?
--------------------------

The command has two arguments, and neither of them is needed.

3. Warum kocht das Wasser nicht?

Weil der Deckel offen ist, und weil der Kessel dann nicht weiter heizt.
"""


def test_of_texts_the_numbers_go_and_synopses_and_other_languages_ask_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "FAQ").write_text(TEXT)
    (only,) = questions_of(tmp_path, "kettles")
    assert only["question"] == "How long does it boil after 30 seconds?"
    assert only["answer"] == "It boils until the lever on the side clicks."


def test_the_questions_of_a_package_are_all_on_one_side() -> None:
    names = [f"package-{number}" for number in range(40)]
    sides = [{is_kept_out(f"{name}\n{question}") for question in "abc"} for name in names]
    assert all(len(side) == 1 for side in sides) and {True, False} == set.union(*sides)


def asked(question: str, right: str) -> Asked:
    passages = (Passage(f"{right} " + "The lid is made of steel. " * 40, "Kettles"), Passage("No."))
    units = tuple(units_of(passages))
    labels = tuple(int(unit.passage == 0 and unit.place == 0) for unit in units)
    start = right.index("14 days")
    return Asked("set", "d", question, passages, units, labels, ((0, start, start + 7),))


def lessons_of(one: Asked, others: list[Asked], times: int = 30) -> list[list[Lesson]]:
    lessons = Lessons(evidence_encoder().tokenizer, [one, *others], seed=3)
    return [group for _ in range(times) for group in lessons.of(one)]


ONE = asked("When may Kettle 7 be returned to Linz?", "Kettle 7 may return to Linz for 14 days.")
OTHER = asked("When did Graz buy Kettle 9 from Brno?", "Graz bought Kettle 9 from Brno in 14 days.")


def test_lessons_are_as_long_as_what_is_read() -> None:
    for group in lessons_of(ONE, [OTHER]):
        for lesson in group:
            assert sum(end - start for start, end in lesson.units) <= max(MOST_TOKENS, MOST_UNIT)
            assert lesson.start <= MOST_QUESTION + 20
            assert len(lesson.is_words) == len(lesson.ids)


def test_a_question_with_another_name_is_answered_by_nothing() -> None:
    groups = lessons_of(ONE, [OTHER])
    swapped = [group for group in groups if not any(1 in lesson.labels for lesson in group)]
    assert 0 < len(swapped) < len(groups) / 2
    plain = next(group for group in groups if group not in swapped)
    assert all(group[0].ids[:12] != plain[0].ids[:12] for group in swapped)


def test_the_words_of_an_answer_are_marked() -> None:
    tokenizer = evidence_encoder().tokenizer
    lesson = next(group[0] for group in lessons_of(ONE, [OTHER]) if 1 in group[0].labels)
    marked = [one for one, is_word in zip(lesson.ids, lesson.is_words, strict=True) if is_word > 0]
    assert tokenizer.decode(marked) == "14 days"


def test_a_fixed_share_of_documents_is_kept_out() -> None:
    assert 60 < sum(is_kept_out(f"document {n}") for n in range(1000)) < 180


def test_weights_that_are_read_to_go_on_from_are_written_as_they_were(tmp_path: Path) -> None:
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        before = dict(arrays)
    write_weights(
        read_weights(WEIGHTS), before["vocabulary"].tobytes().decode(), tmp_path / "w.npz"
    )
    with np.load(tmp_path / "w.npz", allow_pickle=False) as after:
        assert set(after) == set(before)
        assert all(np.array_equal(after[name], before[name]) for name in before)
