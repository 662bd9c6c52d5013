"""The chunks that a case expects to be stored."""

from __future__ import annotations

import pytest

from evals.cases import Case, CaseError, Passage, Span
from evals.database import Stored
from evals.runner import expected_of


def test_a_case_that_no_chunk_answers_is_named() -> None:
    case = Case(id="lost", question="?", passages=(Passage(source="a", text="x"),))
    spans = [Span(source="a", start=9, end=20)]
    assert expected_of(case, spans, Stored({}, [(7, "a", 0, 10)])) == ["7"]
    assert expected_of(case, [], Stored({}, [])) == []
    with pytest.raises(CaseError, match="case lost: no stored chunk has its passage"):
        expected_of(case, spans, Stored({}, [(7, "b", 0, 10)]))
