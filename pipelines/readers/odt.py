"""ODT: paragraphs, lists and tables in the order of the body, a section under each heading."""

from __future__ import annotations

from dataclasses import replace

from pipelines.readers import Progress, ReadText
from pipelines.readers.document_body import DocumentBody
from pipelines.readers.odf import opened, raised_spans
from pipelines.readers.odf_body import Body, Styles
from pipelines.readers.superscripts import write_superscripts


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections by heading, as Word's are; notes, text boxes, charts and numbers of lists too.

    Headers and footers, comments and what tracked changes delete are left out.

    Raises:
        UnreadableFile: encrypted, damaged, or without text.
    """
    with opened(data, "OpenDocument text") as package:
        content, out = package.xml("content.xml"), DocumentBody()
        write_superscripts(raised_spans(content))
        Body(package, Styles(*package.styles(), content), out).walk(content.find("{*}body"))
        title, metadata = package.properties()
        return replace(out.finish(title), metadata=metadata)
