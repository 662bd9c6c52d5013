"""Plain text and Markdown kept to the character, in sections; and the walk to the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.file_kinds import title_from_name
from helix.domain.records import Section
from pipelines.files.scan import scan
from pipelines.readers import UnreadableFile, read
from pipelines.readers.markdown import structure_of
from pipelines.readers.outline import LONGEST_TABLE

KINDS = ("text", "markdown")
FRENCH = "Le café était très agréable ; nous avons mangé des crêpes. Où êtes-vous allés cet été ?"
POLISH = (
    "Zwrot towaru jest możliwy w ciągu trzydziestu dni od zakupu. Klient ponosi koszty przesyłki, "
    "chyba że towar jest wadliwy. Prosimy o zachowanie paragonu."
)
JAPANESE = "返品は購入日から三十日以内に限ります。詳しくはお客様サポートまでお問い合わせください。"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty: there is no text in it"),
        (b" \r\n\t\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        ("\u3000\u2028".encode(), "empty"),
        (b"text\x00more", "not text: a NUL byte at offset 4"),
        ("text".encode("utf-16-le"), "not text: a NUL byte at offset 1"),
        ("te\x00xt".encode("utf-16"), "not text: a NUL character at offset 2"),
        (b"\xff\xfet\x00e", "not UTF-16 at byte 4, although its first bytes say so"),
        (b"caf\xe9 au lait", "not UTF-8 at byte 3: save it as UTF-8 and ingest it again"),
        (b"\xed\xa0\x80 a lone surrogate", "not UTF-8 at byte 0"),
        (bytes(range(128, 256)) * 20, "not UTF-8 at byte 0"),
    ],
)
def test_what_is_not_text_is_refused_with_its_reason(kind: str, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        read(kind, data)


def test_words_that_a_man_page_cuts_are_whole() -> None:
    page = "a lock by de‐\n   fault is  set\n   con‐\n   fig_file.\n\n  non-\n  stop ‐\nend"
    mended = "a lock by default\n   is  set\n   config_file.\n\n  non-\n  stop ‐\nend"
    assert read("text", page.encode()).text == mended
    of_its_own = "well‐known\ncommand‐\n line"
    assert read("text", of_its_own.encode()).text == of_its_own


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "cp1252"),
        (POLISH, "cp1250"),
        (POLISH, "iso8859_2"),
        ("Возврат товара возможен в течение тридцати дней с момента покупки.", "koi8_r"),
        ("Возврат товара возможен в течение тридцати дней с момента покупки.", "cp1251"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (
            "退货期限为购买之日起三十天内，请保留收据。如果商品有质量问题，我们将承担运费。",
            "gb18030",
        ),
        ("Größe 𝄞", "utf-16"),
        ("Größe 𝄞", "utf-32"),
        ("Größe 𝄞", "utf-8-sig"),
    ],
)
def test_other_encodings(text: str, encoding: str) -> None:
    assert read("text", text.encode(encoding)).text == text


CITIES = "Москва Казань Омск Томск Пермь Самара Уфа Тула Рязань Псков Сочи Курск Орёл Тверь".split()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("\r\n".join(f"{city};{n}00,5;{n * 7}" for n, city in enumerate(CITIES)), "cp1251"),
        ("\r\n".join(f"{city};{n}00,5;{n * 7}" for n, city in enumerate(CITIES)), "koi8_r"),
        (
            "支店\t年度売上（円）\t年度利益（円）\r\n東京\t12,345\t13,000\r\n大阪\t8,765\t9,100",
            "shift_jis",
        ),
    ],
)
def test_tables_in_other_encodings(text: str, encoding: str) -> None:
    assert read("csv", text.encode(encoding)).text == read("csv", text.encode()).text


def test_cyrillic_words_are_not_half_width_katakana() -> None:
    with pytest.raises(UnreadableFile, match="not UTF-8"):
        read("text", "пакета;47394;0.30\r\nинформация:;23563;0.70\r\nэтом;1;0.5".encode("koi8_r"))


def test_underlined_lines_are_the_headings_of_plain_text() -> None:
    text = (
        "=======\r\n Guide\r\n=======\r\n\r\nHello.\n\nFirst\n-----\nOne.\n\nDeep\n~~~~\nTwo.\n\n"
        "Second\n------\nA last line\n\nName   Day\n----------\nof no\n-----\n\ntoo long\n---\n"
    )
    done = read("text", text.encode())
    assert done.text == text
    paths = [("Guide",), ("Guide", "First"), ("Guide", "First", "Deep"), ("Guide", "Second")]
    assert [section.heading_path for section in done.sections] == paths
    assert done.text[done.sections[2].start :].startswith("Deep\n~~~~\nTwo.")


def test_a_rule_between_texts_underlines_none_of_them() -> None:
    rule = "-" * 30
    log = f"{rule}\nr2 | bob\n\nMend the lamp\n{rule}\nr1 | al\n\nBegin\n{rule}\n"
    assert not read("text", log.encode()).sections
    longer = f"{log}\n{'x' * 30}\n{rule}\nText.\n\n{rule}\nOver\n{rule}\nText.\n"
    paths = [one.heading_path for one in read("text", longer.encode()).sections]
    assert paths == [(), ("x" * 30,), ("x" * 30, "Over")]


MANUAL = """MEND(1)                  User Commands                  MEND(1)

NAME
       mend - mends lamps
       and cups

OPTIONS
   Of lamps
       -f, --force
              Mend what is whole too.

       colour name
              the colour of the lamp

   Of cups
       -g     Glue cups.

SEE ALSO
       break(1)

mend 1.0                    2026-11-30                    MEND(1)
"""


def test_lines_at_the_margin_are_the_headings_of_a_manual_page() -> None:
    done = read("text", MANUAL.encode())
    assert done.text == MANUAL
    assert done.title == "mend - mends lamps and cups"
    under = ("OPTIONS", "Of lamps"), ("OPTIONS", "Of cups")
    paths = [one.heading_path for one in done.sections]
    assert paths == [(), ("NAME",), *under, ("SEE ALSO",)]
    assert done.text[done.sections[2].start :].startswith("OPTIONS\n   Of lamps\n")


def test_numbers_say_how_deep_a_heading_at_the_margin_is() -> None:
    rfc = "1.  Aim\n\n   Text.\n\n1.1.  Scope\n\n   Text.\n\nAppendix A.  More\n\n   Text.\n"
    paths = [one.heading_path for one in read("text", rfc.encode()).sections]
    assert paths == [("1. Aim",), ("1. Aim", "1.1. Scope"), ("Appendix A. More",)]


@pytest.mark.parametrize(
    "text",
    [
        "Milk\n  for tea\n\nBread\n  for Tom\n\nThen we went home\nand slept well\nall night.\n",
        "def mend():\n    pass\n\ndef glue():\n    pass\n\ndef paint():\n    pass\n",
        "Name    Day\n  Tom   Monday\n\nName    Day\n  Ann   Friday\n\nName  Day\n  Al  May\n",
    ],
)
def test_text_that_goes_on_at_the_margin_has_no_headings_there(text: str) -> None:
    assert not read("text", text.encode()).sections


def test_numbers_that_go_on_from_each_other_are_headings() -> None:
    text = (
        "1. Aim\n2. Means\n2.1 Glue\n3. End\n\n1. Aim\n\nWe mend.\n\n4. Not yet\n\n2. Means\n"
        "2.1 Glue\n\n1. a list\n\n2. of steps\n\nText.\n\n2.2 Paint\n\nText.\n\n3. End\n\nText.\n"
    )
    paths = [one.heading_path for one in read("text", text.encode()).sections]
    assert paths == [
        (),
        ("1. Aim",),
        ("2. Means", "2.1 Glue"),
        ("2. Means", "2.2 Paint"),
        ("3. End",),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. Milk\n\n2. Bread\n\n3. Tea\n\n4. Jam\n",
        "1. Milk.\n\nx\n\n2. Tea.\n\nx\n\n3. Jam.\n\nx\n",
    ],
)
def test_a_numbered_list_has_no_headings(text: str) -> None:
    assert not read("text", text.encode()).sections


@pytest.mark.parametrize(
    "line", ["a\n", " a\n\n", "1. a\n\n", "1.1.1 a\n", "\t", "  ", "A.  b\n c\n"]
)
def test_many_lines_take_linear_time(line: str) -> None:
    """Quadratic time would reach the test's own limit."""
    read("text", f"a{line * (400_000 // len(line))}".encode())


@given(st.text().filter(lambda text: text.strip() and "\x00" not in text))
def test_text_is_kept_to_the_character(text: str) -> None:
    for kind in KINDS:
        assert read(kind, text.encode()).text == text.removeprefix("\ufeff")


def test_a_byte_order_mark_goes_and_line_ends_stay() -> None:
    data = b"\xef\xbb\xbf# One\r\n\r\nTwo\rThree\n"
    for kind in KINDS:
        assert read(kind, data).text == "# One\r\n\r\nTwo\rThree\n"
    assert read("markdown", data).title == "One"
    assert read("text", data).title is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Refund policy\n\ntext", "Refund policy"),
        ("text first\n\n## Then *this* `code` ##\n", "Then this code"),
        ("## Planning\n\ntext\n\n## Writing\n", None),
        ("## Planning\n\ntext\n\n# Writing\n", None),
        ("## Planning\n\ntext\n\n### Writing\n", "Planning"),
        ("# Planning\n\ntext\n\n# Writing\n", "Planning"),
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
        ("% mend(1) Mending\n% A. Author\n\n# NAME\n\nmend\n\n# SYNOPSIS\n", "mend(1) Mending"),
        ("%\n# Heading\n", "Heading"),
        ("# Größe & Maß \\* &amp; 退款\n", "Größe & Maß * & 退款"),
        ("> # Quoted\n", "Quoted"),
        ("# " + "\n\n" + "text\n" * 20_000 + "# Too far down\n", None),
    ],
)
def test_the_title_of_markdown(text: str, title: str | None) -> None:
    assert read("markdown", text.encode()).title == title
    assert read("markdown", text.encode()).text == text


def outline(text: str) -> list[tuple[str, str]]:
    """(heading path, the section's text) of each section."""
    return [(" > ".join(s.heading_path), text[s.start : s.end]) for s in structure_of(text)[0]]


def blocks(text: str) -> list[str]:
    return [text[start:end] for s in structure_of(text)[0] for start, end in s.blocks]


def test_sections_by_heading() -> None:
    text = (
        "---\r\ntitle: x\r\n---\r\nBefore.\r\n\r\n# One\r\ntext\r\n## *Two*\r\n\r\n### Three\r\n"
        "more\r\n\r\nTwo b\r\n-----\r\n> # quoted\r\n\r\n- # listed\r\n\r\n"
        "Uno\r\n===\r\nend\r\n# Last"
    )
    assert outline(text) == [
        ("", "---\r\ntitle: x\r\n---"),
        ("", "Before."),
        ("One", "# One\r\ntext"),
        ("One > Two > Three", "## *Two*\r\n\r\n### Three\r\nmore"),
        ("One > Two b", "Two b\r\n-----\r\n> # quoted\r\n\r\n- # listed"),
        ("Uno", "Uno\r\n===\r\nend"),
        ("Last", "# Last"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n```py\n# no\n```\nb", ["```py\n# no\n```"]),
        ("~~~~\n~~~\n# no\n```\n~~~~\n", ["~~~~\n~~~\n# no\n```\n~~~~"]),
        ("````\n```\n# no\n```\n````\n", ["````\n```\n# no\n```\n````"]),
        ("- a\n  ```\n  # no\n  ```\n- b", ["```\n  # no\n  ```"]),
        ("> ```\n> # no\n> ```\ntext", ["> ```\n> # no\n> ```"]),
        ("```\r\n# never closed\r\n\r\n# no", ["```\r\n# never closed\r\n\r\n# no"]),
        ("a\x0bb\u2028\n```\nx\n```\n", ["```\nx\n```"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\ntext", ["| a | b |\n|---|---|\n| 1 | 2 |"]),
        ("`` not ``` a fence", []),
    ],
)
def test_code_and_tables_are_blocks(text: str, found: list[str]) -> None:
    assert blocks(text) == found
    assert len(structure_of(text)[0]) == 1


def test_a_long_table_is_a_section_of_rows_with_its_header() -> None:
    rows = "".join(f"| item {n} | {n} |\n" for n in range(LONGEST_TABLE // 10))
    text = f"# Prices\n\n| name | price |\n|---|---|\n{rows}\nAfter.\n"
    table, after = structure_of(text)[0]
    assert (table.rows, table.context, table.heading_path) == (
        True,
        "| name | price |",
        ("Prices",),
    )
    assert text[table.start : table.end].startswith("# Prices\n\n| name")
    assert (after.rows, text[after.start : after.end]) == (False, "After.")


def assert_covers(text: str, found: tuple[Section, ...]) -> None:
    place = 0
    for section in found:
        assert place <= section.start < section.end <= len(text)
        assert not text[place : section.start].strip()
        inner = section.start
        for start, end in section.blocks:
            assert inner <= start < end <= section.end
            inner = end
        place = section.end
    assert not text[place:].strip()


_LINES = st.sampled_from(
    "# a|## b *c*|a|---|===|```|~~~|```` x|> ```|> # q|- a|  - b|1. c|    code|\t# t|| a"
    "|---|<div>|<!--|-->|[a]: b|#|####### no|\x0b|\x0c|\u2028|\x85| ".split("|")
)


@given(st.lists(_LINES), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_sections_cover_the_text(lines: list[str], line_end: str, has_front: bool) -> None:
    text = line_end.join((["---", "a: b", "---"] if has_front else []) + lines)
    assert_covers(text, structure_of(text)[0])


@given(st.text(alphabet="#>`~-=|[]<!*_ \n\r\ta1.:"))
def test_sections_cover_any_marks(text: str) -> None:
    assert_covers(text, structure_of(text)[0])


@pytest.mark.parametrize(
    "text",
    [
        "#" * 300_000,
        ">" * 300_000,
        "`" * 300_000,
        "# a\n" * 20_000,
        "- " * 100_000,
        "[" * 100_000,
        "# " + "[" * 100_000,
        "".join(" " * depth + "- a\n" for depth in range(300)),
        "| a " * 2_000 + "\n" + "|---" * 2_000 + "\n" + "b\n" * 2_000,
    ],
    ids=lambda text: text[:6],
)
def test_hostile_markdown_ends(text: str) -> None:
    """Quadratic time would reach the test's own limit."""
    assert_covers(text, structure_of(text)[0])


def test_bold_lines_are_headings_below_those_with_a_mark() -> None:
    text = (
        "# One\n\n**Who pays?**\n\nWe do.\n\n  * **2.1 It ends.**\n\n  text\n\n"
        "**A rule that ends.**\n\n- **Milk**\n- **Bread**\n\n**So:**\n\n"
        "**a** and **b**\n\n## Two\n\ntext\n"
    )
    rest = "text\n\n**A rule that ends.**\n\n- **Milk**\n- **Bread**\n\n**So:**\n\n**a** and **b**"
    assert outline(text) == [
        ("One > Who pays?", "# One\n\n**Who pays?**\n\nWe do."),
        ("One > 2.1 It ends.", f"* **2.1 It ends.**\n\n  {rest}"),
        ("One > Two", "## Two\n\ntext"),
    ]


def test_a_large_text_keeps_headings_and_fences() -> None:
    part = "Part {0}\n======\n\n{1}\n```\n# no\n``` no\n```\n\n## Sub {0} ##\ntext\n"
    text = "".join(part.format(number, "word " * 4_000) for number in range(60))
    found = structure_of(text)[0]
    assert_covers(text, found)
    assert len(text) > 1_000_000
    assert [s.heading_path for s in found[-2:]] == [("Part 59",), ("Part 59", "Sub 59")]
    assert [text[a:b] for a, b in found[0].blocks] == ["```\n# no\n``` no\n```"]


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
    assert title_from_name(name) == title


# --- the walk


def test_the_walk(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    folder = tmp_path / "folder"
    for name in ("b/2.md", "b/1.TXT", "a.txt", "p.png", "~$a.docx", ".hidden.txt", ".git/x.txt"):
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
    assert found.ignored == 2


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
    assert name.endswith(r"/caf\xe9.txt") and reason == "its name is not UTF-8: rename it"


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
