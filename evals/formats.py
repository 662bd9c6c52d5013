"""Real documents in, questions out: ``python -m evals.formats --data DIR``.

A quarterly report as it was published, pages of another as pictures (which OCR must read), and a
scientific article as plain text are ingested by the command into an empty database; each question
must be answered with the words that its document has and cite the place where they are. Prints
Markdown; the exit status is 1 when one is missed. Needs the extra ``ocr`` and Pillow.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]

from evals.datasets import load_covidqa
from helix.answering.question import Question
from helix.domain.citations import location
from helix.services import Services, open_services
from helix.settings import load_settings

REPORT, SCANNED = "2022 Q3 AAPL.pdf", "2023 Q2 NVDA.pdf"
SCANNED_PAGES = (8, 9, 10)  # counted from 0
ARTICLE = "Species"  # how the article's title starts
DOTS_AN_INCH = 150


@dataclass(frozen=True)
class FormatQuestion:
    """A question; the words of its answer; the file and the place that it must cite."""

    question: str
    answer: str
    file: str
    place: str = ""


QUESTIONS = (
    FormatQuestion(
        "When does Apple's fiscal year end?",
        "last Saturday of September", "report.pdf", "page 9",
    ),
    FormatQuestion(
        "What does the company say about supply shortages during the COVID-19 pandemic?",
        "outsourcing partners, component suppliers", "report.pdf", "page 18",
    ),
    FormatQuestion(
        "What acquisition termination cost did NVIDIA record after the Arm share purchase"
        " agreement?", "1.35 billion", "scan.pdf", "page 2",
    ),
    FormatQuestion(
        "What is the most common species of human coronavirus among adults with influenza-like"
        " illness?", "HCoV", "article.txt",
    ),
)  # fmt: skip


def write_corpus(data: Path, folder: Path) -> None:
    """Put the three documents into ``folder``."""
    published = data / "sec10q/docs"
    (folder / "report.pdf").write_bytes((published / REPORT).read_bytes())
    with pypdfium2.PdfDocument(published / SCANNED) as document:
        first, *others = [
            document[n].render(scale=DOTS_AN_INCH / 72).to_pil() for n in SCANNED_PAGES
        ]
        first.save(folder / "scan.pdf", save_all=True, append_images=others)
    articles = load_covidqa(data).documents
    text = next(article.text for article in articles if article.title.startswith(ARTICLE))
    (folder / "article.txt").write_text(text, "utf-8")


async def rows(services: Services) -> AsyncIterator[tuple[bool, str]]:
    """For each question whether its place was cited, and its row of the table."""
    for asked in QUESTIONS:
        stream = await services.engine.ask(Question(asked.question))
        async with aclosing(stream):
            answer = " ".join("".join([delta async for delta in stream]).split())
        hits = [stream.retrieval.hits[citation["n"] - 1] for citation in stream.citations]
        cited = [(hit.source_uri.rpartition("/")[2], location(hit)) for hit in hits]
        hit = asked.answer in answer and (asked.file, asked.place) in cited
        places = "; ".join(", ".join(filter(None, place)) for place in cited) or "nothing"
        wanted = ", ".join(filter(None, (asked.file, asked.place)))
        yield hit, f"| {asked.question} | {wanted} | {places} | {'yes' if hit else 'MISSED'} |"


async def print_table() -> bool:
    """Print the table; whether every question was hit."""
    print("| question | must cite | cites | right |\n|---|---|---|---|")
    good = True
    async with open_services(load_settings()) as services:
        async for hit, row in rows(services):
            print(row, flush=True)
            good &= hit
    return good


def main() -> int:
    """0 when all was cited as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory(prefix="helix-formats-") as place:
        folder = Path(place, "documents")
        folder.mkdir()
        write_corpus(data, folder)
        os.environ |= {
            "DATABASE_URL": f"embedded:{place}/database", "HELIX_LLM": "offline",
            "HELIX_EMBEDDER": "offline", "HELIX_LOG_LEVEL": "warning",
        }  # fmt: skip
        ingest = [sys.executable, "-m", "pipelines.ingest", str(folder)]
        if subprocess.run(ingest, check=False).returncode:
            return 1
        return 0 if asyncio.run(print_table()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
