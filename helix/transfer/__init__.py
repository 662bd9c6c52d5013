"""A tenant out of one Helix and into another: all that is its own, in a folder of plain files."""
