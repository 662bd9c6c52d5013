"""The suite of natural questions: its halves, its judging, and what a run prints."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from evals.cases import CaseError
from evals.natural.documents import Document, DocumentError, _bring, documents, require
from evals.natural.questions import NaturalQuestion, is_green, questions


def test_a_document_is_in_one_half_with_all_its_questions() -> None:
    tuning, unopened = documents("tuning"), documents("unopened")
    assert not {one.name for one in tuning} & {one.name for one in unopened}
    assert len(tuning) + len(unopened) == len(documents()) >= 30
    assert len(questions("tuning")) + len(questions("unopened")) == len(questions()) >= 200
    assert {one.document for one in questions()} == {one.name for one in documents()}
    assert len({one.kind for one in documents()}) >= 10
    assert sum(not one.answerable for one in questions()) >= 30


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [("Run `pip install -U beets`. [1]", True), ("The ``-U`` flag upgrades beets. [1]", False)],
)
def test_an_answer_is_right_by_the_wanted_words(answer: str, is_right: bool) -> None:
    asked = NaturalQuestion("faq", "How do I upgrade?", [["pip install -U beets"]])
    assert asked.is_right(answer) is is_right


def test_no_answer_to_a_question_without_one_is_right() -> None:
    assert not NaturalQuestion("faq", "What does it cost?", []).is_right("It costs. [1]")


def test_green_is_supported_and_relevant_throughout() -> None:
    good = {"supported": True, "relevant": True}
    assert is_green({"support": {"statements": [good, good]}})
    assert not is_green({"support": {"statements": [good, good | {"relevant": False}]}})
    assert not is_green({"support": {"statements": []}})
    assert not is_green({})


def test_another_file_than_the_pinned_one_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_bytes(b"the pinned text")
    sha256 = hashlib.sha256(b"the pinned text").hexdigest()
    document = Document("n", "manual", "tuning", "npm", "package", "1", "file", sha256)
    _bring(document, root, tmp_path)
    assert (tmp_path / "n").read_bytes() == b"the pinned text"
    with pytest.raises(DocumentError, match="not the file that is pinned"):
        _bring(replace(document, sha256="0" * 64), root, tmp_path)
    with pytest.raises(DocumentError, match="package has no file other"):
        _bring(replace(document, path="other"), root, tmp_path)


def test_a_missing_document_names_the_command_that_brings_it(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"python -m evals\.natural\.documents"):
        require("tuning", tmp_path)
