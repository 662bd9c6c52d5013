"""Mails: heads in any encoding, the better of two alternatives, mails within, files by name."""

from __future__ import annotations

from base64 import b64encode

import pytest

from pipelines.readers import ReadText, UnreadableFile, read
from tests.support.mails import FORWARDED, OUTLOOK, RETURNED, THUNDERBIRD, mail


def parts(found: ReadText) -> list[tuple[tuple[str, ...], str]]:
    return [(one.heading_path, found.text[one.start : one.end]) for one in found.sections]


def test_plain_text_is_read_where_html_says_the_same() -> None:
    found = read("eml", THUNDERBIRD)
    assert found.text == (
        "Subject: Отчёт за март\n"
        "From: Иван <ivan@example.ru>\n"
        "To: Lind, Mara <mara@example.com>, ops@example.com\n"
        "Cc: boss@example.com\n"
        "Date: Mon, 3 Mar 2025 10:00:00 +0300\n"
        "Attachments: план.pdf\n\n"
        "Добрый день!\n\nСклад откроется в среду в девять утра.\n\n> Когда откроется склад?"
    )
    assert found.title == "Отчёт за март"
    assert found.metadata == {
        "subject": "Отчёт за март",
        "from": "ivan@example.ru",
        "to": ["mara@example.com", "ops@example.com"],
        "cc": ["boss@example.com"],
        "date": "2025-03-03T07:00:00Z",
        "message_id": "t1@example.org",
        "thread": "t1@example.org",
    }


def test_html_is_read_for_its_tables() -> None:
    found = read("eml", OUTLOOK)
    assert found.text.endswith(
        "Prices below – valid in 2026.\n\nItem: Bolt | Price: 12 €\nItem: Nut | Price: 7 €"
    )
    (table,) = found.tables
    assert [found.text[cell.start : cell.end] for cell in table.cells] == ["12 €", "7 €"]
    assert found.metadata["thread"] == "oa@example.com"
    assert "Attachments" not in found.text


def test_html_is_read_that_says_much_more_than_the_text_for_it() -> None:
    page = "<h1>Spring</h1><p>The sale begins on Monday.</p><h2>Shoes</h2><p>Half price.</p>"
    data = mail(
        "--A\n\nSee the page.\n--A\nContent-Type: text/html\n\n" + page + "\n--A--",
        Subject="Sale", Content_Type='multipart/alternative; boundary="A"',
    )  # fmt: skip
    assert parts(read("eml", data)) == [
        (("Spring",), "Subject: Sale\n\n# Spring\n\nThe sale begins on Monday."),
        (("Spring", "Shoes"), "## Shoes\n\nHalf price."),
    ]


def test_a_mail_within_is_a_part_under_its_subject() -> None:
    found = read("eml", FORWARDED)
    assert parts(found) == [
        (
            (),
            "Subject: Fwd: Original order\nFrom: Ann <ann@example.com>\nTo: team@example.com\n"
            "Attachments: scans.zip\n\nSee the order below.",
        ),
        (
            ("Original order",),
            "Subject: Original order\nFrom: Carl <carl@example.net>\n\n"
            "We order 40 pallets of gravel.",
        ),
    ]


def test_a_mail_within_one_of_alternatives_is_read() -> None:
    inner = "--M\nContent-Type: message/rfc822\n\nSubject: Order\n\nForty pallets.\n--M--"
    mixed = f"Content-Type: multipart/mixed; boundary=M\n\n--M\n\nSee below.\n{inner}"
    data = mail(
        f"--A\n\nSee below.\n--A\n{mixed}\n--A--", Content_Type="multipart/alternative; boundary=A"
    )
    assert [one.heading_path for one in read("eml", data).sections] == [(), ("Order",)]


def test_a_mail_within_may_be_in_base64() -> None:
    coded = b64encode(b"Subject: Order\r\n\r\nForty pallets.").decode()
    head = "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64"
    data = mail(f"--A\n{head}\n\n{coded}\n--A--", Content_Type="multipart/mixed; boundary=A")
    assert read("eml", data).text == "Subject: Order\n\nForty pallets."


def test_the_reason_why_a_mail_came_back_is_read() -> None:
    assert "Diagnostic-Code: smtp; 550 no such user" in read("eml", RETURNED).text


def test_a_head_in_bytes_of_no_told_encoding() -> None:
    data = b"Subject: \xef\xd4\xde\xa3\xd4\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\nx"
    assert read("eml", data).title == "Отчёт"
    assert read("eml", "Subject: Größe\r\n\r\nx".encode()).title == "Größe"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"no field\r\n\r\nbut text", "no field\n\nbut text"),
        (b"Subject: =?utf-8?B?\xff?=\r\nDate: yesterday\r\nTo: ,,<>\r\n\r\nText", "Text"),
        (mail("Text", Content_Type="text/plain; charset=no-such"), "Text"),
        (mail(r"C:\new", Content_Type="text/plain; charset=unicode_escape"), r"C:\new"),
        (mail("so-far", Content_Type="text/plain; charset=punycode"), "so-far"),
        (mail("VGV4dA", Content_Transfer_Encoding="base64"), "Text"),
        (mail("Text", Content_Type="multipart/mixed; boundary=A"), ""),
        (mail("--A\n\nText", Content_Type="multipart/mixed; boundary=A", Subject="S"), "Text"),
        (mail("", Subject="Only this"), "Subject: Only this"),
        (b"GIF89a\0\1", ""),
    ],
)
def test_damaged_mails_are_read_as_far_as_they_go(data: bytes, text: str) -> None:
    try:
        assert read("eml", data).text.strip().endswith(text)
    except UnreadableFile as error:
        assert not text and "empty" in str(error)


def test_what_is_sealed_is_told() -> None:
    body = "--A\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n--A--"
    kind = 'multipart/encrypted; boundary="A"'
    found = read("eml", mail(body, Subject="Secret", Content_Type=kind))
    assert found.warnings == ("what is encrypted or sealed in it is not read",)
    assert found.text == "Subject: Secret"


@pytest.mark.parametrize(
    ("part", "levels"),
    [
        ("Content-Type: message/rfc822\n\n", 3_000),
        ('Content-Type: multipart/mixed; boundary="{0}"\n\n--{0}\n', 3_000),
        # as deep as the parser of mails takes
        ('Content-Type: multipart/alternative; boundary="{0}"\n\n--{0}\n', 600),
    ],
)
def test_mails_and_parts_nested_without_end_are_refused(part: str, levels: int) -> None:
    data = "".join(map(part.format, range(levels))) + "deep"
    with pytest.raises(UnreadableFile, match=r"nested too deep|in each other"):
        read("eml", data.encode())


@pytest.mark.parametrize(
    "field",
    [
        f'Content-Type: text/plain; x="{";" * 300_000}"',
        f"Content-Disposition: attachment; filename*=punycode''{'a' * 600_000}-{'b' * 600_000}",
    ],
)
def test_parameters_without_end_take_no_time(field: str) -> None:
    within = f"--m\n{field}\n\nNo end.\n--m\n\nThe rest.\n--m--\n"
    text = read("eml", mail(within, Content_Type='multipart/mixed; boundary="m"')).text
    assert text.endswith("The rest.")
