"""A fact in each format, among others, is cited with the page, slide, sheet or heading it is on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.mails import mail
from tests.support.open_documents import odp, ods, odt
from tests.support.sample_documents import (
    Bullet,
    Heading,
    Scan,
    Slide,
    Table,
    csv,
    docx,
    epub,
    html,
    pdf,
    pptx,
    xlsx,
)

pytestmark = pytest.mark.processes

STAFF = [("Mara", "Quito"), ("Oluf", "Bergen"), ("Ines", "Porto"), ("Taro", "Nara")]


@dataclass(frozen=True)
class Case:
    """A question, the words of its answer, and where the citation must say that it is."""

    name: str
    question: str
    answer: str
    title: str
    page: int | None = None
    heading_path: list[str] = field(default_factory=list)
    label: str = ""


def stock(things: str, size: int, named: dict[int, tuple[object, ...]]) -> list[Any]:
    """``size`` rows of a stock list, in turn of ``things``, those of ``named`` as given."""
    names = things.split()
    made = {n: (names[n % len(names)], f"{n * 3} pieces", f"Shelf {n}") for n in range(1, size + 1)}
    return [("Item", "Amount", "Place"), *(made | named).values()]


FILES: dict[str, bytes] = {
    "handover-notes.txt": (
        b"The night shift ends at six. Lock the gate behind the last truck.\n\n"
        b"The spare key of the boiler room hangs behind the painting of the lighthouse.\n\n"
        b"Coffee is refilled by whoever takes the last cup.\n"
    ),
    "mosses.md": (
        b"# Field guide\n\nWhat grows on the hill.\n\n## Ferns\n\n### Habitat\n\nFerns like"
        b" ravines.\n\n## Mosses\n\n### Colour\n\nMosses are green, some are silver.\n\n"
        b"### Habitat\n\nThe velvet moss grows only on the north side of old birch trunks.\n"
    ),
    "beekeeping.html": html(
        Heading("Beekeeping"),
        "Bees are kept for honey, and for the orchard beside the hives.",
        Heading("Spring", 2),
        "In spring the hives are cleaned and every frame is looked at once.",
        Heading("Winter", 2),
        "In winter the hives are wrapped in felt, and the bees are fed with sugar dough.",
        Heading("Harvest", 2),
        "The honey is taken when the lime trees have finished blooming.",
        title="Beekeeping",
    ),
    "annual-report.pdf": pdf(
        "This report is about the harbour and its year.",
        "The harbour handled four hundred ships, most of them carrying grain.",
        "The crane operators' pension fund was moved to a trust in Rotterdam.",
        "The quay wall was repaired with granite blocks.",
        "Next year the harbour will be dredged.",
        title="Harbour report",
    ),
    "old-letter.pdf": pdf(
        "This is the catalogue entry of a letter found in the archive of the mill.",
        Scan("The miller buried the silver spoons under the old pear tree in the garden."),
        Scan("He sends his greetings to his cousin and asks for news of the horses."),
        title="Old letter",
    ),
    "travel-policy.docx": docx(
        Heading("Travel policy"),
        "For everybody who travels for work.",
        Heading("Trains", 2),
        "Book trains two weeks ahead.",
        Heading("Hotels", 2),
        "A hotel room may cost 140 euros a night at most.",
        Bullet("Breakfast is included."),
        Heading("Offices", 2),
        Table((("Colleague", "City"), *STAFF)),
    ),
    "kickoff.pptx": pptx(
        Slide("Kickoff", ("Welcome to the observatory project",)),
        Slide("Timeline", ("The dome is built in autumn", "The mirror arrives in March")),
        Slide("Risks", ("Fog may delay the mirror test",), notes="Ask about the insurance."),
        Slide("Budget", ("The telescope mirror costs nine million crowns",)),
        title="Observatory kickoff",
    ),
    "warehouse.xlsx": xlsx(
        {
            "Screws": stock("bolt nut washer rivet nail", 30, {}),
            "Tools": stock(
                "hammer pliers saw drill file chisel screwdriver",
                50,
                {25: ("torque wrench", "12 pieces", "Cabinet nineteen")},
            ),
        },
        title="Warehouse",
    ),
    "expeditions.csv": csv(
        [
            ("Expedition", "Leader", "Year"),
            *((f"Ship expedition {n} to the south", f"Captain {n}", 1800 + n) for n in range(44)),
            ("Polar balloon expedition", "Salomon Andersson", 1897),
            *((f"Desert expedition {n} to the east", f"Major {n}", 1900 + n) for n in range(14)),
        ]
    ),
    "orchard-rules.odt": odt(
        Heading("Orchard rules"),
        "For everybody who picks fruit in the orchard of the abbey.",
        Heading("Ladders", 2),
        "A ladder is carried by two people at all times.",
        Heading("Plums", 2),
        "The plums are picked into flat wicker trays lined with linen.",
        title="Orchard rules",
    ),
    "tram-line.odp": odp(
        Slide("Tram line", ("The new line crosses the river",)),
        Slide("Rails", ("The tram rails come from a foundry in Ostrava",)),
        title="Tram line seven",
    ),
    "choir.ods": ods(
        {
            "Singers": stock(
                "alto bass tenor soprano", 30, {28: ("countertenor", "1 voice", "Loft")}
            )
        },
        title="Choir",
    ),
    "fwd-glacier.eml": mail(
        "--A\n\nFor your tour in June.\n--A\nContent-Type: message/rfc822\n\n"
        "Subject: Glacier hut\n\nThe hut is closed until the avalanche barrier is repaired.\n--A--",
        From="Reto <reto@example.ch>",
        Subject="Fwd: Glacier hut",
        Content_Type="multipart/mixed; boundary=A",
    ),
    "pendulum.ipynb": json.dumps(
        {
            "cells": [
                {"cell_type": "markdown", "source": "# Pendulum\n\nMeasured in the stairwell."},
                {
                    "cell_type": "markdown",
                    "source": "## Wire\n\nThe pendulum hangs from a piano wire of nine metres.",
                },
                {"cell_type": "code", "source": "print(6.02)", "outputs": []},
            ],
            "nbformat": 4,
        }
    ).encode(),
    "lighthouse-keeper.epub": epub(
        {
            "The island": ["The keeper rowed to the island in a storm."],
            "The visitor": ["A violinist named Celestine visited the keeper every summer."],
            "The lamp": ["One night the lamp went out, and the keeper lit a fire on the roof."],
        },
        title="The lighthouse keeper",
    ),
}

CASES = [
    Case(
        "handover-notes.txt", "Where does the spare key of the boiler room hang?",
        "behind the painting of the lighthouse", "Handover Notes",
    ),
    Case(
        "mosses.md", "Where does the velvet moss grow?", "north side of old birch trunks",
        "Field guide", heading_path=["Field guide", "Mosses", "Habitat"],
    ),
    Case(
        "beekeeping.html", "What are the bees fed with in winter?", "sugar dough", "Beekeeping",
        heading_path=["Beekeeping", "Winter"],
    ),
    Case(
        "annual-report.pdf", "Where was the pension fund of the crane operators moved to?",
        "a trust in Rotterdam", "Harbour report", page=3, label="page 3",
    ),
    Case(
        "old-letter.pdf", "Where did the miller bury the silver spoons?", "pear tree",
        "Old letter", page=2, label="page 2",
    ),
    Case(
        "travel-policy.docx", "What may a hotel room cost a night?", "140 euros",
        "Travel policy", heading_path=["Travel policy", "Hotels"],
    ),
    Case(
        "travel-policy.docx", "In which city is our colleague Oluf?", "Bergen",
        "Travel policy", heading_path=["Travel policy", "Offices"],
    ),
    Case(
        "kickoff.pptx", "What does the telescope mirror cost?", "nine million crowns",
        "Observatory kickoff", page=4, heading_path=["Budget"], label="slide 4",
    ),
    Case(
        "warehouse.xlsx", "In which cabinet of the warehouse is the torque wrench?",
        "Cabinet nineteen", "Warehouse",
        heading_path=["Tools"], label="sheet Tools, rows 22-41",
    ),
    Case(
        "expeditions.csv", "Who was the leader of the polar balloon expedition?",
        "Salomon Andersson", "Expeditions", label="rows 42-60",
    ),
    Case(
        "orchard-rules.odt", "What are the plums picked into?", "flat wicker trays",
        "Orchard rules", heading_path=["Orchard rules", "Plums"],
    ),
    Case(
        "tram-line.odp", "Where do the tram rails come from?", "a foundry in Ostrava",
        "Tram line seven", page=2, heading_path=["Rails"], label="slide 2",
    ),
    Case(
        "choir.ods", "In which place is the countertenor?", "Loft", "Choir",
        heading_path=["Singers"], label="sheet Singers, rows 22-31",
    ),
    Case(
        "fwd-glacier.eml", "Until when is the glacier hut closed?",
        "until the avalanche barrier is repaired", "Fwd: Glacier hut",
        heading_path=["Glacier hut"],
    ),
    Case(
        "pendulum.ipynb", "What does the pendulum hang from?", "a piano wire of nine metres",
        "Pendulum", heading_path=["Pendulum", "Wire"],
    ),
    Case(
        "lighthouse-keeper.epub", "Who visited the keeper every summer?", "Celestine",
        "The lighthouse keeper", heading_path=["The visitor"],
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def values(
    module_durable_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The environment of a database that the command has brought the files into."""
    folder = tmp_path_factory.mktemp("corpus")
    for name, data in FILES.items():
        Path(folder, name).write_bytes(data)
    values = {
        "DATABASE_URL": module_durable_database_url, "HELIX_LLM": "offline",
        "HELIX_EMBEDDER": "offline",
    }  # fmt: skip
    done = helix("ingest", str(folder), **values)
    assert done.returncode == 0, done.stderr
    added = f"{len(FILES)} files: {len(FILES)} added, 0 replaced, 0 unchanged, 0 failed; "
    assert added in done.stdout
    yield values


@pytest.fixture(scope="module")
def client(values: dict[str, str]) -> Iterator[httpx.Client]:
    with live(values["DATABASE_URL"]) as client:
        yield client


def citations_of(client: httpx.Client, question: str) -> tuple[str, list[dict[str, Any]]]:
    """The answer that GET /ask streams, and its citations."""
    response = client.get("/ask", params={"q": question})
    assert response.status_code == 200, response.text
    *tokens, last = response.text.strip().split("\n\n")
    name, data = last.split("\n")
    assert name == "event: citations"
    answer = "".join(json.loads(frame.removeprefix("data: "))["t"] for frame in tokens)
    return answer, json.loads(data.removeprefix("data: "))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}: {case.answer}")
def test_the_citation_says_where_the_answer_is(client: httpx.Client, case: Case) -> None:
    answer, citations = citations_of(client, case.question)
    assert case.answer in " ".join(answer.split())
    assert citations, answer
    chunk = client.get(f"/v1/chunks/{citations[0]['chunk_id']}").json()
    assert case.answer in " ".join(chunk["content"].split())
    assert chunk["source_uri"].endswith(f"/{case.name}")
    found = (chunk["title"], chunk["page"], chunk["heading_path"], chunk["label"])
    assert found == (case.title, case.page, case.heading_path, case.label)
    assert citations[0]["document_title"] == case.title
    text = client.get(f"/v1/documents/{chunk['document_id']}").json()["text"]
    assert chunk["content"] == text[chunk["start"] : chunk["end"]]


def test_each_answer_is_in_one_chunk_of_one_document(client: httpx.Client) -> None:
    """Otherwise the questions above would ask for nothing in particular."""
    listed = client.get("/v1/documents", params={"limit": 200}).json()["documents"]
    documents = [client.get(f"/v1/documents/{document['id']}").json() for document in listed]
    assert {document["source_uri"].rpartition("/")[2] for document in documents} == set(FILES)
    assert all(document["status"] == "ready" for document in documents)
    assert all(len(document["chunks"]) > 1 for document in documents if document["outline"])
    for case in CASES:
        holding = [
            (document["source_uri"].rpartition("/")[2], chunk["ordinal"])
            for document in documents
            for chunk in document["chunks"]
            if case.answer in " ".join(document["text"][chunk["start"] : chunk["end"]].split())
        ]
        assert [name for name, _ in holding] == [case.name]


def test_the_terminal_shows_where(values: dict[str, str]) -> None:
    case = CASES[3]
    done = helix("ask", case.question, **values)
    assert done.returncode == 0, done.stderr
    assert case.answer in done.stdout
    assert "\n[1] Harbour report, page 3\n" in done.stdout


def test_what_no_document_says_is_refused_without_a_citation(client: httpx.Client) -> None:
    question = "Which treaty ended the war between the two kingdoms?"
    refusal = "I don't have that in the provided documents."
    assert citations_of(client, question) == (refusal, [])
