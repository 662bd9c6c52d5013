"""The numbers that Word shows in front of headings, clauses, items and rows, and does not store."""

from __future__ import annotations

from collections.abc import Sequence

from docx.oxml.ns import nsdecls

from pipelines.readers import ReadText, read
from tests.support.sample_documents import changed, word_body, word_run


def level(depth: int, form: str, text: str, more: str = "") -> str:
    return (
        f"<w:lvl w:ilvl='{depth}'><w:start w:val='1'/><w:numFmt w:val='{form}'/>{more}"
        f"<w:lvlText w:val='{text}'/></w:lvl>"
    )


def paragraph(text: str, listed: int, depth: int = 0, more: str = "") -> str:
    place = f"<w:numPr><w:ilvl w:val='{depth}'/><w:numId w:val='{listed}'/></w:numPr>"
    return f"<w:p><w:pPr>{place}{more}</w:pPr>{word_run(text) if text else ''}</w:p>"


def numbered(lists: Sequence[Sequence[str]], body: str, more: str = "") -> ReadText:
    """A document whose list 1 is the first of ``lists``, a definition by level, and so on."""
    definitions = "".join(
        f"<w:abstractNum w:abstractNumId='{n}'>{''.join(levels)}</w:abstractNum>"
        for n, levels in enumerate(lists)
    )
    instances = "".join(
        f"<w:num w:numId='{n + 1}'><w:abstractNumId w:val='{n}'/></w:num>"
        for n in range(len(lists))
    )
    numbering = f"<w:numbering {nsdecls('w')}>{definitions}{instances}{more}</w:numbering>"
    return read("docx", changed(word_body(body), {"word/numbering.xml": numbering.encode()}))


STEPS = (level(0, "decimal", "%1."), level(1, "lowerLetter", "%2)"), level(2, "bullet", "•"))
CLAUSES = (level(0, "upperRoman", "Article %1"), level(1, "decimal", "%1.%2", "<w:isLgl/>"))


def test_items_have_their_numbers_and_bullets_none() -> None:
    items = [("Ask", 0), ("in writing", 1), ("by post", 2), ("early", 1), ("Wait", 0), ("a day", 1)]
    done = numbered([STEPS], "".join(paragraph(text, 1, depth) for text, depth in items))
    assert done.text == "1. Ask\n  a) in writing\n    - by post\n  b) early\n2. Wait\n  a) a day"


def test_headings_and_clauses_are_cited_by_their_numbers() -> None:
    outline = "<w:outlineLvl w:val='0'/>"
    done = numbered(
        [CLAUSES],
        paragraph("Fees", 1, 0, outline)
        + paragraph("They are due in May.", 1, 1)
        + paragraph("They are low.", 1, 1)
        + paragraph("End", 1, 0, outline)
        + paragraph("It ends in June.", 1, 1),
    )
    assert [section.heading_path for section in done.sections] == [
        ("Article I Fees",),
        ("Article II End",),
    ]
    assert "Article I Fees\n\n1.1 They are due in May.\n\n1.2 They are low." in done.text
    assert done.text.endswith("Article II End\n\n2.1 It ends in June.")
    assert numbered([CLAUSES], paragraph("Fees", 1, 0, outline)).title == "Fees"


def test_lists_of_one_definition_go_on_unless_one_starts_anew() -> None:
    own = "<w:abstractNumId w:val='0'/>"
    more = (
        f"<w:num w:numId='8'>{own}</w:num><w:num w:numId='9'>{own}<w:lvlOverride w:ilvl='0'>"
        "<w:startOverride w:val='5'/></w:lvlOverride></w:num>"
    )
    done = numbered([STEPS], "".join(paragraph("x", n) for n in (1, 8, 9, 9, 77)), more)
    assert done.text == "1. x\n2. x\n5. x\n6. x\n- x"


def test_empty_paragraphs_count_and_deleted_ones_do_not() -> None:
    deleted = paragraph("", 1, more="<w:rPr><w:del/></w:rPr>")
    done = numbered([STEPS], paragraph("a", 1) + deleted + paragraph("", 1) + paragraph("b", 1))
    assert done.text == "1. a\n3. b"


def test_a_column_of_numbers_in_a_table_is_read() -> None:
    rows = "".join(
        f"<w:tr><w:tc>{first}</w:tc><w:tc><w:p>{word_run(second)}</w:p></w:tc></w:tr>"
        for first, second in (
            (f"<w:p>{word_run('No.')}</w:p>", "Task"),
            (paragraph("", 1), "Sweep"),
            (paragraph("", 1), "Mop"),
        )
    )
    done = numbered([STEPS], f"<w:tbl>{rows}</w:tbl>")
    assert done.text == "No.: 1. | Task: Sweep\nNo.: 2. | Task: Mop"


def test_a_list_takes_its_levels_from_its_style_s() -> None:
    link = "<w:numStyleLink w:val='Steps'/>"
    done = numbered([[link], ["<w:styleLink w:val='Steps'/>", *STEPS]], paragraph("x", 1))
    assert done.text == "1. x"


def test_the_forms_of_numbers() -> None:
    forms = ("decimal", "upperLetter", "lowerRoman", "chineseCounting", "rare", "none")
    lists = [[level(0, form, "(%1)")] for form in forms]
    body = "".join(paragraph(form, n) for n, form in enumerate(forms, 1) for _ in range(29))
    found = {line for line in numbered(lists, body).text.splitlines() if line}
    assert found >= {
        *("(1) decimal", "(29) decimal", "(Z) upperLetter", "(CC) upperLetter"),
        *("(iv) lowerRoman", "(xxix) lowerRoman", "(29) rare", "() none"),
        *("(一) chineseCounting", "(十) chineseCounting", "(十一) chineseCounting"),
        *("(二十) chineseCounting", "(二十九) chineseCounting"),
    }


def test_numbers_that_are_none_stop_nobody() -> None:
    odd = level(0, "upperRoman", "%1 " + "x" * 1000).replace("'1'", "'99999999999'", 1)
    assert len(numbered([[odd, "<w:lvl/>"]], paragraph("a", 1) * 3).text) < 300
