"""HTML: the content with its headings, code and tables, and nothing fetched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.readers import ReadText, UnreadableFile, read
from pipelines.readers.html_tree import parse_tree

PAGE = """<!doctype html><html><head><title>API &mdash;
 Docs</title><link rel="canonical" href="/docs/api"><style>p {}</style></head><body>
<nav><a href="/a#x">Home of the site</a> <a href="//other.example/b">Other</a></nav>
<main><h1>Widget API<a class="headerlink" href="#api">¶</a></h1>
<p>The API makes <code>snake_case</code> widgets: 5 * 3 of them, <b>at once</b>, as a
<a href="c?d=1">link</a> says. This sentence makes the paragraph long enough for anybody.</p>
<h2>Install</h2><pre><code class="language-sh">pip install widget
# no heading
  ``` indented
</code></pre>
<h3>Options</h3><p>They are:</p><ul><li>first<ul><li>nested</li></ul></li><li>second</li></ul>
<table><tr><th>Name</th><th>Price</th></tr><tr><td>Sprocket</td><td>10 €</td></tr></table>
<h2>Empty</h2><h2>Last</h2><p>Bye<br>now</p><a href="mailto:x@y.example">m</a><a href="c?d=1">2</a>
</main><script>var secret = "no";</script><footer>Copyright</footer></body></html>"""


def outline(found: ReadText) -> list[tuple[str, str]]:
    return [(" > ".join(s.heading_path), found.text[s.start : s.end]) for s in found.sections]


def test_a_page() -> None:
    found = read("html", PAGE.encode())
    assert found.title == "API — Docs"
    assert outline(found) == [
        (
            "Widget API",
            "# Widget API\n\nThe API makes snake_case widgets: 5 * 3 of them, at once, as a link "
            "says. This sentence makes the paragraph long enough for anybody.",
        ),
        (
            "Widget API > Install",
            "## Install\n\n````\npip install widget\n# no heading\n  ``` indented\n````",
        ),
        (
            "Widget API > Install > Options",
            "### Options\n\nThey are:\n\n- first\n  - nested\n- second\n\n"
            "Name: Sprocket | Price: 10 €",
        ),
        ("Widget API > Last", "## Empty\n\n## Last\n\nBye\nnow"),
    ]
    [code] = found.sections[1].blocks
    [table] = found.sections[2].blocks
    assert found.text[slice(*code)].startswith("````\npip")
    assert found.text[slice(*table)].startswith("Name: Sprocket")


def test_headings_of_a_manual_are_kept() -> None:
    title = '<div class="titlepage"><div><div><h2 class="title">{}</h2></div></div></div>'
    said = "Files are compressed in blocks, and the block size affects both the ratio and memory. "
    parts = "".join(
        f'<div class="sect1">{title.format(name)}<p>{said * 4}</p></div>'
        for name in ("1. Name", "2. Memory", "3. Limits")
    )
    page = f'<title>A manual</title><body><div class="book">{parts}</div></body>'
    headings = [path for path, _ in outline(read("html", page.encode()))]
    assert headings == ["1. Name", "2. Memory", "3. Limits"]


SAID = "Files are compressed in blocks, and the block size affects both the ratio and memory. "


def test_headings_below_a_list_of_contents_are_kept() -> None:
    names = [f"{n}. Setting {n} of the program" for n in range(1, 7)]
    contents = "".join(f'<li><a href="#s{n}">{name}</a></li>' for n, name in enumerate(names))
    parts = "".join(
        f'<div class="section" id="s{n}"><h2><a href="#t{n}">{name}</a></h2><p>{SAID * 2}</p></div>'
        for n, name in enumerate(names)
    )
    page = f"<title>A manual</title><body><div><ul>{contents}</ul></div>{parts}</body>"
    headings = [path for path, _ in outline(read("html", page.encode())) if path]
    assert headings == names


def test_lists_in_nested_sections_are_kept() -> None:
    rows = "".join(
        f"<div><ul><li><p><span><strong>Colour {n}</strong></span>: opens a chooser for the colour "
        f"of row {n}, which alternates.</p></li></ul></div>"
        for n in range(4)
    )
    parts = "".join(
        f'<div class="sect2"><div class="titlepage"><h3>Sheet {n}</h3></div><p>It has tabs.</p>'
        f'<div class="sect3"><h4>Tab</h4>{rows}</div></div>'
        for n in range(5)
    )
    title = '<div class="titlepage"><h2>Styles</h2></div>'
    page = f"<title>A manual</title><div>{title}<p>{SAID * 3}</p><p>{SAID * 2}</p>{parts}</div>"
    text = read("html", page.encode()).text
    assert text.count("Colour") == 4 * 5 and text.count("### Sheet") == 5


def test_links_to_other_pages_beside_an_article_are_left_out() -> None:
    menu = "".join(
        f'<div class="teaser"><h3><a href="/news/{n}">Another story {n}</a></h3></div>'
        for n in range(20)
    )
    article = f"<h1>Blocks</h1><p>{SAID * 5}</p><p>It follows that large blocks win. {SAID * 5}</p>"
    page = f'<title>News</title><div id="content">{article}</div><div class="menu">{menu}</div>'
    text = read("html", page.encode()).text
    assert SAID.strip() in text and "Another story" not in text


def test_notes_that_are_most_of_a_page_are_kept_with_a_few_links() -> None:
    kept = "".join(f'<p class="paragraph">{n} {SAID * 2}</p>' for n in range(3))
    notes = "".join(
        f'<div class="embedded"><div class="note"><div class="notetext"><p>Note {n}: {SAID * 3}</p>'
        "</div></div><br></div>"
        for n in range(4)
    )
    links = "".join(f'<p><a href="/{n}">Another page, {n}</a></p>' for n in range(16))
    see = f'<div class="embedded"><h4>See</h4></div>{links}'
    page = f'<body><div id="DisplayArea"><h2>Days</h2>{kept}{notes}{see}</div>'
    assert read("html", page.encode()).text.count(": Files") == 4


@pytest.mark.parametrize(
    "data",
    [
        "<meta charset=koi8-r><p>Возврат товара</p>".encode("koi8-r"),
        "<?xml version='1.0' encoding='koi8-r'?><p>Возврат товара</p>".encode("koi8-r"),
        "<meta charset=koi8-r><p>Возврат товара</p>".encode("utf-16"),
        "<meta charset=no-such-charset><p>Возврат товара</p>".encode(),
        "<meta charset=zip><p>Возврат товара</p>".encode(),
        "<?xml version='1.0' encoding='utf-16'?><p>Возврат товара</p>".encode(),
        b"<meta charset=utf-16><p>&#1042;&#1086;&#1079;&#1074;&#1088;&#1072;&#1090; "
        b"&#1090;&#1086;&#1074;&#1072;&#1088;&#1072;</p>",
    ],
)
def test_the_encoding(data: bytes) -> None:
    assert read("html", data).text == "Возврат товара"


def test_what_is_neither_declared_nor_utf_8_is_as_browsers_take_it() -> None:
    assert read("html", b"<meta charset=latin1><p>\x93caf\xe9\x94</p>").text == "“café”"
    assert read("html", b"<p>\x93caf\xe9\x94</p>").text == "“café”"


def test_a_broken_character_is_all_that_a_page_loses() -> None:
    page = "<meta charset=utf-8><p>Возврат товара</p>".encode()
    assert read("html", page.replace(b"<p>", b"<p>\xe9 ")).text == "\ufffd Возврат товара"
    assert read("html", b"<meta charset=utf-8><p>caf\xe9, cr\xe8me</p>").text == "café, crème"


def test_utf_8_with_the_declaration_of_another_encoding() -> None:
    page = "<meta charset=gb2312><p>谷歌收购的人工智能公司</p>"
    assert read("html", page.encode()).text == "谷歌收购的人工智能公司"
    assert read("html", page.encode("gb2312")).text == "谷歌收购的人工智能公司"


def test_what_an_extraction_loses_of_a_document_is_kept() -> None:
    entry = f"<dt>sort_{{}}</dt><dd><div><p>{SAID}</p><pre>sort_{{}}(\n  all)</pre></div></dd>"
    entries = "".join(entry.format(n, n) for n in range(12))
    page = f"<main><h1>API</h1><p>{SAID * 3}</p><dl>{entries}</dl></main>"
    text = read("html", page.encode()).text
    assert text.count("```\nsort_") == 12 and text.count("ratio and memory") == 15


def test_menus_within_what_a_page_marks_as_main_are_left_out() -> None:
    cards = "".join(
        f"<div><h3><a href=/{n}>A story of another day, number {n}</a></h3><p>By a reader.</div>"
        for n in range(60)
    )
    said = "".join(f"<p>Of {n} files. {SAID * 4}</p>" for n in range(6))
    article = f"<article><h1>Blocks</h1>{said}</article>"
    page = f"<title>News</title><main>{article}<section>{cards}</section></main>"
    text = read("html", page.encode()).text
    assert text.count("ratio and memory") == 24 and "another day" not in text


def test_an_element_of_thousands_of_attributes_is_read_without_them() -> None:
    many = " ".join(f"a{n}='{n}'" for n in range(20_000))
    picture = f"<img alt='A crate' src='data:image/png;base64,{'A' * 20_000}'>"
    page = f"<html><body><main {many}><p>Crate 7 holds lanterns.</p>{picture}</main></body></html>"
    main = parse_tree(page).find(".//main")
    assert not main.attrib
    assert main.find("img").get("alt") == "A crate"
    assert "Crate 7 holds lanterns." in read("html", page.encode()).text


def test_a_page_that_is_all_links_keeps_its_text() -> None:
    links = "".join(f"<li><a href=/{n}>Chapter {n}</a></li>" for n in range(30))
    found = read("html", f"<html><body><nav>menu</nav><main><ul>{links}</ul></main>".encode())
    assert [f"- Chapter {n}" for n in range(30)] == found.text.split("\n")


def test_a_page_of_one_link_keeps_its_text() -> None:
    page = "<title>Moved</title><aside><a href='https://x.example/'>It is here now</a></aside>"
    assert read("html", page.encode()).text == "It is here now"


def test_a_page_without_the_tag_body_is_read_whole() -> None:
    page = "<!doctype html><title>T</title><section>First.</section><details>Next.</details><p>Last"
    found = read("html", page.encode())
    assert found.text.split() == ["First.", "Next.", "Last"] and found.title == "T"


def test_a_page_with_a_picture_of_many_megabytes_in_it_is_read() -> None:
    picture = f'<img src="data:image/png;base64,{"A" * 12_000_000}">'
    assert read("html", f"<p>Above.</p>{picture}<p>Below.".encode()).text == "Above.\n\nBelow."
    deep = picture + "<div>" * 300 + "deep"
    with pytest.raises(UnreadableFile, match="nested more than 255 deep"):
        read("html", deep.encode())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"<html></html>", "empty"),
        (b"<html><body><script>x</script><img src=a.png></body></html>", "empty"),
        (b"<div>" * 5_000 + b"deep", "nested more than 255 deep"),
    ],
)
def test_pages_without_text(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        read("html", data)


def test_declarations_fetch_and_expand_nothing() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM '
    found = read(
        "html", f'{bomb}"file:///etc/hostname">]><p>It says &b; and &x; here.</p>'.encode()
    )
    assert "aaaa" not in found.text.replace("ENTITY a", "")
    assert "It says" in found.text


_PIECES = (
    "<h1>One|</h1>|<h3>|<p>|</p>|text|<pre>|</pre>|a\n```|<ul>|<li>|<ol>|</ol>|<table>|<tr>|<td>|"
    "</table>|<br>|&amp;|&lt;b|\x00|\u00ad|<!-- c|-->|<main>|</main>|<blockquote>"
)


@given(st.lists(st.sampled_from(_PIECES.split("|")), max_size=40))
def test_sections_cover_any_page(parts: list[str]) -> None:
    try:
        found = read("html", "".join(parts).encode())
    except UnreadableFile as error:
        assert str(error).startswith("empty")
        return
    place = 0
    for section in found.sections:
        assert place <= section.start < section.end
        assert not found.text[place : section.start].strip()
        assert all(section.start <= a < b <= section.end for a, b in section.blocks)
        place = section.end
    assert not found.text[place:].strip()


def test_a_short_page_has_no_spaces_within_words() -> None:
    page = b"<p>x<sup>2</sup> and H<sub>2</sub>O <ruby>k<rt>a</rt></ruby></p>"
    assert read("html", page).text == "x² and H2O ka"
