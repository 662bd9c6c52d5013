"""The client that comes with Helix: an answer as it streams, then what bears it out."""

import os
import sys

from helix.client import Helix

question = " ".join(sys.argv[1:]) or "How long do I have to request a refund?"
with (
    Helix(os.environ["HELIX_SERVER"], key=os.environ.get("HELIX_API_KEY")) as helix,
    helix.ask(question) as stream,
):
    for piece in stream:
        print(piece, end="", flush=True)
    print()
    for citation in stream.answer().citations:
        print(f"[{citation.n}] {citation.title}, {citation.start} to {citation.end}")
        print(f"    {citation.quote}")
