"""The ingest command from outside: real files, a real Postgres, Gemini over the wire."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.fake_embedder import documents, embedded, rows
from tests.support.ingest_command import SLICES, ingest
from tests.support.repository import ROOT
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire

pytestmark = pytest.mark.processes

READS = (
    "Helix reads text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, CSV and EPUB"
    " files, mails (.eml) and notebooks (.ipynb)"
)


# --- what goes in


def test_the_bundled_sample_as_a_process(folder: Path, database_url: str, wire: GeminiWire) -> None:
    first = Process("pipelines.ingest", cwd=ROOT, env=os.environ)
    told, errors = first.communicate(timeout=100)
    assert (first.returncode, "failed" in errors) == (0, False), errors
    assert "added     samples/refund-policy.txt (" in errors
    assert "\x1b" not in errors + told, "plain lines where there is no terminal"
    assert " added, 0 replaced, 0 unchanged, 0 failed; " in told
    assert documents(database_url)["samples/refund-policy.txt"][1] == "Refund Policy"
    assert rows(database_url, SLICES) == [(True,)]
    assert all(text.partition("\n\n")[0] for text in embedded(wire))
    assert [text for text in embedded(wire) if text.startswith("Refund Policy\n\n")]
    assert wire.received("embed")[0].body["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"
    wire.requests.clear()
    os.chdir(ROOT)
    assert ingest("samples").exit_code == ingest("./samples/refund-policy.txt").exit_code == 0
    assert wire.requests == []


def test_a_file_comes_in_without_anything_of_answering(folder: Path, database_url: str) -> None:
    (folder / "a.txt").write_text("Only this.")
    told = "{name.split('.')[1] for name in sys.modules if name.startswith('helix.')}"
    code = f"import sys; from pipelines.ingest import ingest; ingest(['a.txt']); print(*{told})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 added" in done.stdout, done.stderr
    rooms = set(done.stdout.splitlines()[-1].split())
    assert "storage" in rooms
    assert not rooms & {"agent", "answering", "conversations", "protocols", "serving", "study"}


def test_an_empty_path_is_not_this_folder(folder: Path, database_url: str) -> None:
    (folder / "a.txt").write_text("Only this.")
    done = ingest("")
    told = "ingest: a path is empty: name a file or folder; this folder is .\n"
    assert (done.exit_code, done.stderr) == (2, told)


def test_ctrl_c_ends_the_look_at_a_large_folder(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = []

    def interrupted_walk(paths: object, base: object) -> None:
        signal.raise_signal(signal.SIGINT)
        walked.append(paths)

    monkeypatch.setattr("pipelines.runs.path_plan.scan", interrupted_walk)
    # a shell's background job is begun with the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = ingest(".")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.exit_code, walked) == (130, [])
    assert done.stderr.startswith("ingest: interrupted; ")


def test_titles(folder: Path, database_url: str) -> None:
    (folder / "refund-policy_2024.txt").write_text("# Not Markdown.")
    (folder / "with-heading.md").write_text("Intro\n\n# The *Real* Title\n\nText.")
    (folder / "front.md").write_text("---\ntitle: 'The Front'\n---\n# Heading\n")
    (folder / "no-heading.markdown").write_text("Text.")
    (folder / "turned.html").write_text("<title>An invoice \u202efdp.exe</title><p>Text.")
    (folder / "invoice \u202efdp.txt").write_text("Text.")
    assert ingest(".").exit_code == 0
    assert {uri: title for uri, (_, title) in documents(database_url).items()} == {
        "refund-policy_2024.txt": "Refund Policy 2024",
        "with-heading.md": "The Real Title",
        "front.md": "The Front",
        "no-heading.markdown": "No Heading",
        "turned.html": "An invoice fdp.exe",
        "invoice \u202efdp.txt": "Invoice Fdp",
    }
    turned = "SELECT file_name FROM documents WHERE title = 'Invoice Fdp'"
    assert rows(database_url, turned) == [("invoice fdp.txt",)]


def test_the_title_option(folder: Path, database_url: str, wire: GeminiWire) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("Text.")
    blank = "--title is blank or not text: give the title, or leave it out"
    for arguments, said in (
        (("a.txt", "b.txt", "--title", "Mine"), "--title takes one file; 2 were given"),
        ((".", "--title", "Mine"), "--title takes one file; 2 were given"),
        (("none.txt", "--title", "Mine"), "--title takes one file; 0 were given"),
        (("a.txt", "--title", " "), blank),
    ):
        refused = ingest(*arguments)
        assert (refused.exit_code, refused.stderr) == (2, f"ingest: {said}\n")
    assert (documents(database_url), wire.requests) == ({}, [])
    assert ingest("a.txt", "--title", "Mine & Yours").exit_code == 0
    assert [title for _, title in documents(database_url).values()] == ["Mine & Yours"]
    assert embedded(wire) == ["Mine & Yours\n\nText."]
    assert "1 unchanged" in ingest("a.txt", "--title", "Mine & Yours").stdout


def test_an_unchanged_file_costs_nothing_and_a_changed_one_is_replaced(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"Only {name} says this.\n\nThe old end of {name}.")
    assert ingest(".").exit_code == 0
    before = documents(database_url)
    wire.requests.clear()
    os.utime(folder / "a.txt", (0, 0))
    result = ingest(".")
    assert (result.exit_code, wire.requests) == (0, [])
    assert "3 files: 0 added, 0 replaced, 3 unchanged, 0 failed; 0 chunks" in result.stdout
    (folder / "b.txt").write_text("Only b says this.\n\nA new end.")
    result = ingest(".")
    assert "replaced  b.txt (1 chunks)" in result.stderr
    assert "3 files: 0 added, 1 replaced, 2 unchanged, 0 failed; 1 chunks" in result.stdout
    assert embedded(wire) == ["B\n\nOnly b says this.\n\nA new end."]
    assert documents(database_url) == before
    content = "SELECT content FROM chunks WHERE document_id = %s"
    assert rows(database_url, content, before["b.txt"][0]) == [("Only b says this.\n\nA new end.",)]
    assert rows(database_url, SLICES) == [(True,)]


def test_many_small_files_cost_few_requests(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    for number in range(20):
        (folder / f"{number}.txt").write_text(f"Number {number}.")
    assert ingest(".").exit_code == 0
    sizes = [len(r.body["requests"]) for r in wire.received("embed")]
    assert sum(sizes) == 20 and len(sizes) <= 12, "not one a file"
    assert len(documents(database_url)) == 20


# --- what does not


def test_what_cannot_be_read_is_named_and_the_rest_goes_in(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    outside = folder.parent / f"{folder.name}-outside.txt"
    outside.write_text("Not yours.")
    inside = folder / "docs"
    inside.mkdir()
    (inside / "good.txt").write_text("Good text.")
    (inside / "also good.md").write_bytes(b"\xef\xbb\xbf# Gr\xc3\xb6\xc3\x9fe\r\n\r\nText.\r\n")
    (inside / "empty.txt").touch()
    (inside / "blank.md").write_text(" \n\t\n")
    (inside / "latin.txt").write_bytes(b"caf\xe9")
    (inside / "nul.txt").write_bytes(b"text\0")
    (inside / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (inside / ".hidden.txt").write_text("Hidden.")
    (inside / "away.txt").symlink_to(outside)
    (inside / "broken.txt").symlink_to("nothing.txt")
    os.mkfifo(inside / "pipe.txt")
    Path(os.fsdecode(b"docs/caf\xe9.txt")).write_text("Its name is Latin-1.")
    result = ingest("docs", "missing.txt", "docs/picture.png", "docs/good.txt")
    assert result.exit_code == 1
    failed = {
        line.removeprefix("failed ").strip()
        for line in result.stderr.splitlines()
        if line.startswith("failed ")
    }
    assert failed == {
        "docs/empty.txt: empty: there is no text in it",
        "docs/blank.md: empty: there is no text in it",
        "docs/latin.txt: not UTF-8 at byte 3: save it as UTF-8 and ingest it again",
        f"docs/nul.txt: binary data; {READS}",
        "docs/away.txt: a symbolic link that leads out of the folder",
        "docs/broken.txt: cannot be read: No such file or directory",
        "docs/pipe.txt: not a file",
        f"docs/picture.png: a PNG image; {READS}",
        "missing.txt: no such file or folder",
        r"docs/caf\xe9.txt: its name is not UTF-8: rename it",
    }
    assert "12 files: 2 added, 0 replaced, 0 unchanged, 10 failed; 2 chunks" in result.stdout
    named = ingest(os.fsdecode(b"docs/caf\xe9.txt"))
    assert (named.exit_code, named.stderr) == (
        2, "ingest: docs/caf\\xe9.txt: its name is not UTF-8: rename it\n"
    )  # fmt: skip
    assert "files of other types, passed over: 1" in result.stdout
    assert {uri: title for uri, (_, title) in documents(database_url).items()} == {
        "docs/good.txt": "Good",
        "docs/also good.md": "Größe",
    }
    assert rows(database_url, "SELECT text FROM documents WHERE title = 'Größe'") == [
        ("# Größe\r\n\r\nText.\r\n",)
    ]


def test_nothing_to_read(folder: Path, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pictures").mkdir()
    (folder / "pictures" / "a.png").write_bytes(b"\x89PNG")
    result = ingest("pictures")
    assert (result.exit_code, wire.requests) == (1, [])
    assert result.stderr == "failed    pictures: no readable file in this folder\n"
    assert "files of other types, passed over: 1" in result.stdout
    web = "https://example.com/x.pdf"
    told = f"failed    {web}: no file: `helix crawl` brings in pages of the web\n"
    assert ingest(web).stderr == told
    result = ingest()
    assert result.exit_code == 2
    told = "ingest: no path is given, and this folder has no samples/: name files or folders\n"
    assert result.stderr == told
    monkeypatch.delenv("DATABASE_URL")
    result = ingest("pictures")
    assert (result.exit_code, result.stderr.startswith("ingest: DATABASE_URL is not set: ")) == (
        1,
        True,
    )


@pytest.mark.parametrize("megabytes", [1, pytest.param(50, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
def test_a_big_file_up_to_the_limit(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    monkeypatch.setenv("HELIX_EMBEDDER", "offline")
    monkeypatch.setenv("HELIX_MAX_FILE_MB", str(megabytes))
    sentence = "Parcel %07d left the warehouse on time, and its buyer was told so by letter.\n"
    size = megabytes * 2**20
    count = (size if megabytes > 1 else size // 10) // len(sentence % 0)
    text = "".join(sentence % number for number in range(count))
    big = folder / "big.txt"  # blank lines before the text, which cost no embedding, fill it up
    big.write_text(text.rjust(size + 1, "\n"))
    refused = ingest("big.txt")
    assert refused.exit_code == 1
    limit = f"{megabytes} MB; the limit is {megabytes} (HELIX_MAX_FILE_MB)"
    assert f"failed    big.txt: {limit}" in refused.stderr
    assert documents(database_url) == {}
    big.write_text(text.rjust(size, "\n"))
    assert ingest("big.txt").exit_code == 0
    [(stored,)] = rows(database_url, "SELECT text FROM documents")
    assert stored == big.read_text()
    slices = rows(database_url, "SELECT content, start_char, end_char FROM chunks ORDER BY ordinal")
    assert all(content == stored[start:end] for content, start, end in slices)
    assert (slices[0][1], slices[-1][2]) == (size - len(text), len(stored.rstrip()))


# --- what it tells


def test_help_tells_what_is_so() -> None:
    shown = " ".join(ingest("--help").stdout.replace("│", " ").split())
    for said in ("samples/ of this folder", "takes exactly one file", "exit status is then 1"):
        assert said in shown


def test_chunks_are_of_the_sizes_that_are_set_and_cut_anew_by_others(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " ".join(f"Rule {n} says that a refund of order {n} takes {n} days." for n in range(60))
    (folder / "rules.txt").write_text(text)
    spans = "SELECT start_char, end_char FROM chunks ORDER BY start_char"
    assert "1 added" in ingest("rules.txt").output
    usual = rows(database_url, spans)
    monkeypatch.setenv("CHUNK_TARGET_TOKENS", "60")
    monkeypatch.setenv("CHUNK_OVERLAP_TOKENS", "0")
    assert "1 replaced" in ingest("rules.txt").output
    assert "1 unchanged" in ingest("rules.txt").output
    short = rows(database_url, spans)
    assert len(short) > 3 * len(usual)
    assert all(end <= start for (_, end), (start, _) in pairwise(short)), "nothing is repeated"
    monkeypatch.setenv("CHUNK_OVERLAP_TOKENS", "30")
    assert "1 replaced" in ingest("rules.txt").output
    overlapping = rows(database_url, spans)
    assert any(end > start for (_, end), (start, _) in pairwise(overlapping))
    for name in ("CHUNK_TARGET_TOKENS", "CHUNK_OVERLAP_TOKENS"):
        monkeypatch.delenv(name)
    assert "1 replaced" in ingest("rules.txt").output
    assert rows(database_url, spans) == usual
