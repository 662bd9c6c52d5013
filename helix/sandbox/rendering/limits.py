"""Limits of drawing one page, of what comes back, and of what is kept of drawn pages."""

MOST_PIXELS = 8_000_000
"""Of an image: letter paper at four pixels a point has 7.8 million."""
SECONDS = 10
MEMORY_MB = 384
"""Beyond what the process has at its start; MOST_PIXELS and their rows want some 80 MB."""
MOST_IMAGE_BYTES = 4 * MOST_PIXELS + 65_536
"""Of a PNG: one that does not compress, with its rows' filters."""
KEPT_BYTES = 64 * 2**20
"""Images that a process keeps: some eight hundred pages of text."""
LEAST_SCALE, MOST_SCALE = 0.1, 4.0
"""Pixels a point; 1 is 72 to the inch."""
IMAGE_FRAME = b"I"
"""The kind of the frame that an image comes in."""
