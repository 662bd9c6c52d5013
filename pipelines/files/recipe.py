"""The recipe that a document is made with, and a test that a stored one has the same."""

from __future__ import annotations

from dataclasses import dataclass

from helix.settings import Settings

READERS = "16"
"""Raise it when a reader gives another text, or other sections, for the same bytes."""

SPLITTERS = "8"
"""Raise it when the same text gives other chunks, or something else in front of them."""

RECIPE = f"readers-{READERS} splitters-{SPLITTERS}"
"""The recipe of documents whose chunks are of the usual sizes."""


@dataclass(frozen=True)
class ChunkSizes:
    """Tokens of a chunk of prose at most, those that it repeats, and what it is embedded with."""

    target: int = 500
    overlap: int = 50
    metadata: tuple[str, ...] = ()
    """Keys of documents' metadata whose values stand in front of what is embedded."""

    @classmethod
    def of(cls, settings: Settings) -> ChunkSizes:
        """CHUNK_TARGET_TOKENS, CHUNK_OVERLAP_TOKENS and HELIX_EMBEDDED_METADATA."""
        return cls(
            settings.chunk_target_tokens, settings.chunk_overlap_tokens, settings.embedded_metadata
        )

    @property
    def recipe(self) -> str:
        """The settings that documents are made with; one of another recipe is read again."""
        parts = [RECIPE]
        if (self.target, self.overlap) != (USUAL.target, USUAL.overlap):
            parts.append(f"chunks-{self.target}-{self.overlap}")
        if self.metadata:  # an edit of one of these keys finds them here (metadata_edits.py)
            parts.append(f"metadata-{','.join(self.metadata)}")
        return " ".join(parts)


Fingerprint = tuple[str, str, str]
"""content_hash, recipe and title of a stored document; '' for one that people gave."""


USUAL = ChunkSizes()


def is_unchanged(
    stored: Fingerprint | None, content_hash: str, title: str | None, recipe: str = RECIPE
) -> bool:
    """True where a source stored so need not be read again, to be made by ``recipe``.

    A title once given stays until another is given: without one, only the content decides. One that
    people gave (PATCH) stays whatever a run gives.
    """
    if stored is None:
        return False
    return stored[:2] == (content_hash, recipe) and (not stored[2] or title in (None, stored[2]))
