"""`helix documents`, `helix runs` and `helix ask`, in the database and at a running server."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from helix.domain.contract import REFUSAL
from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.repository import ROOT
from tests.support.sample_documents import xlsx

pytestmark = pytest.mark.processes

OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline", "COLUMNS": "150"}
QUESTION = "How long do I have to request a refund?"

Helix = Callable[..., "CompletedProcess[str]"]


RATES = {"Rates": (("City", "Rate"), ("Ghent", 100), ("Bruges", 107), ("Namur", 121))}


@pytest.fixture(scope="module")
def values(
    module_durable_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Two documents of the samples and a sheet are in the database."""
    found = {"DATABASE_URL": module_durable_database_url, **OFFLINE}
    rates = tmp_path_factory.mktemp("files") / "rates.xlsx"
    rates.write_bytes(xlsx(RATES))
    for names in (("refund-policy.txt",), ("travel-handbook.md", rates)):
        done = helix("ingest", *(str(ROOT / "samples" / name) for name in names), **found)
        assert done.returncode == 0, done.stderr
    return found


@pytest.fixture(scope="module")
def address(values: dict[str, str]) -> Iterator[str]:
    """A server over the same database."""
    with live(values["DATABASE_URL"]) as client:
        yield str(client.base_url)


@pytest.fixture(params=["database", "server"])
def command(
    request: pytest.FixtureRequest, values: dict[str, str], address: str
) -> Callable[..., CompletedProcess[str]]:
    """``helix …`` once in the database, once at the server, which is all that it then knows."""
    asked = values if request.param == "database" else {"HELIX_SERVER": address, "COLUMNS": "150"}

    def run(*arguments: str) -> CompletedProcess[str]:
        return helix(*arguments, **asked)

    return run


def test_a_name_with_its_accents_apart_is_the_same_name(
    command: Helix, values: dict[str, str], tmp_path: Path
) -> None:
    note = tmp_path / unicodedata.normalize("NFD", "Bürgschaft Größe.md")  # as macOS has it
    note.write_text("The surety is 500 euros.\n")
    assert helix("ingest", str(note), **values).returncode == 0
    shown = command("documents", "show", "Bürgschaft", "--text")
    gone = command("documents", "rm", "--yes", "bürgschaft größe.md")
    assert "500 euros" in shown.stdout, shown.stderr
    assert gone.returncode == 0, gone.stderr


def test_the_list_names_documents_without_numbers(command: Helix) -> None:
    listed = command("documents")
    assert listed.returncode == 0, listed.stderr
    assert "Refund Policy" in listed.stdout and "travel-handbook.md" in listed.stdout
    assert "number" not in listed.stdout
    kinds = command("documents", "list", "--kind", "XLSX", "--json")
    assert [row["title"] for row in json.loads(kinds.stdout)["documents"]] == ["Rates"]
    found = json.loads(command("documents", "list", "refund", "--json").stdout)
    assert [row["title"] for row in found["documents"]] == ["Refund Policy"]
    first = command("documents", "--sort", "title", "--order", "desc", "--limit", "1", "--json")
    assert [row["title"] for row in json.loads(first.stdout)["documents"]] == ["Travel Handbook"]
    assert command("documents", "--tag", "nothing-has-it").stderr == "no document fits\n"


def test_a_list_in_full_keeps_words_whole_on_a_narrow_terminal(values: dict[str, str]) -> None:
    done = helix("documents", "list", "refund", "-v", **{**values, "COLUMNS": "40"})
    title, path, facts = done.stdout.splitlines()
    assert title.startswith("number ") and title.endswith("  Refund Policy")
    assert path.strip() == str(ROOT / "samples" / "refund-policy.txt")
    assert facts.strip().startswith("kind ") and facts.endswith(", chunks 2, size 2 kB")


def test_a_document_is_shown_by_its_name(command: Helix) -> None:
    shown = command("documents", "show", "refund-policy.txt")
    assert shown.returncode == 0, shown.stderr
    assert "title     Refund Policy\n" in shown.stdout and "state     ready\n" in shown.stdout
    text = command("documents", "show", "Refund Policy", "--text").stdout
    assert text.rstrip("\n") == (ROOT / "samples" / "refund-policy.txt").read_text().rstrip("\n")
    told = json.loads(command("documents", "show", "refund", "--json").stdout)
    assert told["title"] == "Refund Policy" and "text" not in told


def test_a_name_with_a_slip_is_an_error_that_knows_better(command: Helix) -> None:
    done = command("documents", "show", "refund polcy")
    assert (done.returncode, done.stdout) == (1, "")
    assert '(is it "Refund Policy" (' in done.stderr and done.stderr.count("\n") == 1
    several = command("documents", "show", "samples/")
    assert several.returncode == 1 and "several documents are called" in several.stderr


def test_labels_are_put_on_asked_and_taken_off(command: Helix) -> None:
    done = command("documents", "tag", "refund", "--add", "shop", "--add", "legal")
    assert (done.returncode, done.stdout) == (0, "Refund Policy (refund-policy.txt): shop, legal\n")
    asked = command("ask", "--tag", "shop", QUESTION)
    assert "30 days" in asked.stdout, asked.stderr
    slip = command("ask", "--tag", "shpo", QUESTION)
    assert (slip.returncode, slip.stdout) == (1, "")
    assert slip.stderr == "helix: no document has the label shpo: is it shop?\n"
    done = command("documents", "tag", "refund", "-r", "shop", "-r", "legal")
    assert done.stdout == "Refund Policy (refund-policy.txt): no label\n"
    assert command("documents", "tag", "refund", "-r", "shop").returncode == 1
    assert command("documents", "tag", "refund").returncode == 2


def test_metadata_is_set_filtered_by_and_taken_away(command: Helix) -> None:
    done = command(
        "documents", "set", "refund", "handbook", "year=2024", "id:text=7", "By=A", "By=B"
    )
    assert (done.returncode, done.stdout) == (0, "2 documents, 2 of them changed\n"), done.stderr
    done = command("documents", "set", "--where", "year=2024", "handbook", "year=2020", "id=")
    assert done.stdout == "1 documents, 1 of them changed\n"
    listed = command("documents", "list", "--sort", "meta.year", "--where", "year", "--json")
    rows = json.loads(listed.stdout)["documents"]
    assert [row["metadata"] for row in rows] == [
        {"year": 2020, "by": ["A", "B"]}, {"year": 2024, "id": "7", "by": ["A", "B"]},
    ]  # fmt: skip
    shown = command("documents", "show", "refund").stdout.splitlines()
    assert "year      2024" in shown and "by        A, B" in shown
    table = command("documents", "--where", "id:text=7").stdout
    assert "id=7" in table and "Travel" not in table
    found = json.loads(command("search", "days", "-w", "year<2021", "--json").stdout)
    assert {each["title"] for each in found["results"]} == {"Travel Handbook"}
    asked = command("ask", "--where", "year>=2024", QUESTION)
    assert "30 days" in asked.stdout, asked.stderr
    none = command("ask", "--where", "year>2024", QUESTION)
    assert (none.returncode, none.stdout) == (1, "") and "no document fits --where" in none.stderr
    told = {
        "yaer>=2017": "no document has the metadata yaer: is it year? There are ",
        "nonsense": "no document has the metadata nonsense: There are ",
        "year>=abc": "--where compares year with a text; its values are of type number",
    }
    for written, why in told.items():
        asked, searched = (command(each, "-w", written, "days") for each in ("ask", "search"))
        listed = command("documents", "-w", written)
        assert (asked.returncode, searched.returncode, listed.returncode) == (1, 1, 0)
        assert asked.stderr.startswith(f"helix: {why}"), asked.stderr
        assert searched.stderr.startswith(f"Nothing was found: {why}")
        assert listed.stderr.startswith(why)
    assert "no document fits" in command("documents", "-w", "!year", "-w", "year").stderr
    for wrong in (("refund",), ("year=1",), ("refund", "1a=2"), ("-w", "year<", "a=1")):
        assert command("documents", "set", *wrong).returncode == 2, wrong
    done = command("documents", "set", "--where", "year", "year=", "id=", "by=")
    assert done.stdout == "2 documents, 2 of them changed\n"


def test_passages_are_searched(command: Helix) -> None:
    done = command("search", "refund", "30", "days")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Refund Policy\n    ") and "30 days" in done.stdout
    told = json.loads(command("search", "refund", "--limit", "1", "--json").stdout)
    assert [each["title"] for each in told["results"]] == ["Refund Policy"]
    narrowed = json.loads(command("search", "days", "-d", "handbook", "--json").stdout)
    assert {each["title"] for each in narrowed["results"]} == {"Travel Handbook"}
    blank = command("search", " ")
    assert blank.stderr.startswith("helix: there is nothing to look for")


def test_an_answer_has_its_place_and_quotes_and_no_number(command: Helix) -> None:
    done = command("ask", "How", "long", "do", "I", "have", "to", "request", "a", "refund?")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.replace("\n\n", "\n").splitlines()
    place = lines.index("[1] Refund Policy")
    answer, quotes = lines[:place], lines[place + 1 :]
    assert "within 30 days" in answer[0] and all(line.endswith("[1]") for line in answer)
    text = (ROOT / "samples" / "refund-policy.txt").read_text()
    assert quotes and all(" ".join(quote.split()) in " ".join(text.split()) for quote in quotes)
    assert done.stderr == ""
    placed = command("ask", "What is the Rate of Ghent?").stdout.splitlines()
    assert "[1] Rates, sheet Rates, rows 2-4" in placed
    verbose = command("ask", "-v", QUESTION)
    assert "[1] Refund Policy (chunk " in verbose.stdout and "answer " in verbose.stderr


def test_json_is_one_document_of_the_shape_of_queries(command: Helix) -> None:
    told = json.loads(command("ask", "--json", QUESTION).stdout)
    assert "30 days" in told["answer"] and told["abstained"] is False
    assert told["citations"][0]["title"] == "Refund Policy"
    assert {"support", "reason", "answer_id", "trace_id"} <= told.keys()


def test_a_refusal_says_why_beside_the_answer(command: Helix) -> None:
    done = command("ask", "What is the capital of Mongolia?")
    assert (done.returncode, done.stdout) == (0, f"{REFUSAL}\n")
    assert "none is near enough" in done.stderr and "Closest:\n  Travel Handbook › " in done.stderr


def test_a_question_of_one_document_stays_in_it(command: Helix) -> None:
    done = command("ask", "--document", "travel handbook", QUESTION)
    assert done.stdout == f"{REFUSAL}\n", done.stdout
    missing = command("ask", "--document-id", "999999", QUESTION)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert 'there is no document "999999"' in missing.stderr


def test_a_tenant_without_documents_is_an_error(command: Helix) -> None:
    done = command("ask", "--tenant", "nobody", QUESTION)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("helix: the tenant nobody has no documents: `helix ingest")


def test_a_question_that_is_none_is_said_without_words_of_the_wire(command: Helix) -> None:
    blank = command("ask", " ")
    assert (blank.returncode, blank.stdout) == (2, "")
    assert blank.stderr.startswith("helix: the question is blank")
    long = command("ask", "x" * 5000)
    assert long.returncode == 2 and "question has 5000 characters" in long.stderr


def test_runs_are_named_by_what_they_bring_in(command: Helix) -> None:
    path = str(ROOT / "samples" / "refund-policy.txt")
    listed = command("runs")
    assert listed.returncode == 0 and "refund-policy.txt" in listed.stdout, listed.stderr
    shown = command("runs", "show", path)
    assert shown.returncode == 0 and "added, 2 chunks" in shown.stdout, shown.stderr
    followed = command("runs", "show", path, "--follow")
    assert followed.stdout.endswith(f"{path}  done  1 added\n"), followed.stderr
    ended = command("runs", "cancel", path)
    assert ended.stdout == f"{path} had ended already: done\n"


def test_a_word_file_that_cannot_be_written_is_told_before_the_question_is_asked(
    command: Helix, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere" / "a.docx"
    done = command("ask", "--word", str(nowhere), QUESTION)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"helix: {nowhere} cannot be written: No such file or directory\n"
    text = command("ask", "--word", str(tmp_path / "a.txt"), QUESTION)
    assert (text.returncode, text.stderr) == (2, "helix: a.txt does not end in .docx\n")
    assert not list(tmp_path.iterdir())


def test_errors_name_commands_and_no_routes(command: Helix) -> None:
    told = "helix: there is no space Bord: `helix spaces list` lists them\n"
    assert command("ask", "--space", "Bord", QUESTION).stderr == told
    assert command("search", "--space", "Bord", "days").stderr == told


def test_deleting_asks_first(command: Helix) -> None:
    declined = command("documents", "rm", "travel handbook")
    assert declined.returncode == 1
    assert "Travel Handbook (travel-handbook.md)" in declined.stderr
    assert "Travel Handbook" in command("documents").stdout


def test_deleted_documents_are_gone(values: dict[str, str], address: str) -> None:
    for names, asked in ((("travel", "rates"), {"HELIX_SERVER": address}), (("refund",), values)):
        done = helix("documents", "rm", *names, "--yes", **asked)
        assert done.returncode == 0 and done.stdout.startswith("deleted "), done.stderr
    empty = helix("documents", HELIX_SERVER=address)
    told = "nothing is ingested yet: `helix ingest PATH` brings files in\n"
    assert (empty.returncode, empty.stdout, empty.stderr) == (0, "", told)
    moment = datetime.now(UTC).isoformat()
    done = helix("ask", "--as-of", moment, QUESTION, HELIX_SERVER=address)
    assert f"the library has no document that was there at {moment}: ask" in done.stderr
    told = "helix: the library is empty: `helix ingest PATH` brings documents in\n"
    for asked in ({"HELIX_SERVER": address}, values):
        for options in ((), ("--json",)):
            done = helix("ask", *options, QUESTION, **asked)
            assert (done.returncode, done.stdout, done.stderr) == (1, "", told)
