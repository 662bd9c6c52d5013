"""Lists of HTML: their numbers as they are shown, and a term in front of what defines it."""

from __future__ import annotations

import pytest

from pipelines.readers import read
from pipelines.readers.html_tree import parse_tree
from pipelines.readers.markup import TextOfMarkup

SAID = "Files are compressed in blocks, and the block size affects both the ratio and memory."


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        (
            "<dt>Borrower</dt><dd><p>Who receives it.</p><p>Pays it back.</p></dd>",
            "- Borrower: Who receives it.\n  Pays it back.",
        ),
        ("<dt>-h</dt><dt><code>--help</code><dd>Show help.", "- -h, --help: Show help."),
        ("<dt>From:</dt><dd>Ada</dd><dt>来自：</dt><dd>艾达</dd>", "- From: Ada\n\n- 来自： 艾达"),
        (
            "<div><dt>[1]</dt><dd>A note.</dd></div><dt>404</dt><dd>Gone.",
            "- [1] A note.\n\n- 404: Gone.",
        ),
        ("<dt>Can I?</dt><dd>Yes.</dd>", "- Can I?\n  Yes."),
        ("<dt>Empty</dt><dd></dd><dt>Full</dt><dd>Of it.</dd>", "- Empty\n\n- Full: Of it."),
        ("<dt>One</dt><dt>Two</dt>", "- One\n- Two"),
        ("<dt>Colours</dt><dd><ul><li>red<li>blue</ul></dd>", "- Colours\n  - red\n  - blue"),
        ("<dt>Usage</dt><dd><pre>run it</pre></dd>", "- Usage\n\n```\nrun it\n```"),
        ("<dt>Outer</dt><dd><dl><dt>inner</dt><dd>It.</dd></dl></dd>", "- Outer\n\n  - inner: It."),
        ("<dt><h3>Part</h3></dt><dd>Of it.</dd>", "### Part\n\nOf it."),
        (f"<dt>{'so ' * 80}</dt><dd>So it is.</dd>", f"- {'so ' * 79}so\n  So it is."),
    ],
)
def test_a_term_stands_in_front_of_what_defines_it(entries: str, text: str) -> None:
    gathered = TextOfMarkup()
    gathered.add(parse_tree(f"<p>Above.</p><dl>{entries}</dl><p>Below.</p>"))
    assert gathered.text == f"Above.\n\n{text}\n\nBelow."


def test_a_term_without_a_definition_labels_nothing_else() -> None:
    gathered = TextOfMarkup()
    gathered.add(parse_tree("<p>One.</p><dt>Lost</dt>"))
    gathered.add(
        parse_tree("<dl><dt><h3>Part</h3></dt><dd>Of it.</dd><dt>B</dt></dl><p>After.</p>")
    )
    gathered.add(parse_tree("<ol><li><dl><dt>A</dt></dl></li><li>two</li></ol>"))
    assert gathered.text == (
        "One.\n\n- Lost\n\n### Part\n\nOf it.\n\n- B\n\nAfter.\n\n  1. A\n2. two"
    )


def test_terms_of_an_extracted_page_too() -> None:
    menu = "".join(f'<li><a href="/{n}">Another of many pages, {n}</a></li>' for n in range(30))
    terms = f"<dl><dt><code>rate</code></dt><dd>The rate.</dd><dt>Loan Fee</dt><dd>{SAID}</dd></dl>"
    page = (
        f"<body><ul>{menu}</ul><div id=content><h1>Loans</h1><p>{f'{SAID} ' * 6}</p>{terms}</div>"
    )
    text = read("html", page.encode()).text
    assert "- rate: The rate.\n" in text and f"- Loan Fee: {SAID}" in text
    assert "Another" not in text


@pytest.mark.parametrize(
    ("numbered", "text"),
    [
        ("<ol start=3><li>c<li>d<li value=9>e<li>f</ol>", "3. c\n4. d\n9. e\n10. f"),
        ("<ol type=a><li>x<ol type=i start=4><li>y</ol><li>z</ol>", "a. x\n  iv. y\nb. z"),
        ("<ol reversed><li>x<li>y</ol>", "2. x\n1. y"),
        ("<ol start=no><li value=''>x</ol><ul><li value=7>y</ul>", "1. x\n\n- y"),
    ],
)
def test_a_list_has_the_numbers_that_are_shown(numbered: str, text: str) -> None:
    gathered = TextOfMarkup()
    gathered.add(parse_tree(f"<div>{numbered}</div>"))
    assert gathered.text == text


def test_numbers_of_an_extracted_page_too() -> None:
    menu = "".join(f'<li><a href="/{n}">Another of many pages, {n}</a></li>' for n in range(30))
    steps = f"<ol start=3><li>{SAID}</li><li><b>Then</b> wait.</li></ol>"
    page = f"<body><ul>{menu}</ul><div id=content><h1>Loans</h1><p>{SAID * 6}</p>{steps}</div>"
    text = read("html", page.encode()).text
    assert f"3. {SAID}\n4. Then wait." in text and "Another" not in text
