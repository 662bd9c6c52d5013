"""Notebooks of both forms: Markdown as it stands, code and what it printed in fences."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipelines.readers import UnreadableFile, read

PRINTED = {"output_type": "stream", "text": ["12 rows\n"]}
SHOWN = {"output_type": "display_data", "data": {"image/png": "iV", "text/plain": ["<Figure>"]}}
FAILED = {"output_type": "error", "ename": "KeyError", "evalue": "'mm'", "traceback": ["\x1b[31m"]}


def notebook(*cells: Any, **about: Any) -> bytes:
    """A notebook of nbformat 4; a text is a cell of Markdown."""
    made = [{"cell_type": "markdown", "source": c} if isinstance(c, str) else c for c in cells]
    return json.dumps({"cells": made, "metadata": about, "nbformat": 4}).encode()


def code(source: str | list[str], *outputs: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": outputs, "execution_count": 1}


def test_cells_and_outputs_in_their_order() -> None:
    data = notebook(
        "# Rainfall\n\nMeasured daily.",
        "## Loading",
        code(["import pandas\n", "rain = load()"], PRINTED),
        code(
            "rain.plot()",
            SHOWN,
            FAILED,
        ),
        {"cell_type": "raw", "source": "As it stands."},
        language_info={"name": "python"},
        authors=[{"name": "Mara Lind"}],
    )  # fmt: skip
    found = read("ipynb", data)
    assert found.text == (
        "# Rainfall\n\nMeasured daily.\n\n## Loading\n\n```python\nimport pandas\nrain = load()\n"
        "```\n\n```\n12 rows\n```\n\n```python\nrain.plot()\n```\n\n```\n<Figure>\n```\n\n"
        "```\nKeyError: 'mm'\n```\n\nAs it stands.\n"
    )
    assert (found.title, found.metadata) == ("Rainfall", {"author": ["Mara Lind"]})
    first, second = found.sections
    assert (first.heading_path, second.heading_path) == (("Rainfall",), ("Rainfall", "Loading"))
    assert [found.text[slice(*block)][:9] for block in second.blocks] == [
        "```python", "```\n12 ro", "```python", "```\n<Figu", "```\nKeyEr",
    ]  # fmt: skip


def test_a_notebook_of_the_older_form() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Setup"]},
        {
            "cell_type": "code", "language": "python", "input": ["one = 1", "1 + one"],
            "outputs": [{"output_type": "pyout", "text": ["2"], "html": ["<b>2</b>"]}],
        },
    ]  # fmt: skip
    data = json.dumps({"worksheets": [{"cells": cells}], "metadata": {"name": "x"}, "nbformat": 3})
    assert read("ipynb", data.encode()).text == (
        "## Setup\n\n```python\none = 1\n1 + one\n```\n\n```\n2\n```\n"
    )


def test_front_matter_in_a_raw_cell_and_fences_within_code() -> None:
    front = {"cell_type": "raw", "source": "---\ntitle: Tides\nyear: 2024\n---"}
    found = read("ipynb", notebook(front, code('"""\n```\n"""'), title="Tides of the bay"))
    assert (found.title, found.metadata) == ("Tides of the bay", {"year": 2024})
    assert "````\n" in found.text


def test_a_fence_that_nobody_closed_ends_with_its_cell() -> None:
    found = read("ipynb", notebook("# One\n\n~~~\n```\nx = 1", code("y = 2"), "# Two\n\nText."))
    assert [section.heading_path for section in found.sections] == [("One",), ("Two",)]
    assert "```\nx = 1\n~~~\n\n```\ny = 2\n```\n\n# Two" in found.text


@pytest.mark.parametrize(
    "data",
    [
        b"{", b"[" * 100_000, b"[]", b"{}", b"null", b'{"cells": 7}', b'{"cells": [1, null]}',
        b'{"cells": [{"cell_type": "code", "source": {}, "outputs": [{"data": 3}]}]}',
        b'{"worksheets": [[]]}', b"\xff\xfe\x00",
    ],
)  # fmt: skip
def test_what_is_no_notebook_has_a_reason(data: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"no JSON|empty|not UTF|NUL"):
        read("ipynb", data)
