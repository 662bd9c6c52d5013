"""Subtitles: what is said, without numbers and times."""

from helix.domain.read_text import Progress, ReadText, UnreadableFile


def read(data: bytes, progress: Progress) -> ReadText:
    """The lines that are said, one paragraph a subtitle."""
    subtitles = data.decode().replace("\r\n", "\n").strip().split("\n\n")
    if not all("-->" in subtitle for subtitle in subtitles):
        raise UnreadableFile("a subtitle without its times")
    said = [" ".join(subtitle.splitlines()[2:]) for subtitle in subtitles]
    progress(len(said), len(said))
    return ReadText("\n\n".join(said))
