"""Links along a series of pages are no text of a page in HTML; its own text always is."""

from __future__ import annotations

import pytest

from pipelines.readers import read

SAID = "Files are compressed in blocks, and the block size affects both the ratio and memory. "
HEAD = (
    '<title>4. Memory</title><link rel="up" href="manual.html"><link rel="prev" href="ratio.html">'
    '<link rel="next" href="limits.html">'
)
DOCBOOK = (
    '<div class="navheader"><table><tr><th colspan="3">4. Memory</th></tr><tr><td>'
    '<a accesskey="p" href="ratio.html">Prev</a></td><th>Manual</th><td>'
    '<a accesskey="h" href="index.html">Home</a></td><td>'
    '<a accesskey="n" href="limits.html">Next</a></td></tr></table><hr></div>'
)
TEXINFO = (
    '<div class="nav-panel"><p>Next: <a href="limits.html" rel="next">Limits</a>, Up: '
    '<a href="manual.html" rel="up">Manual</a> [<a href="index.html" rel="index">Index</a>]</div>'
)
LIST = (
    '<ul><li><a href="ratio.html">Prev</a><li><strong>Manual</strong>'
    '<li><a href="limits.html">Next</a></ul>'
)


@pytest.mark.parametrize("navigation", [DOCBOOK, TEXINFO, LIST])
def test_links_along_a_series_are_left_out(navigation: str) -> None:
    page = f"<h1>4. Memory</h1><p>{SAID}</p><p>Ask <a href=/help>for help</a>.</p>"
    found = read("html", f"{HEAD}<body>{navigation}{page}{navigation}".encode())
    assert found.text == f"# 4. Memory\n\n{SAID.strip()}\n\nAsk for help."


@pytest.mark.parametrize(
    "said",
    [
        f'<p>{SAID}<a href="ratio.html">The ratio</a>, <a href="limits.html">limits</a>.</p>',
        '<p><a href="ratio.html">Ratio</a>, <a href="limits.html">limits</a>, <a href=/x>x</a>.',
        '<div><h2><a href="ratio.html">Ratio</a></h2><a href="limits.html">Limits</a></div>',
        f'<table><td>{SAID * 3}<td><a href="ratio.html">1</a><a href="limits.html">2</a></table>',
        '<p>See <a href="limits.html">limits</a>.</p>',
    ],
)
def test_what_says_more_or_leads_elsewhere_stays(said: str) -> None:
    page = f"{HEAD}<body><h1>4. Memory</h1><p>{SAID * 3}</p>{said}</body>"
    bare = page.replace("rel=", "data-rel=")
    assert read("html", page.encode()).text == read("html", bare.encode()).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<div>{SAID}<a href=ratio.html>1</a> <a href=limits.html>2</a></div>", f"{SAID}1 2"),
        (
            "<table><tr><td>Short, and all of it.<tr><td><a href=ratio.html>1</a>"
            "<a href=limits.html>2</a></table>",
            "Short, and all of it.\n12",
        ),
        (
            "<ul><li><a href=ratio.html>Ratio</a>: what is won<li><a href=limits.html>Limits</a>: "
            "what is not</ul>",
            "- Ratio: what is won\n- Limits: what is not",
        ),
        ("<a href=ratio.html>1</a> <a href=limits.html>2</a>", "1 2"),
        (
            "<table><tr><th>4. <code>Memory</code></th><td><a href=ratio.html>1</a>"
            "<a href=limits.html>2</a></table><p>Text.",
            "Text.",
        ),
    ],
)
def test_a_part_that_says_more_than_it_links_is_text(body: str, text: str) -> None:
    assert read("html", f"{HEAD}<body>{body}".encode()).text == text


def test_a_page_of_little_else_keeps_its_text() -> None:
    links = '<div><a href="ratio.html">1</a> <a href="limits.html">2</a></div>'
    page = f"{HEAD}<body><div>{links * 3}<p>Text.</p></div>"
    assert read("html", page.encode()).text == "Text."


def test_without_rel_nothing_is_left_out() -> None:
    page = f"<title>T</title><body>{LIST}<h1>4. Memory</h1><p>{SAID * 3}</p></body>"
    assert "Next" in read("html", page.encode()).text
