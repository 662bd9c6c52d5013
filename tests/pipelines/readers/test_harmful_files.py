"""Office files that are broken or mean harm: a reason or an inert text, never more than that."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest

from pipelines.readers import UnreadableFile, read
from pipelines.readers.office import check_zip
from tests.support.sample_documents import (
    changed,
    one_of_each,
    unzipped,
    word_body,
    word_run,
    xlsx,
    zipped,
)

BODY = "word/document.xml"
OFFICE = {"docx": BODY, "pptx": "ppt/slides/slide2.xml", "xlsx": "xl/worksheets/sheet1.xml"}
SENTENCE = "The deposit is 40 euros."


def of_kind(kind: str) -> bytes:
    return next(data for name, data in one_of_each(SENTENCE).items() if name.endswith(kind))


LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "laughing"}">' for n in range(10)
)  # fmt: skip


def with_entities(kind: str, declarations: str, use: str) -> bytes:
    """A file of ``kind`` whose sentence is followed by ``use``."""
    data, name = of_kind(kind), OFFICE[kind]
    xml = unzipped(data)[name].decode()
    start = xml.index("?>") + 2 if xml.startswith("<?xml") else 0
    xml = f"<!DOCTYPE x [{declarations}]>" + xml[start:].replace(SENTENCE, SENTENCE + use)
    assert use in xml
    return changed(data, {name: xml.encode()})


def text_or_reason(kind: str, data: bytes) -> str:
    try:
        return read(kind, data).text
    except UnreadableFile as error:
        return str(error)


@pytest.mark.parametrize("kind", OFFICE)
def test_entities_are_not_expanded(kind: str) -> None:
    assert SENTENCE in read(kind, of_kind(kind)).text
    assert "laughing" not in text_or_reason(kind, with_entities(kind, LAUGHS, "&l9;"))


@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_entities_in_an_attribute_are_not_expanded(kind: str) -> None:
    data = with_entities(kind, LAUGHS, "")
    name = OFFICE[kind]
    xml = unzipped(data)[name].decode()
    use = xml.replace("<w:body", "<w:body x='&l9;'").replace("<p:cSld", "<p:cSld x='&l9;'")
    assert use != xml
    with pytest.raises(UnreadableFile, match="damaged"):
        read(kind, changed(data, {name: use.encode()}))


@pytest.mark.parametrize("kind", OFFICE)
def test_no_file_is_read_by_an_entity(kind: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the-secret")
    outside = f'<!ENTITY out SYSTEM "{secret.as_uri()}">'
    assert "the-secret" not in text_or_reason(kind, with_entities(kind, outside, "&out;"))
    remote = f'<!ENTITY % more SYSTEM "{secret.as_uri()}"> %more;'
    assert "the-secret" not in text_or_reason(kind, with_entities(kind, remote, ""))


@pytest.mark.parametrize("kind", OFFICE)
def test_broken_files_give_a_reason(kind: str) -> None:
    data = of_kind(kind)
    cases = {
        "broken": [b"", b"PK\x03\x04", data[: len(data) // 2], b"no zip at all"],
        "encrypted": [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4096), locked(data)],
        "not a readable": [
            zipped({"hello.txt": b"hello"}),
            changed(data, {OFFICE[kind]: b"<not"}),
            changed(data, {OFFICE[kind]: None}),
        ],
    }
    for reason, files in cases.items():
        for file in files:
            with pytest.raises(UnreadableFile, match=reason) as told:
                read(kind, file)
            assert "\n" not in str(told.value)


def locked(data: bytes) -> bytes:
    """Every entry flagged as encrypted, in the central directory."""
    changed_data, at = bytearray(data), 0
    while (at := data.find(b"PK\x01\x02", at + 1)) != -1:
        changed_data[at + 8] |= 1
    return bytes(changed_data)


def test_reasons_never_quote_the_document() -> None:
    sheet = xlsx({"S": [("a", 7)]})
    part = unzipped(sheet)["xl/worksheets/sheet1.xml"]
    broken = part.replace(b"<v>7</v>", f"<v>{SENTENCE}</v>".encode())
    told = text_or_reason("xlsx", changed(sheet, {"xl/worksheets/sheet1.xml": broken}))
    assert "not a readable Excel workbook" in told
    assert SENTENCE not in told


def test_a_zip_that_unpacks_to_too_much_is_refused() -> None:
    bomb = zipped({"a": bytes(20 * 2**20)})
    for kind in OFFICE:
        with pytest.raises(UnreadableFile, match="unpacks to 20 MB"):
            read(kind, bomb)
    check_zip(zipped({"a": bytes(15 * 2**20)}))
    check_zip(zipped({"a": random.Random(1).randbytes(20 * 2**20)}))


def test_a_zip_with_too_many_files_or_one_twice_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="more than 20,000 files"):
        check_zip(zipped(dict.fromkeys(map(str, range(20_001)), b"")))
    for kind in (*OFFICE, "epub"):
        out = io.BytesIO(of_kind(kind))
        with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(archive.namelist()[-1], b"another")
        with pytest.raises(UnreadableFile, match="a file twice"):
            read(kind, out.getvalue())


def test_a_book_whose_parts_take_a_password_is_encrypted_and_not_damaged() -> None:
    with pytest.raises(UnreadableFile, match="encrypted: save it without a password"):
        read("epub", locked(of_kind("epub")))


@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_the_strict_form_is_told_from_damage(kind: str) -> None:
    usual, strict = (
        b"http://schemas.openxmlformats.org/officeDocument/2006",
        b"http://purl.oclc.org",
    )
    rels = unzipped(of_kind(kind))["_rels/.rels"]
    rels = rels.replace(usual, strict + b"/ooxml/officeDocument")
    with pytest.raises(UnreadableFile, match="in the strict form: save it in the usual one"):
        read(kind, changed(of_kind(kind), {"_rels/.rels": rels}))


@pytest.mark.parametrize("element", ["sdt", "tbl"])
def test_deep_nesting_gives_a_reason(element: str) -> None:
    begin, end = {
        "sdt": ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
        "tbl": ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
    }[element]
    deep = begin * 5_000 + f"<w:p>{word_run('x')}</w:p>" + end * 5_000
    with pytest.raises(UnreadableFile, match="damaged"):
        read("docx", word_body(deep))


def assert_accounted_for(count: int) -> None:
    """Files with bytes changed, in the zip or in a part of it: a text or a reason, no crash."""
    chance = random.Random(count)
    for kind, name in OFFICE.items():
        data = of_kind(kind)
        part = unzipped(data)[name]
        for number in range(count):
            if number % 2:
                text_or_reason(kind, mutated(data, chance))
            else:
                text_or_reason(kind, changed(data, {name: mutated(part, chance)}))


def mutated(data: bytes, chance: random.Random) -> bytes:
    changed_data = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        changed_data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(changed_data[: chance.choice([len(data), len(data), chance.randrange(len(data))])])


def test_a_package_without_its_list_of_types() -> None:
    for kind in ("docx", "pptx"):
        with pytest.raises(UnreadableFile, match="not a readable"):
            read(kind, changed(of_kind(kind), {"[Content_Types].xml": None}))


def test_mutated_files_give_a_text_or_a_reason() -> None:
    assert_accounted_for(30)


@pytest.mark.soak
def test_many_mutated_files_give_a_text_or_a_reason() -> None:
    assert_accounted_for(700)
