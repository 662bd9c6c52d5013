"""Plain text and Markdown kept to the character, in sections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.records import Section
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
