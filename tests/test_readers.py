"""Readers and the walk to the files: text kept to the character, and a reason for what is not."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.readers import READERS, UnreadableFile, read
from pipelines.scan import scan, title_from_name


@pytest.mark.parametrize("suffix", sorted(READERS))
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty: there is no text in it"),
        (b" \r\n\t\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        ("\u3000\u2028".encode(), "empty"),
        (b"text\x00more", "not text: a NUL byte at offset 4"),
        ("text".encode("utf-16"), "not text: a NUL byte at offset 3"),
        (b"caf\xe9 au lait", "not UTF-8 at byte 3: save it as UTF-8 and ingest it again"),
        (b"\xed\xa0\x80 a lone surrogate", "not UTF-8 at byte 0"),
    ],
)
def test_what_is_not_text_is_refused_with_its_reason(suffix: str, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        read(PurePath(f"a{suffix}"), data)


@given(st.text().filter(lambda text: text.strip() and "\x00" not in text))
def test_text_is_kept_to_the_character(text: str) -> None:
    for suffix in READERS:
        assert read(PurePath(f"a{suffix}"), text.encode()).text == text.removeprefix("\ufeff")


def test_a_byte_order_mark_goes_and_line_ends_stay() -> None:
    data = b"\xef\xbb\xbf# One\r\n\r\nTwo\rThree\n"
    for suffix in (".txt", ".MD"):
        assert read(PurePath("a" + suffix), data).text == "# One\r\n\r\nTwo\rThree\n"
    assert read(PurePath("a.md"), data).title == "One"
    assert read(PurePath("a.txt"), data).title is None


def test_no_reader_names_the_suffixes_there_are() -> None:
    for name, shown in (("a.png", ".png"), ("Makefile", "files without a suffix")):
        with pytest.raises(UnreadableFile, match=rf"no reader for {shown} \(.*\.md, .*\.txt\)"):
            read(PurePath(name), b"text")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Refund policy\n\ntext", "Refund policy"),
        ("text first\n\n## Then *this* `code` ##\n", "Then this code"),
        ("Refund policy\n=============\n\ntext", "Refund policy"),
        ("Refund\npolicy\n---\n", "Refund policy"),
        ("```\n# not a title\n```\n\n# A title\n", "A title"),
        ("~~~~sh\n# not\n~~~\n# not yet\n~~~~\n# A title\n", "A title"),
        ("```\n# never closed\n", None),
        ("    # indented code\n", None),
        ("no heading at all\n", None),
        ("#hashtag\n", None),
        ("#\n\n# The second\n", "The second"),
        ("---\ntitle: From the front\nby: me\n---\n# Heading\n", "From the front"),
        ('---\r\ntitle: "From the front"\r\nby: me\r\n---\r\n# Heading\r\n', "From the front"),
        ("---\nby: me\n# a comment\n---\n# Heading\n", "Heading"),
        ("---\ntitle:\n---\n# Heading\n", "Heading"),
        ("---\ntitle: ''\n...\n# Heading\n", "Heading"),
        ("\n---\ntitle: not at the top\n---\n", "title: not at the top"),
        ("---\ntitle: never closed\n\n# Heading\n", "Heading"),
        ("# Größe & Maß \\* &amp; 退款\n", "Größe & Maß * & 退款"),
        ("> # Quoted\n", "Quoted"),
        ("# " + "\n\n" + "text\n" * 20_000 + "# Too far down\n", None),
    ],
)
def test_the_title_of_markdown(text: str, title: str | None) -> None:
    assert read(PurePath("a.md"), text.encode()).title == title
    assert read(PurePath("a.md"), text.encode()).text == text


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("refund-policy.txt", "Refund Policy"),
        ("GDPR_faq  2024.md", "GDPR Faq 2024"),
        ("größe.txt", "Größe"),
        ("a.b.txt", "A.b"),
        ("__.txt", "__.txt"),
    ],
)
def test_a_title_from_the_name(name: str, title: str) -> None:
    assert title_from_name(Path("some-folder", name)) == title


# --- the walk


def test_the_walk(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    folder = tmp_path / "folder"
    for name in ("b/2.md", "b/1.TXT", "a.txt", "picture.png", ".hidden.txt", ".git/x.txt"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")
    (folder / "within.txt").symlink_to("a.txt")
    (folder / "leads-out.txt").symlink_to(outside)
    (folder / "leads-out").symlink_to(tmp_path, target_is_directory=True)
    (folder / "loop.txt").symlink_to("loop.txt")
    found = scan([f"{folder}/"])
    names = [source.source_uri.removeprefix(f"{folder}/") for source in found.sources]
    assert names == ["a.txt", "within.txt", "b/1.TXT", "b/2.md"]
    assert found.problems == [
        (f"{folder}/leads-out.txt", "a symbolic link that leads out of the folder"),
        (f"{folder}/loop.txt", "a symbolic link that leads to itself"),
    ]
    assert found.ignored == 1


def test_paths_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/a.txt").write_text("text")
    Path("empty").mkdir()
    Path("link.txt").symlink_to("notes/a.txt")
    found = scan(["./notes//a.txt", "notes", "notes/../link.txt", "missing.txt", "empty"])
    assert [source.source_uri for source in found.sources] == ["notes/a.txt", "link.txt"]
    assert found.problems == [
        ("missing.txt", "no such file or folder"),
        ("empty", "no readable file in this folder"),
    ]
    odd = scan(["x" * 300, "notes/a.txt/b", "loop"])
    assert [reason for _, reason in odd.problems] == [
        "cannot be read: File name too long",
        "no such file or folder",
        "no such file or folder",
    ]


def test_a_name_that_is_not_utf_8_is_a_problem(tmp_path: Path) -> None:
    Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.txt")).write_text("text")
    [(name, reason)] = scan([str(tmp_path)]).problems
    assert (name.encode(errors="replace")[-8:], reason) == (
        b"caf?.txt",
        "its name is not UTF-8: rename it",
    )


def test_a_folder_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's refusal is feigned: root, as whom these tests may run, is refused nothing."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.txt").write_text("text")
    (tmp_path / "locked").mkdir()
    real = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = scan([str(tmp_path)])
    assert [source.path.name for source in found.sources] == ["a.txt"]
    assert found.problems == [(f"{tmp_path}/locked", "cannot be read: Permission denied")]
