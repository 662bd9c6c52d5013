"""Texts that study sets are made of: invented, with definitions, numbers, years and names."""

from __future__ import annotations

from helix.store import ChunkStore
from tests.support.query_service import store_text

BRIDGE = """\
The Halden Bridge was opened in 1934 after a construction time of 41 months by the city council.

A caisson is a watertight chamber that keeps the river out while a foundation is dug below it.

The main span of the Halden Bridge measures 312 metres between the two towers of the crossing.

The engineer Marta Lindqvist designed the towers with the architect Paul Ferrand for Halden.

Maintenance crews repaint the northern cables every 7 years with a grey paint that resists salt.

In 1958 the tramway over the bridge was closed because the deck had become too weak for trains.

The bridge carried 18,400 vehicles a day in 1971 according to the survey of the road office."""

FERRY = """\
The Halden ferry crossed the river from 1887 until 1933 with a crew of 9 people on each trip.

A capstan is an upright drum that sailors turn to haul a heavy rope or an anchor chain aboard.

The ferry burned 640 kilograms of coal a day, which the harbour master Nils Oberg recorded in 1902.

Its last captain, the widow Greta Solheim, sold the vessel to a museum in Bergen in May 1935.

The museum restored the wooden hull in 1990 at a cost of 2,300,000 kroner paid by the state."""


def store_study_texts(store: ChunkStore) -> dict[str, int]:
    """Ids by name of the two documents above, a chunk a paragraph."""
    return {
        "bridge": store_text(store, "halden/bridge.md", "Halden Bridge", BRIDGE, ("halden",)),
        "ferry": store_text(store, "halden/ferry.md", "Halden Ferry", FERRY, ("halden", "ships")),
    }
