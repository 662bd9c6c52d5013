"""``python -m evals.evidence.manuals DIR``: questions that manuals ask and answer themselves.

A heading that ends with a question mark is a question, what stands under it its answer. The
manuals are those of ``manuals.json``, the version of each package of Debian's main section (each
has its licence in its ``copyright`` file): those that have a file of questions and answers, are
smaller than 12 MB and ask five questions or more, in English. None of them is a document of
``evals.natural``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path

from evals.natural.documents import DocumentError, from_debian
from helix.language.identification import ENGLISH, told_language

LISTED = Path(__file__).with_name("manuals.json")
FILE = "manuals.jsonl"
"""In the folder: one question a line, with its package, its file and the text of its answer."""
_LARGEST = 3_000_000  # bytes of a file that is read
_FEWEST_OF_QUESTION, _FEWEST_OF_ANSWER = 4, 8  # words
_MOST_OF_ANSWER = 4000  # characters
_MOST_OF_PACKAGE = 300  # questions
_AT_ONCE = 8  # packages that are fetched
_ENDINGS = {".html", ".htm", ".txt", ".rst", ".md", ".pod", ""}
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "dt")
_BLOCKS = {*_HEADINGS, "p", "div", "li", "tr", "pre", "dd", "table", "ul", "ol", "dl", "blockquote"}
_NUMBER = re.compile(
    r"\A(?:Q(?:uestion)?(?:[ .:#]*\d[\d.]*[a-z]?)?[.:)]*\s+"
    r"|[(\[]?[A-Z]?\d+(?:\.\d+)*[a-z]?[)\].:]*\s+)(?=\S)"
)
_ASKS = re.compile(r"\A(?!.*\?[\w-]).*\?[ ¶#]*\Z", re.DOTALL)  # not "command ?option?"
_ANSWER = re.compile(r"\AA(?:nswer)?(?:[ .:#]*\d[\d.]*)?[.:)]\s+")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:Q(?:uestion)?|A(?:nswer)?)\s?\d*[:.)] )")
_POD = re.compile(r"=head\d (.*)", re.DOTALL)
_POD_MARK = re.compile(r"[BCFILSX]<+\s*(.*?)\s*>+")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#])\1{3,}\s*")

Block = tuple[bool, str]
"""A flag that is true for a heading, and the text."""


class _Blocks(HTMLParser):
    """The blocks of a page, in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Block] = []
        self._parts: list[str] = []
        self._tag, self._hidden = "p", 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style", "nav")
        if tag in _BLOCKS:
            self._close(tag)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "nav") and self._hidden > 0
        if tag in _BLOCKS:
            self._close("p")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._parts.append(data)

    def _close(self, tag: str) -> None:
        text = "".join(self._parts)
        text = text.strip("\n") if self._tag == "pre" else " ".join(text.split())
        if text.strip():
            self.found.append((self._tag in _HEADINGS, text))
        self._parts, self._tag = [], tag


def _of_page(text: str) -> list[Block]:
    reader = _Blocks()
    reader.feed(text)
    reader.close()
    return reader.found


def _of_text(text: str) -> list[Block]:
    """The blocks of plain text, Markdown, reStructuredText or Perl's POD."""
    found: list[Block] = []
    for paragraph in _PARAGRAPH.split(text):
        lines = paragraph.strip("\n").split("\n")
        if match := _POD.match(paragraph.strip("\n")):
            found.append((True, " ".join(match[1].split())))
        elif len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]):
            found += [(True, lines[0].strip()), (False, "\n".join(lines[2:]))]
        elif lines[0].startswith("#"):
            found += [(True, lines[0].lstrip("# ")), (False, "\n".join(lines[1:]))]
        elif not lines[0].startswith("="):
            found.append((False, "\n".join(lines).strip()))
    return found


def answered(blocks: list[Block]) -> Iterator[tuple[str, str]]:
    """Each heading that asks, with the text up to the next heading."""
    question, answer = "", list[str]()
    for is_heading, text in [*blocks, (True, "")]:
        asks = _ASKS.search(text) is not None and bool(is_heading or _NUMBER.match(text))
        if not is_heading and not asks:
            answer.append(text)
            continue
        said = _ANSWER.sub("", "\n\n".join(answer).strip())[:_MOST_OF_ANSWER]
        if question and len(said.split()) >= _FEWEST_OF_ANSWER:
            yield question, said
        question = _NUMBER.sub("", " ".join(text.rstrip(" ¶#").split())) if asks else ""
        question = question if len(question.split()) >= _FEWEST_OF_QUESTION else ""
        answer = []


def _read(file: Path) -> str | None:
    """The text of a manual's file that may ask; None for another."""
    name = file.name.removesuffix(".gz")
    if not file.is_file() or Path(name).suffix not in _ENDINGS:
        return None
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return data.decode("utf-8", "replace") if b"?" in data and len(data) < _LARGEST else None


def questions_of(root: Path, package: str) -> Iterator[dict[str, str]]:
    """The questions in English of the files below ``root``, in the order of their names."""
    for file in sorted(root.rglob("*")):
        if text := _read(file):
            is_page = "<html" in text[:500].lower()
            for question, answer in answered(_of_page(text) if is_page else _of_text(text)):
                marked = [_POD_MARK.sub(r"\1", one) for one in (question, answer)]
                question, answer = marked if "=head" in text else (question, answer)
                if told_language(f"{question}\n{answer}") in (None, ENGLISH):
                    yield {
                        "package": package, "file": file.name,
                        "question": question, "answer": answer,
                    }  # fmt: skip


def _asked_in(pinned: tuple[str, str]) -> list[dict[str, str]]:
    """The first questions of a package by name and version."""
    with tempfile.TemporaryDirectory() as place:
        root = from_debian(*pinned, Path(place))
        return list(islice(questions_of(root, pinned[0]), _MOST_OF_PACKAGE))


def fetch(folder: Path) -> int:
    """Write FILE into ``folder``; gives the number of questions, each of which is there once.

    Raises:
        DocumentError: a package cannot be fetched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, str]] = {}
    with ProcessPoolExecutor(_AT_ONCE) as processes:
        for rows in processes.map(_asked_in, json.loads(LISTED.read_text()).items()):
            for row in rows:
                found.setdefault(row["question"].casefold(), row)
    lines = [json.dumps(row, ensure_ascii=False) for row in found.values()]
    (folder / FILE).write_text("\n".join(lines), "utf-8")
    return len(lines)


def main() -> int:
    """0 when the questions are there, 1 with a line that says why not."""
    parser = argparse.ArgumentParser(prog="evals.evidence.manuals", description=__doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    try:
        print(f"{fetch(options.folder)} questions in {options.folder / FILE}")
    except DocumentError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
