"""What a document is made with. One of another recipe is read and split again."""

READERS = "3"
"""Raise it when a reader gives another text, or other sections, for the same bytes."""

SPLITTERS = "3"
"""Raise it when the same text gives other chunks."""

RECIPE = f"readers-{READERS} splitters-{SPLITTERS}"
