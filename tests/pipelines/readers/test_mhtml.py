"""MHTML: a page that is saved in one file with its pictures is read as a page."""

from __future__ import annotations

from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from helix.domain.file_kinds import sniff
from pipelines.readers import UnreadableFile, read


def packed(page: str, *, encoding: str = "utf-8") -> bytes:
    message = MIMEMultipart("related", type="text/html")
    message["From"], message["Subject"] = "<Saved by Blink>", "Fair"
    message.attach(MIMEText(page, "html", encoding))
    message.attach(MIMEText("p { color: red }", "css"))
    return message.as_bytes().replace(b"\n", b"\r\n")


@pytest.mark.parametrize("name", ["fair.mhtml", "fair.doc", "fair.txt", ""])
def test_a_page_saved_with_its_pictures_is_read_as_a_page(name: str) -> None:
    data = packed("<title>Fair</title><h1>Fair</h1><p>Hall 9, stand D41, €86,000 in all.</p>")
    kind = sniff(data, name)
    assert kind == "html"
    done = read(kind, data)
    assert (done.title, done.text) == ("Fair", "# Fair\n\nHall 9, stand D41, €86,000 in all.")


def test_such_a_page_is_in_the_encoding_that_its_file_tells() -> None:
    for encoding in ("utf-8", "koi8-r", "shift_jis"):
        assert read("html", packed("<p>Привет, это цена.</p>", encoding=encoding)).text == (
            "Привет, это цена."
        )


def test_such_a_file_with_a_head_of_thousands_of_fields_is_read() -> None:
    odd = "; ".join(f"a*{number}*=x" for number in range(5_000)) + f"; b={'(' * 5_000}"
    data = packed("<p>Hall 9.</p>").replace(b"text/html;", f"text/html; {odd};".encode())
    assert read("html", data).text == "Hall 9."


def test_such_a_file_without_a_page_is_refused() -> None:
    data = packed("x").replace(b"text/html;", b"text/plain;")
    with pytest.raises(UnreadableFile, match="empty"):
        read("html", data)


def test_a_text_about_such_pages_is_text() -> None:
    text = b"The head of one:\nContent-Type: multipart/related\n\nIts parts follow.\n"
    assert sniff(text, "mime.txt") == "text"
