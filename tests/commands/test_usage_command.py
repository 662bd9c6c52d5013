"""``helix usage``: the report, and limits that hold for whoever they name."""

from __future__ import annotations

import csv
import io
import json

import psycopg
import pytest

from helix.library.keys import create_key
from helix.library.people.members import set_role
from helix.library.people.persons import add_person
from tests.support.cli_runner import helix

_USED = """
INSERT INTO usage_days (tenant_id, day, person_id, key_id, space_id, model, questions, refusals,
    votes_up, calls, unpriced, input_tokens, nano_usd)
VALUES ('acme', (now() AT TIME ZONE 'UTC')::date, %s, %s, %s, %s, 3, 1, 2, 3, %s, 1500, 1250000)
"""


@pytest.fixture
def used(database_url: str) -> str:
    with psycopg.connect(database_url, autocommit=True) as connection:
        person = add_person(connection, "ada@example.com", "Ada")
        set_role(connection, "acme", person, "reader")
        number, _ = create_key(connection, "acme", "=2+3")
        connection.execute(_USED, (person, None, 0, "gemini-3.5-flash-lite", 0))
        connection.execute(_USED, (None, number, None, "gpt-4.1", 3))
    return database_url


def _told(url: str, *arguments: str, status: int = 0) -> str:
    done = helix("usage", *arguments, DATABASE_URL=url, HELIX_LLM="offline",
                 HELIX_EMBEDDER="offline", COLUMNS="160")  # fmt: skip
    assert done.returncode == status and "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def test_a_report_as_table_json_and_csv(used: str) -> None:
    table = _told(used, "--tenant", "acme")
    for word in ("ada@example.com", "Library", "gemini-3.5-flash-lite", "key 1 =2+3", "0.0013+"):
        assert word in " ".join(table.split()), table
    report = json.loads(_told(used, "--tenant", "acme", "--by", "model", "--format", "json"))
    assert report["totals"]["questions"] == 6 and report["totals"]["cost_usd"] == 0.0025
    assert {row["model"] for row in report["rows"]} == {"gemini-3.5-flash-lite", "gpt-4.1"}
    text = _told(used, "--tenant", "acme", "--by", "key", "--format", "csv").lstrip("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {(row["key"], row["questions"], row["cost_usd"]) for row in rows} == {
        ("", "3", "0.00125"), ("'=2+3", "3", "0.00125"),
    }  # fmt: skip
    assert json.loads(_told(used, "--format", "json"))["rows"] == []  # of another tenant


def test_limits_are_set_shown_and_taken_away(used: str) -> None:
    whose = ("--tenant", "acme")
    told = _told(used, "limit", "ada@example.com", "--questions-day", "20", *whose)
    assert told.strip() == "ada@example.com: 20 questions a day"
    _told(used, "limit", "--everybody", "--cost-usd-month", "2.5", *whose)
    _told(used, "limit", "--key", "1", "--tokens-month", "1000000", *whose)
    table = " ".join(_told(used, "limits", *whose).split())
    for words in ("everybody 2.5 US dollars a month", "ada@example.com 20 questions a day",
                  "key 1 =2+3 1,000,000 tokens a month"):  # fmt: skip
        assert words in table
    named = _told(used, "limit", "=2+3", "--questions-day", "1", *whose, status=1)
    assert named == "helix: there is no account of =2+3: a key is called so: --key 1\n"
    assert "no limits" in _told(used, "limit", "ada@example.com", *whose)
    assert "ada@example.com" not in _told(used, "limits", *whose)


@pytest.mark.parametrize(
    "wrong",
    [("limit",), ("limit", "ada@example.com", "--key", "1"), ("limit", "eve@example.com"),
     ("limit", "ada@example.com", "--tenant", "beta"), ("limit", "--key", "99"),
     ("--by", "colour"), ("--since", "soon")],
    ids=" ".join,
)  # fmt: skip
def test_what_cannot_be_is_refused(used: str, wrong: tuple[str, ...]) -> None:
    done = helix("usage", *wrong, DATABASE_URL=used, HELIX_LLM="offline", HELIX_EMBEDDER="offline")
    assert done.returncode != 0 and "Traceback" not in done.stderr
