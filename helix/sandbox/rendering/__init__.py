"""Pages of a PDF as images: drawn in a confined process (drawing.py), kept for a while (images.py).

docs/decisions/0029 says why here, and why so.
"""
