"""Errors of sources: whatever a library says, no secret comes out, and a busy server is told."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from googleapiclient.errors import HttpError
from httplib2 import Response

from pipelines.sources.base import Entry, EntryGone, SourceBusy, SourceError
from pipelines.sources.stored_source import redacted, redacting, told_plainly

SECRETS = {"password": "p@ss w/rd'é", "token": "tok-123"}


@pytest.mark.parametrize(
    "text",
    [
        "login failed for p@ss w/rd'é",
        f"GET https://u:{quote(SECRETS['password'], safe='')}@wiki.example/x: 401",
        "https://anna:hunter2@host.example/feed answered 500",
        "Authorization: Bearer abc.def.ghi",
        "Authorization: Basic dG9rLTEyMw==",
        "?access_token=xyz987&page=2",
        "{'api_key': 'k-55', 'password': \"q\"}",
        f"KeyError({SECRETS['password']!r})",
        "dG9rLTEyMw==",
    ],
)
def test_no_secret_is_told(text: str) -> None:
    told = redacted(f"{text}\nat line 2", SECRETS)
    assert "***" in told and "\n" not in told
    for value in ("w/rd", "w%2Frd", "hunter2", "abc.def", "dG9r", "xyz987", "k-55", "tok-123"):
        assert value not in told


def test_words_are_left_as_they_are() -> None:
    text = "the mail server mail.example.com cannot be reached: [Errno 111] Connection refused"
    assert redacted(text, {"password": ""}) == text


def test_errors_of_libraries_are_a_sources() -> None:
    told = told_plainly(RuntimeError("no tok-123"), SECRETS)
    assert type(told) is SourceError and str(told) == "RuntimeError: no ***"
    assert isinstance(told_plainly(EntryGone("went"), SECRETS), EntryGone)
    busy = told_plainly(SourceBusy("tok-123 waits", 7.0), SECRETS)
    assert isinstance(busy, SourceBusy) and busy.seconds == 7.0 and "tok" not in str(busy)


class _HttpError(Exception):
    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"{status} for url")
        self.response = SimpleNamespace(status_code=status, headers=headers)


def test_a_server_that_is_busy_is_asked_later() -> None:
    busy = told_plainly(_HttpError(429, **{"retry-after": "3"}), {})
    assert isinstance(busy, SourceBusy) and busy.seconds == 3.0
    assert type(told_plainly(_HttpError(403), {})) is SourceError
    google = HttpError(Response({"status": 429}), b"")
    assert isinstance(told_plainly(google, {}), SourceBusy)


class _Failing:
    """A connector every call of which tells its password."""

    def entries(self) -> Iterator[Entry]:
        yield Entry("one")
        raise ValueError("tok-123")

    def read(self, entry: Entry) -> bytes:
        raise ValueError("tok-123")

    def is_there(self, key: str) -> bool:
        raise ValueError("tok-123")

    def close(self) -> None:
        raise ValueError("tok-123")


def test_each_call_of_a_connector_fails_without_a_secret() -> None:
    source = redacting(_Failing(), SECRETS)
    found = source.entries()
    assert next(found).key == "one"
    for call in (
        lambda: next(found),
        lambda: source.read(Entry("one")),
        lambda: source.is_there("one"),
        source.close,
    ):
        with pytest.raises(SourceError, match=r"^ValueError: \*\*\*$") as caught:
            call()
        assert caught.value.__cause__ is None and caught.value.__suppress_context__
