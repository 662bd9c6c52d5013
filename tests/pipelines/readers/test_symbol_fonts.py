"""Signs of Word's symbol fonts, and text that is hidden from who opens a document."""

from __future__ import annotations

import io

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from pipelines.readers import read


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ('<w:r><w:t>5 </w:t><w:sym w:font="Symbol" w:char="F06D"/><w:t>m</w:t></w:r>', "5 μm"),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t> paid</w:t></w:r>', "✓ paid"),
        ('<w:r><w:sym w:font="Wingdings 2" w:char="52"/><w:t> paid</w:t></w:r>', "☑ paid"),
        ('<w:r><w:sym w:font="Arial" w:char="2265"/><w:t> 3</w:t></w:r>', "≥ 3"),
        ('<w:r><w:sym w:font="Unknown" w:char="F0B1"/><w:sym w:char="x"/><w:t>3</w:t></w:r>', "3"),
        (
            '<w:r><w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr><w:t>\uf0b1</w:t></w:r>'
            "<w:r><w:t>3 </w:t></w:r>", "±3",
        ),
        (
            "<w:r><w:t>Shown</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t> not</w:t></w:r>"
            '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> too</w:t></w:r>', "Shown too",
        ),
    ],
)  # fmt: skip
def test_a_paragraph_is_read_as_it_is_seen(runs: str, text: str) -> None:
    document, out = docx.Document(), io.BytesIO()
    document.element.body.insert(0, parse_xml(f"<w:p {nsdecls('w')}>{runs}</w:p>"))
    document.save(out)
    assert read("docx", out.getvalue()).text == text
