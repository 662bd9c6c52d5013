"""``python -m evals.evidence.handbooks DIR``: handbooks, policies, minutes and the like, asked.

Questions in other words than the text's, written by a language model that saw the documents and
never an answer of Helix; one without a span has no answer in its document. The documents are files
of public repositories at a commit, none of them one of ``evals.natural``; each is the pinned file
or it is refused.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llama_index.core.schema import Document, MetadataMode

from helix.domain.followups import topic_of, with_topic
from helix.domain.records import HEADING_PATH
from helix.domain.relevance import SourcePlace
from pipelines.readers import read
from pipelines.splitters import SECTIONS, TITLE, SectionSplitter

LISTED = Path(__file__).with_name("handbooks.json")
FILE = "handbooks.json"
"""In the folder: passages of each document, and the questions with where their answers stand."""
_ORIGIN = "https://github.com/"


class HandbookError(Exception):
    """A document cannot be had; the message says why, in one line."""


def fetch(folder: Path, origin: str = _ORIGIN) -> int:
    """Write FILE into ``folder``; gives the number of questions.

    ``origin`` stands before the owner and name of each repository.

    Raises:
        HandbookError: a repository or a file cannot be had, or a file is not the pinned one.
    """
    listed = json.loads(LISTED.read_text("utf-8"))
    texts: dict[str, str] = {}
    by_repository: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for one in listed["documents"]:
        by_repository.setdefault((one["repository"], one["commit"]), []).append(one)
    for (repository, commit), files in by_repository.items():
        with tempfile.TemporaryDirectory() as place:
            _clone(f"{origin}{repository}", commit, Path(place))
            texts |= {one["name"]: _text(one, Path(place)) for one in files}
    passages = {name: list(_passages(name, text)) for name, text in texts.items()}
    questions = list(_questions(listed["questions"], texts, passages))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps([passages, questions], ensure_ascii=False), "utf-8")
    return len(questions)


def _clone(address: str, commit: str, place: Path) -> None:
    """A repository at one commit, each of whose files is fetched when it is asked for."""
    partial = "--filter=blob:none"
    commands = (
        ["init", "-q"],
        ["remote", "add", "origin", address],
        ["fetch", "-q", "--depth=1", partial, "origin", commit],
    )
    for command in commands:
        if (done := _git(command, place)).returncode:
            said = done.stderr.decode(errors="replace").strip()[-200:]
            raise HandbookError(f"{address} has no {commit[:12]} here: {said}")


def _git(command: Sequence[str], place: Path) -> subprocess.CompletedProcess[bytes]:
    """A command of git in the repository at ``place``; it asks nobody for a password."""
    own = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(["git", *command], cwd=place, capture_output=True, env=own)
    except FileNotFoundError as error:
        raise HandbookError("git is missing: install it") from error


def _text(one: Mapping[str, str], place: Path) -> str:
    """The text of a document of the repository at ``place``."""
    shown = _git(["show", f"{one['commit']}:{one['path']}"], place)
    if shown.returncode:
        raise HandbookError(f"{one['repository']} does not give {one['path']}: try again")
    if hashlib.sha256(shown.stdout).hexdigest() != one["sha256"]:
        raise HandbookError(f"{one['repository']} has another {one['path']} than the pinned one")
    return shown.stdout.decode("utf-8")


def _passages(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The chunks that Helix makes of a document, with their headings under its title or name."""
    found = read("markdown" if name.endswith(".md") else "text", text.encode())
    title = found.title or found.heading or name.rpartition(".")[0]
    document = Document(text=found.text, metadata={TITLE: title, SECTIONS: found.sections})
    for node in SectionSplitter()([document]):
        place = SourcePlace(title, tuple(node.metadata.get(HEADING_PATH) or ()))
        yield node.get_content(MetadataMode.NONE), place.text


def _questions(
    rows: Sequence[Any], texts: Mapping[str, str], passages: Mapping[str, Sequence[tuple[str, str]]]
) -> Iterator[dict[str, Any]]:
    """Each question with its document and, by place of a passage, where its answers stand.

    One that follows an earlier question is put behind its topic, as Helix reads it. One whose
    answers no passage has is left out.
    """
    for question, name, spans, *earlier in rows:
        gold = [
            (place, *match.span())
            for start, end in spans
            for place, (passage, _) in enumerate(passages[name])
            if (match := _pattern(texts[name][start:end]).search(passage))
        ]
        if gold or not spans:
            asked = with_topic(question, topic_of(earlier[0])) if earlier else question
            yield {"question": asked, "document": name, "gold": gold}


def _pattern(said: str) -> re.Pattern[str]:
    """A text as it stands in a passage, whose lines may be broken elsewhere."""
    return re.compile(r"\s+".join(map(re.escape, said.split())))


def main() -> int:
    """0 when the questions are there, 1 with a line that says why not."""
    parser = argparse.ArgumentParser(prog="evals.evidence.handbooks", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--origin", default=_ORIGIN, help="what stands before owner and name")
    options = parser.parse_args()
    try:
        print(f"{fetch(options.folder, options.origin)} questions in {options.folder / FILE}")
    except HandbookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
