"""Entries that a question names by their heads: a term with what it defines, a release."""

from __future__ import annotations

import numpy as np
import pytest

from helix.domain.relevance import SourcePlace
from helix.providers.offline.extract import answer_of
from helix.providers.offline.reading import Offered, OfferedSource
from tests.support.fillers import grows_linearly, processor_seconds
from tests.support.offline_answers import ask_over as ask
from tests.support.offline_answers import told_over
from tests.support.quoted_units import layout_of

OPTIONS = """\
       olddir directory
              Logs are moved into directory for rotation.  The directory must
              be on the same device as the log file being rotated.  This
              option may be overridden by the noolddir option.

       noolddir
              Logs are rotated in the directory they normally reside in (this
              overrides the olddir option).

       delaycompress
              Postpone compression of the previous log file to the next run.

       nodelaycompress
              Do not postpone compression of the previous log file to the next
              run (this overrides the delaycompress option)."""
CHANGES = """## [3.20.0] - 2022-05-25

- do not lock the state file (#433)

## [3.19.0] - 2022-01-07

- enforce stricter parsing of configuration files (#427)

## [3.18.0] - 2021-01-08

- add support for Zstandard (#355)"""


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("delaycompress", "Postpone compression of the previous log file to the next run."),
        ("nodelaycompress", "Do not postpone compression"),
        ("noolddir", "Logs are rotated in the directory they normally reside in"),
        ("olddir", "Logs are moved into directory for rotation."),
    ],
)
def test_a_term_is_told_by_its_own_entry(term: str, expected: str) -> None:
    answer = ask(f"What does the {term} directive do?", OPTIONS)
    assert expected in answer.split("\n\n")[0]


@pytest.mark.parametrize(
    ("release", "day"),
    [("3.20.0", "2022-05-25"), ("3.19.0", "2022-01-07"), ("3.18.0", "2021-01-08")],
)
def test_a_release_is_dated_by_its_own_heading(release: str, day: str) -> None:
    source = OfferedSource(1, CHANGES, SourcePlace("logrotate change log"))
    answer = answer_of(Offered(f"When was logrotate {release} released?", (source,)))
    assert answer.startswith(f"[{release}] - {day} [1]")


def test_a_release_without_what_is_asked_is_told_by_no_other() -> None:
    likely = np.linspace(0.1, 0.2, len(layout_of(CHANGES)[0]), dtype=np.float32)
    unchanged = [round(float(one), 3) for one in likely]
    assert told_over("What of Zstandard is in 3.20.0?", CHANGES, likely) == unchanged
    assert told_over("What of Zstandard is in 3.18.0?", CHANGES, likely) != unchanged


@pytest.mark.parametrize(
    "thing", ["| Kiel | {0} |\n| Oslo | {0} |\n", "kiel {}\n    It is done.\n\n"]
)
def test_many_rows_and_entries_are_compared_in_linear_time(thing: str) -> None:
    texts = ["".join(map(thing.format, range(count))) for count in (400, 4000)]
    likely = [np.zeros(len(layout_of(text)[0]), dtype=np.float32) for text in texts]
    told_over("What is Kiel?", texts[0], likely[0])  # reads the model
    took = [
        processor_seconds(told_over, "What is Kiel?", *one)
        for one in zip(texts, likely, strict=True)
    ]
    assert grows_linearly(*took)


def test_entries_are_terms_and_records_with_what_is_under_them() -> None:
    units, layout = layout_of(OPTIONS)
    assert [units[entry[0]].text.split()[0] for entry in layout.entries()] == [
        "olddir", "noolddir", "delaycompress", "nodelaycompress",
    ]  # fmt: skip
    assert [len(entry) for entry in layout.entries()] == [4, 2, 2, 2]
    assert [len(entry) for entry in layout_of(CHANGES)[1].entries()] == [2, 2, 2]
