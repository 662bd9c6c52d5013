"""Metadata as JSON and as text: what is taken, and one line that names the field for the rest."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.conditions import Condition, condition_of, conditions_of, written_condition
from helix.domain.metadata import (
    assignments,
    checked_changes,
    checked_metadata,
    inferred,
    json_of,
    shown,
    value_as,
    value_of,
    with_layers,
)
from helix.domain.scope import Scope, scope_of_stored
from helix.errors import BadRequest


def test_json_is_stored_in_one_form() -> None:
    given = {
        " Year": 2024.0, "größe": -0.5, "Due": "2024-05-01", "at": "2024-05-01 10:00+02:00",
        "naive": "2024-05-01T10:00", "id": {"text": "2024-05-01"}, "by": [" A ", 3, "2024-01-02"],
    }  # fmt: skip
    stored = checked_metadata(given)
    assert stored == {
        "year": 2024, "größe": -0.5, "due": "2024-05-01", "at": "2024-05-01T08:00:00Z",
        "naive": "2024-05-01T10:00:00Z", "id": {"text": "2024-05-01"}, "by": ["A", 3, "2024-01-02"],
    }  # fmt: skip
    assert checked_metadata(stored) == stored
    assert type(stored["year"]) is int
    assert shown(stored["by"]) == "A, 3, 2024-01-02" and shown(stored["id"]) == "2024-05-01"


@given(
    st.one_of(
        st.text(min_size=1, max_size=40),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.dates().map(date.isoformat),
        st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat),
    )
)
def test_what_is_read_can_be_sent_again(sent: Any) -> None:
    try:
        value = value_of("metadata.x", sent)
    except BadRequest:
        return
    assert value_of("metadata.x", json_of(value)) == value
    assert value_of("metadata.x", {"text": str(sent)}) == str(sent).strip() or not str(sent).strip()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"1st": 1}, "'1st' is no key"), ({"a b": 1}, "'a b' is no key"),
        ({"k" * 65: 1}, "is no key"), ({"A": 1, "a": 2}, "metadata.a is there twice"),
        ({"a": True}, "metadata.a is no text, number"), ({"a": {"b": 1}}, "metadata.a is no text"),
        ({"a": ""}, "metadata.a is empty"), ({"a": "x" * 501}, "metadata.a has 501 characters"),
        ({"a": "x\ny"}, "metadata.a holds control"), ({"a": float("inf")}, "metadata.a is beyond"),
        ({"a": 2**53 + 2}, "metadata.a is beyond"), ({"a": 2**53 + 1}, "metadata.a is beyond"),
        ({"a": [-(2**53) - 1]}, "metadata.a is beyond"),
        ({"a": 10**400}, "metadata.a is no number"),
        ({"a": "2024-02-30"}, "metadata.a is no date"), ({"a": []}, "metadata.a has 0 items"),
        ({"a": "0001-01-01T00:00+05:00"}, "metadata.a is no date"),
        ({"a": [1] * 51}, "metadata.a has 51 items"), ({"a": [[1]]}, "metadata.a is no text"),
        ({f"k{n}": n for n in range(65)}, "metadata has 65 keys"),
    ],
)  # fmt: skip
def test_an_error_names_the_field(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        checked_changes(changes)


def test_text_is_what_it_looks_like_unless_it_says() -> None:
    assert assignments(
        ["year=2024", "code=007", "phone=+49 30", "id:text=2024", "Due=2024-05-01", "n:number=1e3",
         "long=12345678901234567890", "who:list=Smith, J; Lee; 3", "tag=a", "tag=b", "eq=a=b"]
    ) == {
        "year": 2024, "code": "007", "phone": "+49 30", "id": "2024", "due": "2024-05-01",
        "n": 1000, "long": "12345678901234567890", "who": ["Smith, J", "Lee", 3],
        "tag": ["a", "b"], "eq": "a=b",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("year", "is no metadata"), ("=3", "is no metadata"), ("a:colour=3", "no type 'colour'"),
        ("a:number=x", "metadata.a is no number"), ("a:date=x", "metadata.a is no date"),
        ("a=", "metadata.a is empty"), ("a:list= ; ", "metadata.a has 0 items"),
        ("a=2024-13-01", "metadata.a is no date"),
    ],
)  # fmt: skip
def test_an_assignment_that_is_none_says_so(text: str, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        assignments([text])


def test_people_stand_above_what_was_given_and_that_above_the_documents_own() -> None:
    own = {"a": 1, "b": 1, "c": 1, "d": 1}
    edits = {"title": "T", "given": {"b": 2, "c": 2, "e": 2}, "metadata": {"c": 3, "d": None}}
    metadata, kept = with_layers(own, {"e": 4}, edits)
    assert metadata == {"a": 1, "b": 2, "c": 3, "e": 4}
    assert kept == edits | {"given": {"b": 2, "c": 2, "e": 4}}
    assert with_layers(own, None, {}) == (own, {})
    many, _ = with_layers({f"own{n}": n for n in range(64)}, {"given": 1}, {})
    assert len(many) == 64 and many["given"] == 1


def test_conditions_are_the_same_as_text_and_as_json() -> None:
    for text, json in {
        "year>=2024": {"key": "year", "op": ">=", "value": 2024},
        " Author = Smith, J": {"key": "author", "op": "=", "value": "Smith, J"},
        "id:text!=2024": {"key": "id", "op": "!=", "value": "2024"},
        "due<2024-05-01": {"key": "due", "op": "<", "value": "2024-05-01"},
        "k in a; 2;2024-05-01": {"key": "k", "op": "in", "value": ["a", 2, "2024-05-01"]},
        "draft": {"key": "draft", "op": "exists", "value": True},
        "!draft": {"key": "draft", "op": "exists", "value": False},
        '{"key": "year", "value": 3}': {"key": "year", "op": "=", "value": 3},
    }.items():
        assert written_condition(text) == condition_of(json), text
        assert condition_of(json).to_json() == json
    assert condition_of({"key": "a", "value": 1}) == Condition("a", "=", (1.0,))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (7, r"metadata\[0\] is no condition"), ({"op": "="}, r"metadata\[0\] is no condition"),
        ({"key": "a", "op": "~", "value": 1}, r"metadata\[0\].op is none of =, !="),
        ({"key": "a", "op": [], "value": 1}, r"metadata\[0\].op is none"),
        ({"key": "a", "op": "in", "value": 1}, r"metadata\[0\].value of in is a list"),
        ({"key": "a", "op": "in", "value": []}, r"metadata\[0\].value of in is a list"),
        ({"key": "a", "op": "exists", "value": 1}, r"metadata\[0\].value of exists"),
        ({"key": "a", "op": "<"}, r"metadata\[0\].value is no text"),
        ({"key": "a", "value": 1, "or": 2}, r"metadata\[0\] has 'or'"),
        ({"key": "'; --", "value": 1}, "is no key"),
    ],
)  # fmt: skip
def test_a_condition_that_is_none_names_its_place(given: Any, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        conditions_of([given])
    with pytest.raises(BadRequest, match="21 conditions"):
        conditions_of([{"key": "a", "value": 1}] * 21)


@pytest.mark.parametrize("text", ["", "=1", "a b=1", "a in", "a in ;", "a:list=1", "a<", "{", "{}"])
def test_a_text_that_is_no_condition_says_so(text: str) -> None:
    with pytest.raises(BadRequest, match=r"condition|value|key of metadata"):
        written_condition(text)


def test_a_scope_keeps_its_conditions_as_json() -> None:
    conditions = (written_condition("year>=2024"), written_condition("!draft"))
    scope = Scope("acme", tags=("a",), metadata=conditions)
    told = scope.to_json()
    assert scope_of_stored({"filters": {"tags": ["a"], "metadata": told["metadata"]}}, "acme") == (
        scope
    )
    assert scope.narrowed_by == ("tags", "metadata 0 >= number", "metadata 1 absent")
    assert set(scope.filters()) == {
        "tags", "metadata_0_key", "metadata_0_number", "metadata_1_key",
    }  # fmt: skip
    assert not Scope("acme").narrowed and "metadata" not in Scope("acme").to_json()


def test_a_scope_is_read_back_from_the_json_of_a_receipt() -> None:
    since = datetime(2026, 1, 31, 9, tzinfo=UTC)
    full = Scope(
        "acme", (7,), "upload:", ("a", "b"), since, since, ("acme", "acme inc"), "kind:10-q",
        metadata=conditions_of([{"key": "year", "op": ">=", "value": 2024}]),
    )  # fmt: skip
    assert Scope.of_json(full.to_json(), "acme") == full
    assert Scope.of_json(Scope().to_json(), "acme") == Scope("acme")
    assert Scope.of_json({"document_ids": [7]}, "acme") == Scope("acme", (7,))  # of an old release


def test_what_looks_like_a_number_is_one_however_long() -> None:
    assert inferred("x", "9007199254740992") == 2.0**53
    assert inferred("x", "9007199254740993") == "9007199254740993"
    assert inferred("x", "1e-9999999999999999999") == "1e-9999999999999999999"
    assert inferred("x", "9007199254740993" + "0") == "90071992547409930"
    with pytest.raises(BadRequest, match="beyond"):
        value_as("x", "number", "9007199254740993")
