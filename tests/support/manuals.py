"""A manual with contents, index and running titles, in every format and in several languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from tests.support.printed_pages import drawn, put
from tests.support.sample_documents import Heading, docx


@dataclass(frozen=True)
class Manual:
    """Chapters by title, each with its text, under a title that every page repeats."""

    title: str
    contents: str
    index: str
    chapters: dict[str, str]
    terms: tuple[str, ...]
    """Entries of the index: each a term with its pages, in order."""

    @property
    def navigation(self) -> list[str]:
        """Texts that must be found nowhere: the lists' names, and entries in all forms."""
        return [self.contents, self.index, *self.terms]


ENGLISH = Manual(
    "Handbook of the pump", "Contents", "Index",
    {
        "Before you begin": "The pump stands on level ground and is connected to a fused socket.",
        "Filling the tank": "Fill the tank with 12 litres of clean water before the first start.",
        "Daily operation": "Open the valve slowly until the needle shows a pressure of 3 bar.",
        "Care and cleaning": "Rinse the filter under running water after every forty hours of use.",
        "When something fails": "A red lamp says that the motor is too hot and has switched off.",
    },
    ("clean water, 2", "filter, 4, 5", "lamp, 5", "motor, 3, 5", "pressure, 3", "valve, 3, 4–5"),
)  # fmt: skip
GERMAN = Manual(
    "Handbuch der Pumpe", "Inhalt", "Stichwortverzeichnis",
    {
        "Bevor Sie beginnen": "Die Pumpe steht auf ebenem Boden an einer gesicherten Steckdose.",
        "Den Tank füllen": "Füllen Sie vor dem ersten Start 12 Liter klares Wasser in den Tank.",
        "Täglicher Betrieb": "Öffnen Sie das Ventil, bis der Zeiger einen Druck von 3 bar zeigt.",
        "Pflege und Reinigung": "Spülen Sie den Filter nach je vierzig Stunden unter Wasser aus.",
        "Wenn etwas versagt": "Eine rote Lampe sagt, dass der Motor zu heiß ist und ruht.",
    },
    ("Druck, 3", "Filter, 4, 5", "Lampe, 5", "Motor, 3, 5", "Ventil, 3, 4–5", "Wasser, 2"),
)  # fmt: skip
SPANISH = Manual(
    "Manual de la bomba", "Índice general", "Índice alfabético",
    {
        "Antes de empezar": "La bomba se apoya en un suelo llano junto a un enchufe con fusible.",
        "Llenar el depósito": "Llene el depósito con 12 litros de agua limpia antes de arrancar.",
        "Uso diario": "Abra la válvula hasta que la aguja marque una presión de 3 bar.",
        "Cuidado y limpieza": "Enjuague el filtro bajo el grifo cada cuarenta horas de uso.",
        "Cuando algo falla": "Una lámpara roja avisa de que el motor está demasiado caliente.",
    },
    ("agua limpia, 2", "filtro, 4, 5", "lámpara, 5", "motor, 3, 5", "presión, 3", "válvula, 3, 4"),
)  # fmt: skip
MANUALS = (ENGLISH, GERMAN, SPANISH)


def plain(manual: Manual) -> bytes:
    """A text file: numbered contents without pages, and pages with a running title and a foot."""
    entries = [f"{n}. {title}" for n, title in enumerate(manual.chapters, 1)]
    pages = ["\n".join([manual.contents, "", *entries])]
    pages += [f"{n}. {t}\n\n{said}" for n, (t, said) in enumerate(manual.chapters.items(), 1)]
    pages += ["\n".join([manual.index, "", *manual.terms])]
    feet = [f"{manual.title} {n} \n\n{page}\n\n- {n} -\n" for n, page in enumerate(pages, 1)]
    return "\f".join(feet).encode()


def led(manual: Manual) -> bytes:
    """A text file: dots lead to the pages of its contents."""
    entries = [
        f"{title} {'.' * (50 - len(title))} {n}" for n, title in enumerate(manual.chapters, 1)
    ]
    parts = [f"{title.upper()}\n\n{said}" for title, said in manual.chapters.items()]
    return "\n\n".join([manual.title, manual.contents, "\n".join(entries), *parts,
                        manual.index, "\n".join(manual.terms)]).encode()  # fmt: skip


def markdown(manual: Manual) -> bytes:
    """Contents of links to the headings."""
    entries = [f"- [{title}](#{n})" for n, title in enumerate(manual.chapters)]
    parts = [f"## {title}\n\n{said}" for title, said in manual.chapters.items()]
    index = [f"- {term}" for term in manual.terms]
    lists = [f"## {manual.contents}", "\n".join(entries)], [f"## {manual.index}", "\n".join(index)]
    return "\n\n".join([f"# {manual.title}", *lists[0], *parts, *lists[1]]).encode()


def page(manual: Manual) -> bytes:
    """HTML: contents of links in the body, as programs write them that know no ``nav``."""
    entries = [f'<li><a href="#c{n}">{title}</a></li>' for n, title in enumerate(manual.chapters)]
    parts = [
        f'<h2 id="c{n}">{title}</h2><p>{said}</p>'
        for n, (title, said) in enumerate(manual.chapters.items())
    ]
    index = [f"<li>{term}</li>" for term in manual.terms]
    body = (
        f"<h1>{manual.title}</h1><h2>{manual.contents}</h2><ul>{''.join(entries)}</ul>"
        f"{''.join(parts)}<h2>{manual.index}</h2><ul>{''.join(index)}</ul>"
    )
    head = f'<meta charset="utf-8"><title>{manual.title}</title>'
    return f"<html><head>{head}</head><body><main>{body}</main></body></html>".encode()


def word(manual: Manual) -> bytes:
    """DOCX: contents with a tab and a page behind each entry."""
    entries = [f"{n} {title}\t{n + 1}" for n, title in enumerate(manual.chapters, 1)]
    blocks: list[Heading | str] = [Heading(manual.title, 0), manual.contents, *entries]
    for title, said in manual.chapters.items():
        blocks += [Heading(title), said]
    return docx(*blocks, Heading(manual.index), *manual.terms)


def printed(manual: Manual) -> bytes:
    """PDF: a page a chapter under a running title, dots that lead to the pages."""

    def lists(name: str, lines: list[str]) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            put(canvas, 72, 40, manual.title, size=8)
            put(canvas, 72, 90, name, size=16, bold=True)
            put(canvas, 72, 140, *lines)

        return draw

    def chapter(number: int, title: str, said: str) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            put(canvas, 72, 40, manual.title, size=8)
            put(canvas, 72, 90, f"{number} {title}", size=16, bold=True)
            put(canvas, 72, 140, said)
            put(canvas, 300, 760, str(number + 1), size=8)

        return draw

    entries = [
        f"{n} {title} {'. ' * (40 - len(title))}{n + 1}"
        for n, title in enumerate(manual.chapters, 1)
    ]
    chapters = [chapter(n, *each) for n, each in enumerate(manual.chapters.items(), 1)]
    pages = [lists(manual.contents, entries), *chapters, lists(manual.index, [*manual.terms])]
    return drawn(*pages)


WAYS: dict[str, tuple[str, Callable[[Manual], bytes]]] = {
    "text": ("text", plain),
    "led": ("text", led),
    "markdown": ("markdown", markdown),
    "html": ("html", page),
    "docx": ("docx", word),
    "pdf": ("pdf", printed),
}
"""By name the kind of file and what makes a manual so."""
